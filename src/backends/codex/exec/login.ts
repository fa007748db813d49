/** Checks the login of `codex exec` in advance: it reports a missing one only after several refused requests. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RookeryError } from "../../../domain/index.ts";
import { CODEX_LOGIN_FIX } from "../outcome.ts";

interface LoginSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly command: readonly string[];
}

/** Throws `provider_auth` if there is no login and no sign of another provider or credential store. */
export function requireCodexLogin({ env, command }: LoginSources): void {
  const home = env["CODEX_HOME"] ?? join(env["HOME"] ?? "", ".codex");
  const isConfigured = command.some((word) => /^(-c|-p|--config|--profile|--oss)/.test(word));
  const hasKey = (env["CODEX_API_KEY"] ?? env["OPENAI_API_KEY"] ?? "") !== "";
  if (isConfigured || hasKey || existsSync(join(home, "auth.json"))) return;
  if (/provider|base_url|credentials_store|profile/.test(readSettings(home))) return;
  throw new RookeryError("provider_auth", `codex is not logged in: ${CODEX_LOGIN_FIX}`);
}

function readSettings(home: string): string {
  try {
    return readFileSync(join(home, "config.toml"), "utf8");
  } catch {
    return ""; // no configuration file
  }
}
