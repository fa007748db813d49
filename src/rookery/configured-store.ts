/** Opens the store that the configuration chooses. */
import { join } from "node:path";
import { readBlobsConfig } from "../config/blobs-config.ts";
import { readStoreConfig } from "../config/store-config.ts";
import type { Store } from "../domain/index.ts";
import { openSqliteStore } from "../store/sqlite/open.ts";
import type { RookeryOptions } from "./options.ts";

export interface ConfiguredStore {
  readonly store: Store;
  /** Whether other hosts can open it. */
  readonly isShared: boolean;
}

/**
 * The database of the configuration, or the file in the home, with large blobs where the configuration says. An explicit
 * `home` always means the file in it, with all blobs.
 */
export async function openConfiguredStore(
  { env = process.env, home: chosen }: Pick<RookeryOptions, "env" | "home">,
  home: string,
): Promise<ConfiguredStore> {
  if (chosen !== undefined) return { store: await openStoreFile(home), isShared: false };
  const blobs = await readBlobsConfig(env);
  // Loaded only if it is configured. Loaded before the store, so that a wrong URL leaves no store open.
  const connectBlobs = blobs && (await import("../store/blobs/s3/open.ts")).connectS3Blobs(blobs);
  const { store, isShared } = await openConfiguredLog(env, home);
  return { store: connectBlobs === undefined ? store : connectBlobs(store), isShared };
}

async function openConfiguredLog(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): Promise<ConfiguredStore> {
  const configured = await readStoreConfig(env);
  if (configured === undefined) return { store: await openStoreFile(home), isShared: false };
  const { openPostgresStore } = await import("../store/postgres/open.ts"); // loaded only when it is used
  return { store: await openPostgresStore(configured), isShared: true };
}

function openStoreFile(home: string): Promise<Store> {
  return openSqliteStore({ path: join(home, "rookery.db") });
}
