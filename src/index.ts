/** One durable runtime for every coding agent: the public API. */
export * from "./domain/index.ts";
export { Rookery, type OpenSessionOptions, type RookeryOptions } from "./rookery.ts";
export { MAX_INPUT_BYTES, Session, type Answer, type Changes, type Turn } from "./session/index.ts";
export { openMemoryStore, openSqliteStore } from "./store/index.ts";
