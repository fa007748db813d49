/** Builds an environment for child processes without the keys and settings of the real user. */

import path from "node:path";

export interface BuiltEnvironmentOptions {
  /** The home folder. It is not created. */
  readonly home: string;
  readonly extra?: Readonly<Record<string, string>>;
}

/** Keeps only PATH of the inherited variables. */
export function builtEnvironment({ home, extra = {} }: BuiltEnvironmentOptions): Record<string, string> {
  const inside = (...parts: string[]) => path.join(home, ...parts);
  return {
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: home,
    XDG_CONFIG_HOME: inside(".config"),
    XDG_CACHE_HOME: inside(".cache"),
    XDG_DATA_HOME: inside(".local", "share"),
    XDG_STATE_HOME: inside(".local", "state"),
    XDG_RUNTIME_DIR: inside(".run"),
    ROOKERY_HOME: inside(".rookery"),
    LANG: "C.UTF-8",
    TERM: "dumb",
    // Ignore the git configuration of the machine too.
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    ...extra,
  };
}
