/** Where Rookery keeps what it remembers, and where the user's own configuration is. */
import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { RookeryError } from "../domain/errors.ts";

/** The environment is always handed in, so that an embedder and a test decide what it says. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The log, trust and everything else that outlives a process. Throws `cwd_missing` or `config_invalid`. */
export function homeFolder(env: Env): string {
  const chosen = env["ROOKERY_HOME"];
  if (chosen !== undefined && chosen !== "") return resolveHome(chosen);
  return join(xdgFolder(env, "XDG_STATE_HOME", ".local", "state"), "rookery");
}

export function userConfigFile(env: Env): string {
  return join(xdgFolder(env, "XDG_CONFIG_HOME", ".config"), "rookery", "rookery.toml");
}

/** The XDG specification says that a relative path in one of its variables is to be ignored. */
function xdgFolder(env: Env, variable: string, ...fallback: string[]): string {
  const folder = env[variable];
  return folder !== undefined && isAbsolute(folder) ? folder : join(userFolder(env), ...fallback);
}

function resolveHome(chosen: string): string {
  try {
    return resolve(chosen);
  } catch (cause) {
    const message = `ROOKERY_HOME is "${chosen}", relative to a working folder that was removed; give it an absolute path`;
    throw new RookeryError("cwd_missing", message, { cause });
  }
}

function userFolder(env: Env): string {
  const home = env["HOME"];
  if (home !== undefined && isAbsolute(home)) return home;
  try {
    return userInfo().homedir;
  } catch (cause) {
    const message =
      "HOME is not set, and this account has no home folder; set HOME or ROOKERY_HOME to an absolute path";
    throw new RookeryError("config_invalid", message, { cause });
  }
}
