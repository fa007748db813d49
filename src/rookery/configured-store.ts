/** Opens the store that the configuration chooses. */
import { join } from "node:path";
import { readStoreConfig } from "../config/store-config.ts";
import type { Store } from "../domain/index.ts";
import { openSqliteStore } from "../store/sqlite/open.ts";
import type { RookeryOptions } from "./options.ts";

/** The database of the configuration, or the file in the home. An explicit `home` always means the file in it. */
export async function openConfiguredStore(
  { env = process.env, home: chosen }: Pick<RookeryOptions, "env" | "home">,
  home: string,
): Promise<Store> {
  const configured = chosen === undefined ? await readStoreConfig(env) : undefined;
  if (configured === undefined) return openSqliteStore({ path: join(home, "rookery.db") });
  const { openPostgresStore } = await import("../store/postgres/open.ts"); // only those who use it load it
  return openPostgresStore(configured);
}
