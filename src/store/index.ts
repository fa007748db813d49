/** Stores: where sessions are kept. */
export { storeContract, type StoreContractCase } from "./contract.ts";
export { openMemoryStore } from "./memory.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite/open.ts";
