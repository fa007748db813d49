/** The Agent Client Protocol: an ordered connection and the roles on it (client, agent, proxy, conductor). */
export { Connection, type ConnectionOptions, type RequestOptions } from "./connection/connection.ts";
export {
  Verbatim,
  type ConnectionHandlers,
  type IncomingNotification,
  type IncomingRequest,
  type Noise,
} from "./connection/incoming.ts";
export * from "./errors.ts";
export type { RequestId, RpcErrorObject, RpcNotification, RpcRequest, RpcResponse } from "./wire/message.ts";
export {
  DEFAULT_MAX_MESSAGE_BYTES,
  streamTransport,
  transportPair,
  type StreamTransportOptions,
  type Transport,
  type TransportSink,
} from "../programs/transport.ts";
export * from "./agent/index.ts";
export * from "./client/index.ts";
export type * as schema from "./schema.ts";
export * from "./mcp/index.ts";
export * from "./proxy/index.ts";
export * from "./conductor/index.ts";
export { startAgent, type AgentCommand, type AgentProcess, type CloseDeadlines } from "../programs/index.ts";
export * from "./serve/index.ts";
export * from "./auth/index.ts";
export * from "./devtools/index.ts";
