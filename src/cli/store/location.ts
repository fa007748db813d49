/** Reads an argument that names a store: a file, a home directory, or a URL. */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { readDatabaseAccess } from "../../config/store-config.ts";
import type { StoreLocation } from "../../store/copy/endpoint.ts";
import { usageError } from "../exit.ts";
import type { Io } from "../io.ts";

const URL_PATTERN = /^[a-z][a-z0-9+.-]*:/i;

/** Throws `usage` if a schema is given for a file. Rejects with `config_invalid` if the password file is missing. */
export async function toStoreLocation(
  io: Io,
  text: string,
  { schema, option }: { readonly schema: string | undefined; readonly option: string },
): Promise<StoreLocation> {
  if (URL_PATTERN.test(text)) {
    const access = await readDatabaseAccess(io.env);
    return { url: text, schema: schema ?? access.schema, password: access.password };
  }
  if (text === "") throw usageError("the store is empty; name a file, a home directory or a postgres:// URL");
  if (schema !== undefined) throw usageError(`${option} is for a postgres:// URL, and ${text} is a path`);
  const path = resolve(io.cwd(), text);
  const isHome = text.endsWith("/") || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return { path: isHome ? join(path, "rookery.db") : path };
}
