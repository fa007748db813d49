/** An environment for child processes that is built from nothing, so that no key or setting of the real user leaks in. */

import path from "node:path";

export interface BuiltEnvironmentOptions {
  /** A folder that stands for the user's home; it is not created. */
  readonly home: string;
  readonly extra?: Readonly<Record<string, string>>;
}

/** Of the inherited variables only PATH is kept. */
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
    // The machine's own git configuration is as foreign as the user's.
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    ...extra,
  };
}
