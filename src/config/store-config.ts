/** Where the log is: in PostgreSQL if the user's file or the environment names a database, otherwise in the home. */
import { dirname, resolve } from "node:path";
import { RookeryError } from "../domain/errors.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { readTextFile } from "./files.ts";
import { userConfigFile } from "./home.ts";
import { parseConfigFile } from "./repository-files.ts";
import type { ConfigTable } from "./schema.ts";

/** A database that holds the log. */
export interface StoreConfig {
  readonly url: string;
  readonly schema?: string | undefined;
  /** For a URL without one. */
  readonly password?: string | undefined;
}

/**
 * `ROOKERY_STORE_URL` wins over `[store]` of the user's file. A repository cannot choose the store. Undefined for the
 * file in the home. Rejects with `config_invalid`.
 */
export async function readStoreConfig(env: EnvironmentVariables): Promise<StoreConfig | undefined> {
  const file = userConfigFile(env);
  const table = await readStoreTable(file);
  const url = fromEnvironment(env, "ROOKERY_STORE_URL") ?? table?.url;
  if (url === undefined) return undefined;
  const given = fromEnvironment(env, "ROOKERY_STORE_PASSWORD") ?? fromEnvironment(env, "PGPASSWORD");
  const named = table?.password_file;
  const password = given ?? (named === undefined ? undefined : await readPassword(resolve(dirname(file), named), file));
  return { url, schema: fromEnvironment(env, "ROOKERY_STORE_SCHEMA") ?? table?.schema, password };
}

/** Parses the file only if it may have the table, because parsing takes a part of the startup time. */
async function readStoreTable(file: string): Promise<ConfigTable["store"]> {
  const read = await readTextFile(file);
  return read?.text.includes("store") === true ? (await parseConfigFile(read.text, file)).store : undefined;
}

function fromEnvironment(env: EnvironmentVariables, name: string): string | undefined {
  return env[name] === "" ? undefined : env[name];
}

async function readPassword(path: string, file: string): Promise<string> {
  const read = await readTextFile(path);
  if (read !== undefined) return read.text.replace(/\r?\n$/, "");
  throw new RookeryError("config_invalid", `${file}: the file of store.password_file, ${path}, does not exist`);
}
