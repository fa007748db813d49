/** Stores for sessions, tasks and blobs. `contract.ts` is not exported here, to keep test code out of programs. */
export { openMemoryStore } from "./memory.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite/open.ts";
export { openPostgresStore, type PostgresStoreOptions } from "./postgres/open.ts";
export { copyStore, type CopyProgress, type CopyReport, type CopyStoreOptions } from "./copy/copy.ts";
export type { StoreLocation } from "./copy/endpoint.ts";
export { findStoreDamage, type Damage } from "./sqlite/damage.ts";
export { repairSqliteStore, type StoreRepair } from "./sqlite/repair.ts";
