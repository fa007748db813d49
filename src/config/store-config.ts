/**
 * Decides where the log is: in PostgreSQL if the user's file or the environment names a database, otherwise in the
 * home.
 */
import { dirname, resolve } from "node:path";
import { RookeryError } from "../domain/errors.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { readTextFile } from "./files.ts";
import { userConfigFile } from "./home.ts";
import type { ConfigTable } from "./schema.ts";
import { readUserTable, readVariable } from "./user-table.ts";

/** A database that holds the log. */
export interface StoreConfig {
  readonly url: string;
  readonly schema?: string | undefined;
  /** The database without a pooler. */
  readonly listenUrl?: string | undefined;
  /** The password for a URL without one. */
  readonly password?: string | undefined;
}

/**
 * `ROOKERY_STORE_URL` overrides `[store]` of the user's file. A repository cannot choose the store. Undefined for the
 * file in the home. Rejects with `config_invalid`.
 */
export async function readStoreConfig(env: EnvironmentVariables): Promise<StoreConfig | undefined> {
  const table = await readUserTable(env, "store");
  const url = readVariable(env, "ROOKERY_STORE_URL") ?? table?.url;
  const listenUrl = readVariable(env, "ROOKERY_STORE_LISTEN_URL") ?? table?.listen_url;
  return url === undefined ? undefined : { url, listenUrl, ...(await readAccess(env, table)) };
}

/**
 * The environment without PGPASSWORD if it is the password of the store: with it, an agent could answer its own
 * permission requests. Otherwise builds and tests may need it. Rejects with `config_invalid`.
 */
export async function withoutStorePassword(env: EnvironmentVariables): Promise<EnvironmentVariables> {
  if (env["PGPASSWORD"] === undefined) return env;
  const { url, listenUrl = url, password } = (await readStoreConfig(env)) ?? {};
  const isUsed = [url, listenUrl].some((each) => each !== undefined && !URL_WITH_PASSWORD.test(each));
  if (!isUsed || password !== env["PGPASSWORD"]) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => name !== "PGPASSWORD"));
}

const URL_WITH_PASSWORD = /^\w+:\/\/[^/?#@:]*:[^/?#@]+@/;

type DatabaseAccess = Omit<StoreConfig, "url" | "listenUrl">;

/** The schema and the password for a database whose URL comes from elsewhere. Rejects with `config_invalid`. */
export async function readDatabaseAccess(env: EnvironmentVariables): Promise<DatabaseAccess> {
  return readAccess(env, await readUserTable(env, "store"));
}

async function readAccess(env: EnvironmentVariables, table: ConfigTable["store"]): Promise<DatabaseAccess> {
  const file = userConfigFile(env);
  const given = readVariable(env, "ROOKERY_STORE_PASSWORD") ?? readVariable(env, "PGPASSWORD");
  const named = table?.password_file;
  const password = given ?? (named === undefined ? undefined : await readPassword(resolve(dirname(file), named), file));
  return { schema: readVariable(env, "ROOKERY_STORE_SCHEMA") ?? table?.schema, password };
}

async function readPassword(path: string, file: string): Promise<string> {
  const read = await readTextFile(path);
  if (read !== undefined) return read.text.replace(/\r?\n$/, "");
  throw new RookeryError("config_invalid", `${file}: the file of store.password_file, ${path}, does not exist`);
}
