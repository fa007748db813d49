/** Offers MCP servers to an agent, using the transports that the agent supports. */
export { bridgeCommand } from "./bridge-target.ts";
export type { ConnectableServer, InProcessServer, McpDeclaration, McpSupport } from "./declaration.ts";
export { parseMcpFile, readMcpFile } from "./mcp-file.ts";
export { injectServers, SESSION_SETUP_METHODS } from "./inject.ts";
export { offerServers, type Offer, type OfferOptions } from "./offer.ts";
export { declarationOfSpec, specOfDeclaration } from "./spec.ts";
export { isMcpMethod, type McpDialect } from "./over-acp/envelope.ts";
export type { McpPeer } from "./over-acp/mcp-peer.ts";
export { McpOverAcp, type McpOverAcpOptions, type ServedServer } from "./over-acp/provider.ts";
export { runBridge, type BridgeStreams } from "./run-bridge.ts";
