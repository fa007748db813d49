/** The only ACP version that Rookery speaks. An agent answers every other version with it. */
export const ACP_PROTOCOL_VERSION = 1;
