/** Replaces `src/store/sqlite/open.ts`: the store of a path is in the schema that belongs to the path. */
import type { Store } from "../../../src/domain/index.ts";
import {
  openSqliteStore as openFile,
  type Internals,
  type SqliteStoreOptions,
} from "../../../src/store/sqlite/open.ts";
import { openTestStore } from "./schemas.ts";

export { connect } from "../../../src/store/sqlite/open.ts";

/** Opens the file if the test passes settings that only SQLite has. */
export async function openSqliteStore(options: SqliteStoreOptions, internals?: Internals): Promise<Store> {
  return internals === undefined ? openTestStore(options.path) : openFile(options, internals);
}
