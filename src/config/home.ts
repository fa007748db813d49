/** Locates Rookery's home directory and the user's configuration file. */
import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { RookeryError } from "../domain/errors.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";

/** The directory with the database, the token and trust. Throws `cwd_missing` or `config_invalid`. */
export function homeFolder(env: EnvironmentVariables): string {
  const chosen = env["ROOKERY_HOME"];
  if (chosen !== undefined && chosen !== "") return resolveChosen("ROOKERY_HOME", chosen);
  return join(xdgFolder(env, "XDG_STATE_HOME", ".local", "state"), "rookery");
}

/** The user's `rookery.toml`. Throws like `homeFolder`. */
export function userConfigFile(env: EnvironmentVariables): string {
  const chosen = env["ROOKERY_CONFIG"];
  if (chosen !== undefined && chosen !== "") return resolveChosen("ROOKERY_CONFIG", chosen);
  return join(xdgFolder(env, "XDG_CONFIG_HOME", ".config"), "rookery", "rookery.toml");
}

/** The XDG specification requires that relative paths in its variables be ignored. */
function xdgFolder(env: EnvironmentVariables, variable: string, ...fallback: string[]): string {
  const folder = env[variable];
  return folder !== undefined && isAbsolute(folder) ? folder : join(userFolder(env), ...fallback);
}

/** The environment for a process whose home is this folder, with the user's file and trust in it. */
export function environmentOfHome(env: EnvironmentVariables, home: string): EnvironmentVariables {
  const folder = resolve(home);
  return { ...env, ROOKERY_HOME: folder, ROOKERY_CONFIG: join(folder, "rookery.toml") };
}

function resolveChosen(variable: string, chosen: string): string {
  try {
    return resolve(chosen);
  } catch (cause) {
    const message = `${variable} is "${chosen}", which is relative to a working directory that was removed; set it to an absolute path`;
    throw new RookeryError("cwd_missing", message, { cause });
  }
}

function userFolder(env: EnvironmentVariables): string {
  const home = env["HOME"];
  if (home !== undefined && isAbsolute(home)) return home;
  try {
    return userInfo().homedir;
  } catch (cause) {
    const message =
      "HOME is not set, and this account has no home directory; set HOME or ROOKERY_HOME to an absolute path";
    throw new RookeryError("config_invalid", message, { cause });
  }
}
