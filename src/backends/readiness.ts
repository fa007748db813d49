/** Checks whether an agent can be used here, and if not, what it needs. */
import type { AgentSpec } from "../domain/backend.ts";
import { missingBackendAdvice } from "../domain/backend-name.ts";
import { isBackendKind } from "../domain/enums.ts";
import type { EnvironmentVariables } from "../stdx/index.ts";
import { type AgentWithEnvironment, isProgramKind, detectLogin, locateProgram } from "./installed/index.ts";
import { findOnPath, installCommand, PROGRAMS } from "./locate.ts";
import { findMissingKey, findMissingSetup } from "./model-keys.ts";

export interface Readiness {
  readonly ready: boolean;
  /** How to make it ready. Never contains a key or a part of one. */
  readonly missing: string | undefined;
  /** What is missing. Undefined if the agent is ready, or if its configuration is wrong. */
  readonly lacks?: "program" | "login" | "key" | undefined;
}

export type CheckedAgent = AgentWithEnvironment & { readonly baseUrl?: string | undefined };

/** The part of a configuration that decides which agents are ready. */
export interface CheckedConfig {
  readonly agents: ReadonlyMap<string, CheckedAgent>;
  readonly defaults: { readonly agent: string };
  readonly providers: ReadinessContext["providers"];
}

/** The environment to check in. */
export interface ReadinessContext {
  readonly env: EnvironmentVariables;
  readonly cwd: string;
  /** Model APIs from the configuration. */
  readonly providers?: Parameters<typeof findMissingSetup>[1]["providers"];
  readonly registered?: Parameters<typeof findMissingSetup>[1]["registered"];
  /** Names of registered backends. Default: none. */
  readonly backends?: Pick<ReadonlySet<string>, "has"> | undefined;
}

/** Starts no program. */
export function checkReadiness(
  agent: CheckedAgent,
  { env: around, cwd, providers, registered, backends }: ReadinessContext,
): Readiness {
  const { backend } = agent;
  if (!isBackendKind(backend)) return backends?.has(backend) === true ? READY : notReady(missingBackendAdvice(backend));
  const env = { ...around, ...agent.env };
  if (backend !== "api") {
    if (locateProgram(agent, { env, cwd }) === undefined) return notReady(installAdvice(agent), "program");
    const login = isProgramKind(backend) ? detectLogin(backend, env) : undefined;
    return login?.state === "logged out" ? notReady(`logged out: ${login.how}`, "login") : READY;
  }
  if (agent.model === undefined) return notReady('no model is configured: add model = "anthropic/…"');
  const options = { env, providers, registered, baseUrl: agent.baseUrl };
  const missing = findMissingSetup(agent.model, options);
  if (missing === undefined) return READY;
  return notReady(missing, findMissingKey(agent.model, options) === undefined ? undefined : "key");
}

/** Returns the names of ready agents, the default agent first. */
export function readyAgents(config: CheckedConfig, here: ReadinessContext): string[] {
  const first = config.agents.get(config.defaults.agent);
  const all = new Set([...(first === undefined ? [] : [first]), ...config.agents.values()]);
  return Array.from(all)
    .filter((agent) => checkReadiness(agent, { ...here, providers: config.providers }).ready)
    .map(({ name }) => name);
}

/**
 * Makes the first ready agent the default one, unless the configuration chooses one. Keeps the default if no agent is
 * ready, because its error says what is missing.
 */
export function withReadyDefault<
  Of extends CheckedConfig & { readonly defaults: { readonly agent: string; readonly agentChosen: boolean } },
>(config: Of, here: ReadinessContext): Of {
  const { defaults, agents, providers } = config;
  const first = agents.get(defaults.agent);
  if (defaults.agentChosen || first === undefined) return config;
  const ready = [first, ...agents.values()].find((agent) => checkReadiness(agent, { ...here, providers }).ready);
  return ready === undefined ? config : { ...config, defaults: { ...defaults, agent: ready.name } };
}

export function isProgramOnPath(program: string, env: EnvironmentVariables): boolean {
  return findOnPath(program, env) !== undefined;
}

function installAdvice({ backend, command }: AgentSpec): string {
  if (isProgramKind(backend) && command === undefined) {
    return `${PROGRAMS[backend].program} was not found: ${installCommand(backend)}`;
  }
  return `${command?.[0] ?? "npx"} was not found: install it, or correct the command`;
}

const READY: Readiness = { ready: true, missing: undefined };

function notReady(missing: string, lacks?: Readiness["lacks"]): Readiness {
  return { ready: false, missing, lacks };
}
