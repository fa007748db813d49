/** Rookery as an MCP server: serves a session's tools, or functions of this process, to agents in other programs. */
export { type CallOptions, catalogServer, type CatalogServerOptions } from "./catalog-server.ts";
export type { OpenableServer } from "./http-sessions.ts";
export { type Endpoint, LoopbackHttp } from "./loopback.ts";
export { serveStdio, type StdioStreams } from "./stdio.ts";
export { servedTool, type ServedTool, toolServer, type ToolServerOptions } from "./tool-server.ts";
export { HttpSessions } from "./http-sessions.ts";
