/** The scripted model server. */

export type { Ending } from "./delivery.ts";
export type { Fault, StatusFault, StreamFault, StreamFaultKind } from "./faults.ts";
export type { ModelMessage, ModelRequest, ToolCall, ToolResult } from "./request.ts";
export { call, calls, fault, say } from "./script.ts";
export type { Reply, Script, ScriptedCall, StopReason, Usage } from "./script.ts";
export { startModelServer } from "./server.ts";
export type { ModelServer, ModelServerOptions } from "./server.ts";
export type { WireName } from "./wires/wire.ts";
