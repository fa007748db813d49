/** Checks whether an agent can be used here, and if not, what it needs. */
import { type Equipped, isProgramKind, loginOf, locateProgram } from "../backends/found/index.ts";
import { findOnPath, installCommand, PROGRAMS } from "../backends/locate.ts";
import { missingFor } from "../backends/model-keys.ts";
import type { Env } from "../config/home.ts";
import type { Config } from "../config/load.ts";
import type { AgentSpec } from "../domain/backend.ts";

export interface Readiness {
  readonly ready: boolean;
  /** How to make it ready. Never contains a key or a part of one. */
  readonly missing: string | undefined;
}

/** The environment to check in. */
export interface ReadinessContext {
  readonly env: Env;
  readonly cwd: string;
  /** Model APIs from the configuration. */
  readonly providers?: Config["providers"] | undefined;
}

/** Starts no program. */
export function checkReadiness(
  agent: Equipped & { readonly baseUrl?: string | undefined },
  { env: around, cwd, providers }: ReadinessContext,
): Readiness {
  const { backend } = agent;
  const env = { ...around, ...agent.env };
  if (backend !== "api") {
    if (locateProgram(agent, { env, cwd }) === undefined) return notReady(installAdvice(agent));
    const login = isProgramKind(backend) ? loginOf(backend, env) : undefined;
    return login?.state === "logged out" ? notReady(`logged out: ${login.how}`) : READY;
  }
  if (agent.model === undefined) return notReady('no model is configured: add model = "anthropic/…"');
  const lacks = missingFor(agent.model, { env, providers, baseUrl: agent.baseUrl });
  return lacks === undefined ? READY : notReady(lacks);
}

/** Returns the names of ready agents, the default agent first. */
export function readyAgents(config: Config, here: ReadinessContext): string[] {
  const first = config.agents.get(config.defaults.agent);
  const all = new Set([...(first === undefined ? [] : [first]), ...config.agents.values()]);
  return Array.from(all)
    .filter((agent) => checkReadiness(agent, { ...here, providers: config.providers }).ready)
    .map(({ name }) => name);
}

export function isProgramOnPath(program: string, env: Env): boolean {
  return findOnPath(program, env) !== undefined;
}

function installAdvice({ backend, command }: AgentSpec): string {
  if (isProgramKind(backend) && command === undefined) {
    return `${PROGRAMS[backend].program} was not found: ${installCommand(backend)}`;
  }
  return `${command?.[0] ?? "npx"} was not found: install it, or correct the command`;
}

const READY: Readiness = { ready: true, missing: undefined };

function notReady(what: string): Readiness {
  return { ready: false, missing: what };
}
