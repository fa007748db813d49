/** Detects whether a program is logged in from the names of variables and files, without reading a credential. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import type { ProgramKind } from "../locate.ts";

export interface Login {
  readonly state: "logged in" | "logged out" | "unknown";
  /** The variable or file that indicates the login. */
  readonly by?: string | undefined;
  /** How to log in. */
  readonly how: string;
}

interface LoginSigns {
  readonly variables: readonly string[];
  readonly file: (env: EnvironmentVariables, home: string) => string;
  /** Whether it may be configured in a way that only the program can check. */
  readonly otherwise?: (env: EnvironmentVariables, home: string) => boolean;
  readonly how: string;
}

const SIGNS: Readonly<Record<ProgramKind, LoginSigns>> = {
  "claude-code": {
    variables: [
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
      "CLAUDE_CODE_OAUTH_TOKEN",
      "CLAUDE_CODE_USE_BEDROCK",
      "CLAUDE_CODE_USE_VERTEX",
    ],
    file: (env, home) => join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), ".credentials.json"),
    otherwise: (env, home) =>
      process.platform === "darwin" || // in the keychain
      settingsMention(join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "settings.json"), CLAUDE_CREDENTIALS),
    how: "start claude once and type /login, or export ANTHROPIC_API_KEY=…",
  },
  codex: {
    variables: ["CODEX_API_KEY"],
    file: (env, home) => join(codexHome(env, home), "auth.json"),
    otherwise: (env, home) => existsSync(join(codexHome(env, home), "config.toml")), // may configure another provider
    how: "codex login",
  },
  "gemini-cli": {
    variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"],
    file: (_, home) => join(home, ".gemini", "oauth_creds.json"),
    otherwise: (env, home) =>
      // reads keys from its own file, or uses the login of gcloud
      existsSync(join(home, ".gemini", ".env")) || (env["GOOGLE_GENAI_USE_VERTEXAI"] ?? "") !== "",
    how: "start gemini once and log in, or export GEMINI_API_KEY=…",
  },
  opencode: {
    variables: [],
    file: (env, home) => join(env["XDG_DATA_HOME"] || join(home, ".local", "share"), "opencode", "auth.json"),
    otherwise: (env, home) => OPENCODE_CONFIG.some((name) => existsSync(join(configHome(env, home), "opencode", name))),
    how: "opencode auth login",
  },
};

/** Settings of Claude Code that provide a credential. */
const CLAUDE_CREDENTIALS = /"(?:apiKeyHelper|ANTHROPIC_(?:API_KEY|AUTH_TOKEN)|CLAUDE_CODE_USE_\w+)"/;
const MAX_SETTINGS_BYTES = 1024 * 1024;

/** Looks only for the names of settings. */
function settingsMention(file: string, pattern: RegExp): boolean {
  try {
    return statSync(file).size <= MAX_SETTINGS_BYTES && pattern.test(readFileSync(file, "utf8"));
  } catch {
    return false; // missing or unreadable
  }
}

/** May configure a provider and its key. The folder alone proves nothing, because the program creates it. */
const OPENCODE_CONFIG = ["opencode.json", "opencode.jsonc"];

export function detectLogin(kind: ProgramKind, env: EnvironmentVariables): Login {
  const { variables, file, otherwise, how } = SIGNS[kind];
  const home = env["HOME"] || homedir();
  const isSet = (name: string): boolean => (env[name] ?? "") !== "";
  const names = kind === "opencode" ? Object.keys(env).filter(isKey).sort() : variables; // it accepts every provider's key
  const variable = names.find(isSet);
  if (variable !== undefined) return { state: "logged in", by: variable, how };
  const path = file(env, home);
  if (existsSync(path)) return { state: "logged in", by: path, how };
  return { state: otherwise?.(env, home) === true ? "unknown" : "logged out", how };
}

function isKey(name: string): boolean {
  return /_API_KEY$/i.test(name);
}

function configHome(env: EnvironmentVariables, home: string): string {
  return env["XDG_CONFIG_HOME"] || join(home, ".config");
}

function codexHome(env: EnvironmentVariables, home: string): string {
  return env["CODEX_HOME"] || join(home, ".codex");
}
