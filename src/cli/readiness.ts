/** Whether an agent can be driven here, and if not, what is missing. */
import { type Equipped, isProgramKind, loginOf, locateProgram } from "../backends/found/index.ts";
import { findOnPath, installCommand, PROGRAMS } from "../backends/locate.ts";
import type { Env } from "../config/home.ts";
import type { Config } from "../config/load.ts";
import type { AgentSpec } from "../domain/backend.ts";

export interface Readiness {
  readonly ready: boolean;
  /** What to do where it is not ready. Never holds a key or a part of one. */
  readonly missing: string | undefined;
}

/** Each provider of this version, with the variables that may hold its key. */
export const PROVIDER_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ["anthropic", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]],
]);

/** Where one is. */
export interface Here {
  readonly env: Env;
  readonly cwd: string;
}

/** Nothing is started to find out. */
export function readinessOf(agent: Equipped, { env: around, cwd }: Here): Readiness {
  const { backend } = agent;
  const env = { ...around, ...agent.env };
  if (backend !== "api") {
    if (locateProgram(agent, { env, cwd }) === undefined) return missing(whereTo(agent));
    const login = isProgramKind(backend) ? loginOf(backend, env) : undefined;
    return login?.state === "logged out" ? missing(`logged out: ${login.how}`) : READY;
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

/** By name, with the one that is used if none is named first. */
export function readyAgents(config: Config, here: Here): string[] {
  const first = config.agents.get(config.defaults.agent);
  const all = new Set([...(first === undefined ? [] : [first]), ...config.agents.values()]);
  return Array.from(all)
    .filter((agent) => readinessOf(agent, here).ready)
    .map(({ name }) => name);
}

export function isOnPath(program: string, env: Env): boolean {
  return findOnPath(program, env) !== undefined;
}

function whereTo({ backend, command }: AgentSpec): string {
  if (isProgramKind(backend) && command === undefined) {
    return `${PROGRAMS[backend].program} was not found: ${installCommand(backend)}`;
  }
  return `${command?.[0] ?? "npx"} was not found: install it, or correct its command`;
}

const READY: Readiness = { ready: true, missing: undefined };

function missing(what: string): Readiness {
  return { ready: false, missing: what };
}
