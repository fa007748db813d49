/** Stores: where sessions are kept. Their contract is apart, in `contract.ts`, so that no program carries its tests. */
export { openMemoryStore } from "./memory.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite/open.ts";
export { findStoreDamage, type Damage } from "./sqlite/damage.ts";
export { repairSqliteStore, type StoreRepair } from "./sqlite/repair.ts";
