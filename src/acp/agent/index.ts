/** The agent role of ACP: serves one client with handlers, and lets them call the client. */
export {
  type AgentContext,
  type AgentHandler,
  type AgentHandlers,
  type Introduction,
  type SetModelRequest,
} from "./handlers.ts";
export { ClientPeer, type ClientFeature } from "./client-peer.ts";
export { AgentServer, serveAgent, type AgentOptions } from "./server.ts";
