/** Turns server declarations into the servers of a session. Does not load the MCP SDK. */
export { parseServerFile, readServerFile } from "./file.ts";
export { type DeclaredServers, isEnabled, type ServerChoice, selectServers, resolveServerSpec } from "./servers.ts";
export type { ExpansionContext } from "./expansion.ts";
