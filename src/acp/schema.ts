/** The types of the protocol, from the package that its authors publish; values are kept as they are on the wire. */
export type * from "@agentclientprotocol/sdk";
export type { ForkSessionRequest, ForkSessionResponse } from "@agentclientprotocol/sdk/unstable";
