/** From what files declare to the servers of a session. Loads no MCP SDK. */
export { parseMcpFile, readMcpFile } from "./file.ts";
export { type DeclaredServers, isEnabled, type ServerChoice, serversFor, specOf } from "./servers.ts";
export type { Place } from "./expansion.ts";
