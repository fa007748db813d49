/** Finds the variables from which Codex reads the keys of its own model providers. */
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { z } from "zod";
import type { EnvironmentVariables } from "../stdx/environment.ts";

const MAX_CONFIG_BYTES = 1024 * 1024;

const CodexConfig = z.object({
  model_providers: z.record(
    z.string(),
    z.object({
      env_key: z.string().optional().catch(undefined),
      env_http_headers: z.record(z.string(), z.string()).optional().catch(undefined),
    }),
  ),
});

/**
 * Returns the names of the variables that the user's `config.toml` of Codex 0.166.0 names for its providers. A repository's
 * `.codex/config.toml` is not read: it must not choose which credentials Codex gets. Returns an empty list if the file is
 * missing or invalid, because Codex itself reports that.
 */
export function codexKeyVariables(env: EnvironmentVariables): string[] {
  const path = join(env["CODEX_HOME"] || join(env["HOME"] || homedir(), ".codex"), "config.toml");
  try {
    if (statSync(path).size > MAX_CONFIG_BYTES) return [];
    const { model_providers: providers } = CodexConfig.parse(parse(readFileSync(path, "utf8")));
    return Object.values(providers).flatMap(({ env_key: key, env_http_headers: headers = {} }) => [
      ...(key === undefined ? [] : [key]),
      ...Object.values(headers),
    ]);
  } catch {
    return [];
  }
}
