/** One durable runtime for every coding agent: the public API. */
export * from "./domain/index.ts";
export {
  Rookery,
  type AdoptableSession,
  type AdoptSessionOptions,
  type NativeSessionsQuery,
  type OpenSessionOptions,
  type PluginSession,
  type RookeryOptions,
  type RunWorkerOptions,
  type ServersFound,
  type ServersQuery,
  type Telemetry,
  type TelemetrySettings,
  type WorkerEnd,
} from "./rookery.ts";
export type { RunTasks } from "./pool/index.ts";
export { LoopbackHttp, serveStdio, type Endpoint, type StdioStreams } from "./mcp/endpoint/index.ts";
export {
  MAX_INPUT_BYTES,
  Session,
  type Answer,
  type Changes,
  type CloseOptions,
  type RevokeOptions,
  type SearchCursor,
  type SearchMatch,
  type SearchQuery,
  type SearchResult,
  type Turn,
} from "./session/index.ts";
export {
  copyStore,
  openMemoryStore,
  openPostgresStore,
  openSqliteStore,
  type CopyProgress,
  type CopyReport,
  type CopyStoreOptions,
  type StoreLocation,
} from "./store/index.ts";
export type {
  BeforeCall,
  HookedCall,
  HookedTurn,
  Plugin,
  ToolAnnotations,
  ToolFilter,
  ToolPattern,
} from "./tools/index.ts";
