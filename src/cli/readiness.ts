/** Whether an agent can be driven here, and if not, what is missing. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Env } from "../config/home.ts";
import type { AgentSpec, BackendKind } from "../domain/backend.ts";

export interface Readiness {
  readonly ready: boolean;
  /** What to do where it is not ready. Never holds a key or a part of one. */
  readonly missing: string | undefined;
}

/** Each provider of this version, with the variables that may hold its key. */
export const PROVIDER_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ["anthropic", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]],
]);

/** The programs behind the backends that later versions drive. */
export const PROGRAMS: readonly { readonly backend: BackendKind; readonly program: string }[] = [
  { backend: "claude-code", program: "claude" },
  { backend: "codex", program: "codex" },
  { backend: "gemini-cli", program: "gemini" },
  { backend: "opencode", program: "opencode" },
];

export function readinessOf(agent: AgentSpec, env: Env): Readiness {
  if (agent.backend === "acp") {
    const program = agent.command?.[0] ?? "npx";
    return isOnPath(program, env) ? READY : missing(`${program} was not found: install it, or correct its command`);
  }
  if (agent.backend !== "api") {
    const program = PROGRAMS.find(({ backend }) => backend === agent.backend)?.program ?? "";
    const found = isOnPath(program, env) ? "was found" : "was not found";
    return missing(`this version does not drive ${agent.backend} yet (${program} ${found})`);
  }
  if (agent.model === undefined) return missing('it names no model: add model = "anthropic/…"');
  const provider = agent.model.split("/")[0] ?? "";
  const variables = PROVIDER_KEYS.get(provider);
  if (variables === undefined) {
    return missing(`this version does not know "${provider}", only ${[...PROVIDER_KEYS.keys()].join(", ")}`);
  }
  return hasKey(provider, env) ? READY : missing(`${variables[0] ?? ""} is not set: export ${variables[0] ?? ""}=…`);
}

export function hasKey(provider: string, env: Env): boolean {
  return (PROVIDER_KEYS.get(provider) ?? []).some((variable) => (env[variable] ?? "") !== "");
}

export function isOnPath(program: string, env: Env): boolean {
  if (program.includes("/")) return isExecutable(program);
  return (env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && isExecutable(join(folder, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // not there, or not ours to run
  }
}

const READY: Readiness = { ready: true, missing: undefined };

function missing(what: string): Readiness {
  return { ready: false, missing: what };
}
