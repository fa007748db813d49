/** Replaces `src/store/postgres/schema.ts` in the next version: one more migration, with which older programs work. */
import { POSTGRES_MIGRATIONS as PRESENT, type PostgresMigration } from "../../../src/store/postgres/schema.ts";

export type { PostgresMigration };

export const POSTGRES_MIGRATIONS: readonly PostgresMigration[] = [
  ...PRESENT,
  { sql: "create table @next_version (id bigint primary key);", additive: true },
];
