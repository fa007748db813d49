/** Opens a connection to an agent from resolved settings. */
import { keyVariables } from "../backends/index.ts";
import { openChildren, type OpenChildOptions } from "../children/index.ts";
import { childEnvironment } from "../domain/child-environment.ts";
import {
  messageOf,
  RookeryError,
  type AgentConnection,
  type Backend,
  type Children,
  type SessionState,
} from "../domain/index.ts";
import type { Plugin } from "../tools/index.ts";
import { createBackend } from "./backend.ts";
import type { ResolvedAgent } from "./resolve.ts";
import type { AgentOverrides, PluginSession, SharedServices } from "./services.ts";

export interface ConnectionRequest {
  readonly state: SessionState;
  readonly resolved: ResolvedAgent;
  readonly overrides: AgentOverrides;
  /** The agent that the API overrides are for. */
  readonly firstAgent: string;
}

/** Starts the agent. Rejects with `plugin_failed`, or with the error of the backend. */
export async function connectAgent(services: SharedServices, request: ConnectionRequest): Promise<AgentConnection> {
  const { state, resolved, overrides } = request;
  const { agent, settings } = resolved;
  const { cwd, model, permissions } = settings;
  const session = { sessionId: state.id, agent: agent.name, cwd };
  const plugins = services.plugins.map((create) => createPlugin(session, create));
  const isSameAgent = agent.name === state.agent && agent.backend === state.backend;
  const backend = await chooseBackend(services, request, plugins);
  return backend.open({
    sessionId: state.id,
    agent: { ...agent, model },
    cwd,
    nativeId: isSameAgent ? state.nativeId : undefined,
    forkOf: isSameAgent ? state.forkOf : undefined,
    mcpServers: overrides.mcpServers,
    saved: state,
    permissions,
    marker: services.claim(),
    children: childSessions(services, request),
  });
}

async function chooseBackend(
  services: SharedServices,
  { resolved, overrides, firstAgent }: ConnectionRequest,
  plugins: readonly Plugin[],
): Promise<Backend> {
  const { agent, config, env, tools } = resolved;
  const { prices, providers } = config;
  const serverEnv = childEnvironment(env, { keys: keyVariables(providers) });
  const folders = [...agent.folders, ...(overrides.folders ?? [])];
  const resources = { ...tools, plugins, env: serverEnv };
  if (overrides.toolsOnly === true) {
    const { toolsOnlyBackend } = await import("../backends/tools-only.ts");
    return toolsOnlyBackend({ env: serverEnv, resources, folders });
  }
  const { baseUrl, apiKey } = agent.name === firstAgent ? overrides : {};
  const { cacheKey = agent.cacheKey } = overrides;
  const callerEnvNames = Object.keys(overrides.env ?? {});
  return createBackend(agent, {
    env,
    callerEnvNames,
    resources,
    prices,
    providers,
    folders,
    cacheKey,
    backends: services.backends,
    registered: services.providers,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiKey !== undefined && { apiKey }),
  });
}

/** Child sessions inherit the overrides of their parent. */
function childSessions(
  services: SharedServices,
  { state, resolved, overrides, firstAgent }: ConnectionRequest,
): Children {
  const { agent, model, cwd } = resolved.settings;
  const { baseUrl, apiKey, env, mcpServers, folders, attended = true } = overrides;
  const open = ({ agent: name, ...options }: OpenChildOptions) => {
    const definition = options.child === undefined ? undefined : resolved.definitions.get(name);
    return services.children.open({
      ...(name === firstAgent && { ...(baseUrl && { baseUrl }), ...(apiKey && { apiKey }) }),
      ...(env !== undefined && { env }),
      ...(mcpServers !== undefined && { mcpServers }),
      ...(folders !== undefined && { folders }),
      ...options,
      agent: definition ?? name,
    });
  };
  const agents = [...resolved.config.agents.values()].filter(({ builtIn, name }) => !builtIn || name === agent);
  const parent = { sessionId: state.id, depth: state.depth, agent, model, cwd, attended, agents };
  return openChildren({ ...services.children, open }, parent);
}

function createPlugin(session: PluginSession, create: (session: PluginSession) => Plugin): Plugin {
  try {
    return create(session);
  } catch (cause) {
    const which = create.name === "" ? "a plugin" : `the plugin of ${create.name}`;
    throw new RookeryError("plugin_failed", `cannot create ${which}: ${messageOf(cause)}`, { cause });
  }
}
