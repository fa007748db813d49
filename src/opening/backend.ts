/** Creates the backend of a configured agent, with the environment and the credentials that it may have. */
import {
  agentProgramFamily,
  keyVariables,
  requireRegistered,
  type AgentResources,
  type RegisteredBackends,
  type RegisteredProviders,
} from "../backends/index.ts";
import type { EnvironmentVariables } from "../stdx/index.ts";
import { codexKeyVariables, type AgentConfig, type Config } from "../config/index.ts";
import { childEnvironment, programEnvironment, type CredentialOwner } from "../domain/child-environment.ts";
import { isBackendKind } from "../domain/enums.ts";
import type { Backend } from "../domain/index.ts";
import type { ProgramFamily } from "../domain/program-family.ts";
import { readTaskVariables } from "../domain/task/values.ts";
import type { AgentOverrides } from "./services.ts";

export interface BackendInputs
  extends Pick<AgentOverrides, "baseUrl" | "apiKey">, Pick<Config, "prices" | "providers"> {
  readonly env: EnvironmentVariables;
  /** Names of the variables in the caller's `env` option. */
  readonly callerEnvNames: readonly string[];
  readonly resources: AgentResources;
  readonly folders: readonly string[];
  readonly cacheKey: string | undefined;
  readonly backends: RegisteredBackends;
  readonly registered: RegisteredProviders;
}

/**
 * Imports only the backend that the agent uses, because each takes time to load. Rejects with `backend_unknown` if it is
 * neither built in nor registered.
 */
export async function createBackend(
  agent: AgentConfig,
  { baseUrl = agent.baseUrl, ...inputs }: BackendInputs,
): Promise<Backend> {
  const { env, apiKey, prices, providers, resources, folders } = inputs;
  const { effort, context, retries, timeouts } = agent;
  const programEnv = (owner: CredentialOwner) => createProgramEnvironment(agent, inputs, owner);
  const { backend } = agent;
  if (!isBackendKind(backend)) {
    const registered = requireRegistered(agent, inputs.backends);
    const { registeredBackend } = await import("../backends/registered/registered-backend.ts");
    return registeredBackend(registered, { env: programEnv("none"), resources });
  }
  switch (backend) {
    case "api": {
      const { apiBackend } = await import("../backends/api.ts");
      return apiBackend({
        env,
        baseUrl,
        apiKey,
        providers,
        registered: inputs.registered,
        effort,
        context,
        retries,
        timeouts,
        resources,
        folders,
        cacheKey: inputs.cacheKey,
        code: agent.code,
        passEnv: agent.passEnv,
        priceOf: (name) => prices.get(name),
      });
    }
    case "acp": {
      const { acpBackend } = await import("../backends/acp/backend.ts");
      const { auth, serve, registry } = agent;
      const commandEnv = childEnvironment(env, { pass: agent.passEnv, keys: keyVariables(providers) });
      const owner = credentialOwner(agentProgramFamily(agent));
      return acpBackend({ env: programEnv(owner), auth, serve, registry, resources, commandEnv });
    }
    case "claude-code": {
      const { claudeBackend } = await import("../backends/claude/index.ts");
      return claudeBackend({ env: programEnv("claude"), resources, pty: agent.pty, raw: agent.raw });
    }
    case "codex": {
      const { codexBackend } = await import("../backends/codex/index.ts");
      return codexBackend({ env: programEnv("codex"), resources });
    }
    case "gemini-cli": {
      const { geminiBackend } = await import("../backends/gemini/index.ts");
      return geminiBackend({ env: programEnv("gemini"), resources });
    }
    case "opencode": {
      const { opencodeBackend } = await import("../backends/opencode/index.ts");
      return opencodeBackend({ env: programEnv("any"), resources });
    }
    case "command": {
      const { commandBackend } = await import("../backends/command/index.ts");
      const { pty, resumeCommand, sessionPath, textPath } = agent;
      const task = readTaskVariables(pickVariables(env, inputs.callerEnvNames));
      return commandBackend({ env: programEnv("none"), resources, pty, resumeCommand, sessionPath, textPath, task });
    }
  }
}

/** The task of a session is what its caller says. Inherited variables may be those of an outer task. */
function pickVariables(env: EnvironmentVariables, names: readonly string[]): EnvironmentVariables {
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

/** An unknown ACP agent may use any provider. */
function credentialOwner(family: ProgramFamily | undefined): CredentialOwner {
  return family === undefined || family === "opencode" ? "any" : family;
}

/** Variables that the user lists for the agent, here or in the program's own configuration, are passed on. */
function createProgramEnvironment(
  agent: AgentConfig,
  { env, callerEnvNames, providers }: BackendInputs,
  needs: CredentialOwner,
): EnvironmentVariables {
  const own = needs === "codex" ? codexKeyVariables(env) : [];
  const pass = [...agent.passEnv, ...Object.keys(agent.env), ...callerEnvNames, ...own];
  return programEnvironment(env, { needs, pass, keys: keyVariables(providers) });
}
