/** Rookery as an MCP server: a session's tools for agents that are other people's programs. */
export { type CallOptions, catalogServer, type CatalogServerOptions } from "./catalog-server.ts";
export { type Endpoint, LoopbackHttp } from "./loopback.ts";
export { serveStdio, type StdioStreams } from "./stdio.ts";
