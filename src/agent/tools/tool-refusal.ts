/** Thrown by a tool for a request that it must not or cannot fulfill. The model gets the message as a failed outcome. */
export class ToolRefusal extends Error {}
