/** `rookery migrate`: updates the schema of the log, even if older programs cannot work with the result. */
import { join } from "node:path";
import { homeFolder } from "../config/home.ts";
import { readStoreConfig } from "../config/store-config.ts";
import type { CommandCall } from "./command.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { print, printJson } from "./io.ts";
import { isSet } from "./options.ts";
import { toSingleLine } from "./sanitize.ts";

export async function migrateCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const configured = await readStoreConfig(io.env);
  const { where, from, version } = await (configured === undefined ? migrateFile(io.env) : migrateDatabase(configured));
  if (isSet(options, "json")) {
    await printJson(io, { ok: true, store: where, from, version });
    return EXIT.done;
  }
  const change = from === version ? `already has schema version ${version}` : `now has schema version ${version}`;
  await print(io, `${toSingleLine(where)} ${change}\n`);
  return EXIT.done;
}

interface Migrated {
  readonly where: string;
  /** The version before. */
  readonly from: number;
  readonly version: number;
}

async function migrateDatabase(
  configured: NonNullable<Awaited<ReturnType<typeof readStoreConfig>>>,
): Promise<Migrated> {
  const { migratePostgresStore } = await import("../store/postgres/open.ts");
  return migratePostgresStore(configured);
}

/** Opening a file migrates it, so there is nothing else to do. */
async function migrateFile(env: Parameters<typeof homeFolder>[0]): Promise<Migrated> {
  const { openSqliteStore } = await import("../store/sqlite/open.ts");
  const { MIGRATIONS } = await import("../store/sqlite/schema.ts");
  const path = join(homeFolder(env), "rookery.db");
  await (await openSqliteStore({ path }))[Symbol.asyncDispose]();
  return { where: path, from: MIGRATIONS.length, version: MIGRATIONS.length };
}
