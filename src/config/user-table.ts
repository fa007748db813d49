/** Settings of the user that no repository can change: a table of the user's file, and variables that override it. */
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { readTextFile } from "./files.ts";
import { userConfigFile } from "./home.ts";
import { parseConfigFile } from "./repository-files.ts";
import type { ConfigTable } from "./schema.ts";

/**
 * Reads one table of the user's file. Parses the file only if it may have the table, because parsing slows the start of
 * every command. Rejects with `config_invalid`.
 */
export async function readUserTable<Name extends keyof ConfigTable>(
  env: EnvironmentVariables,
  name: Name,
): Promise<ConfigTable[Name]> {
  const file = userConfigFile(env);
  const read = await readTextFile(file);
  return read?.text.includes(name) === true ? (await parseConfigFile(read.text, file))[name] : undefined;
}

/** An empty variable counts as not set. */
export function readVariable(env: EnvironmentVariables, name: string): string | undefined {
  return env[name] === "" ? undefined : env[name];
}
