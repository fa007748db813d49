/** The scripted model server. */

export type { ModelExchangeEnding as Ending } from "./delivery.ts";
export type { Fault, StatusFault, StreamFault, StreamFaultKind } from "./faults.ts";
export type {
  ModelMessage,
  ModelRequest,
  ModelToolCall as ToolCall,
  ModelToolResult as ToolResult,
} from "./request.ts";
export {
  call,
  calls,
  fault,
  say,
  type ModelScript as Script,
  type ScriptedCall,
  type ScriptedReply as Reply,
  type ScriptedUsage as Usage,
  type StopReason,
} from "./script.ts";
export { startModelServer, type ModelServer, type ModelServerOptions } from "./server.ts";
export type { WireName } from "./wires/wire-name.ts";
