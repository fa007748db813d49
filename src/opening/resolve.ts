/** Resolves the configuration of a folder into the settings of a session and its agent. Starts no process. */
import { stat } from "node:fs/promises";
import {
  agentProgramFamily,
  findProgram,
  isProgramKind,
  withReadyDefault,
  assertRecordedProvider,
  type ProgramLookup,
  type RegisteredProviders,
  type AgentResources,
} from "../backends/index.ts";
import type { EnvironmentVariables } from "../stdx/index.ts";
import {
  completeDefinition,
  configureDefinition,
  loadConfig,
  readInstructions,
  requireOwnFolders,
  resolveAgent,
  type AgentConfig,
  type Config,
} from "../config/index.ts";
import {
  AgentDefinition,
  RookeryError,
  unknownEvent,
  type RemoteServerSpec,
  type SessionState,
} from "../domain/index.ts";
import { definitionEvents, type AgentSettings, type NamedChanges } from "../session/index.ts";
import type { AgentOverrides, SharedServices } from "./services.ts";

export interface ResolvedAgent {
  readonly agent: AgentConfig;
  /** Includes the agents that are defined for this session. */
  readonly config: Config;
  /** The definitions of these agents, by name. */
  readonly definitions: ReadonlyMap<string, AgentDefinition>;
  readonly settings: AgentSettings;
  /** The environment of Rookery, with the variables of the agent and of the caller. */
  readonly env: EnvironmentVariables;
  readonly tools: Omit<AgentResources, "plugins" | "env">;
}

/**
 * Rejects with `cwd_missing`, `config_invalid`, `agent_unknown`, or `not_trusted` if the agent would obey files of the
 * repository that the user has not trusted.
 */
export async function resolveSettings(
  services: SharedServices,
  overrides: AgentOverrides,
  state: SessionState,
  changes: NamedChanges,
): Promise<ResolvedAgent> {
  const cwd = changes.cwd === undefined ? state.cwd : services.resolveFolder(changes.cwd);
  await requireFolder(cwd);
  const defaults = chooseDefault(await loadConfig({ cwd, env: services.env }), services, overrides, cwd);
  const { config, definitions, definition } = await addDefinitions(defaults, state, { ...changes, cwd });
  const agent = resolveAgent(config, changes.agent ?? (isNew(state) ? undefined : state.agent));
  if (overrides.toolsOnly !== true) await requireTrustedProgram(agent, config, { env: services.env, cwd });
  await requireOwnFolders(agent.folders, { root: config.root, cwd });
  const env = { ...services.env, ...agent.env, ...overrides.env };
  return {
    agent: overrides.toolsOnly === true ? agent : await addInstructions(agent, { cwd, env: services.env }),
    config,
    definitions,
    settings: mergeSettings(agent, state, { ...changes, cwd, definition }),
    env,
    tools: await resolveTools({ ...services, env }, agent, config, cwd),
  };
}

interface DefinedAgents extends Pick<ResolvedAgent, "config" | "definitions"> {
  /** Set if the caller passed a definition that the log does not have. */
  readonly definition: AgentDefinition | undefined;
}

/** Adds the agents that are defined for this session. Each hides a configured agent of the same name. */
async function addDefinitions(
  config: Config,
  state: SessionState,
  { agent: chosen = state.agent, definition: passed, cwd }: NamedChanges & { readonly cwd: string },
): Promise<DefinedAgents> {
  const definition = passed === undefined ? undefined : await completeDefinition(passed, cwd);
  const definitions = new Map(Object.entries(state.definitions));
  if (definition !== undefined) definitions.set(definition.name, definition);
  if (definitions.size === 0) return { config, definitions, definition };
  const agents = new Map(config.agents);
  for (const [name, each] of definitions) {
    try {
      agents.set(name, configureDefinition(parseRecordedDefinition(each, state), config));
    } catch (error) {
      if (name === chosen) throw error;
      agents.delete(name); // an agent that does not drive must not prevent the session from opening
    }
  }
  const isRecorded = definition !== undefined && definitionEvents(state, { definition }).length === 0;
  return { config: { ...config, agents }, definitions, definition: isRecorded ? undefined : definition };
}

/** Throws `log_corrupt` if a newer version wrote the definition. */
function parseRecordedDefinition(definition: AgentDefinition, { id }: SessionState): AgentDefinition {
  const { data, error } = AgentDefinition.safeParse(definition);
  if (data !== undefined) return data;
  throw unknownEvent(`the definition of agent ${definition.name} in session ${id}`, error);
}

/** The built-in agent gets the trusted instructions of the repository. Programs read such files themselves. */
async function addInstructions(agent: AgentConfig, { cwd, env }: Omit<ProgramLookup, "command">): Promise<AgentConfig> {
  if (agent.backend !== "api") return agent;
  const { texts } = await readInstructions(cwd, env);
  const added = texts.filter((text) => !agent.prompts.some((prompt) => text.endsWith(prompt.trim())));
  return added.length === 0 ? agent : { ...agent, prompts: [...agent.prompts, ...added] };
}

/** A caller that passes a key or a URL means the configured default agent. */
function chooseDefault(
  config: Config,
  { env, backends, providers }: SharedServices,
  overrides: AgentOverrides,
  cwd: string,
): Config {
  const { apiKey, baseUrl, toolsOnly } = overrides;
  if (apiKey !== undefined || baseUrl !== undefined || toolsOnly === true) return config;
  return withReadyDefault(config, { env: { ...env, ...overrides.env }, cwd, backends, registered: providers });
}

/**
 * Checks that the provider a session was recorded with can still be used, if the caller does not choose another model.
 * Throws `provider_unknown`, `provider_mismatch` or `provider_unconfigured`.
 */
export function requireRecordedProvider(
  { agent, config, env, settings }: ResolvedAgent,
  state: SessionState,
  overrides: Pick<AgentOverrides, "baseUrl" | "apiKey"> & { readonly registered: RegisteredProviders },
): void {
  const { name, backend, model: configured, baseUrl } = agent;
  const last = lastUse(agent, state);
  if (backend !== "api" || last?.model === undefined || settings.definition !== undefined) return;
  const recorded = { sessionId: state.id, agent: name, model: last.model, chosen: last.modelChosen === true };
  assertRecordedProvider({ ...recorded, configured }, { baseUrl, ...overrides, env, providers: config.providers });
}

/** Rejects with `cwd_missing`. */
export async function requireFolder(cwd: string): Promise<void> {
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  const problem = found === undefined ? "does not exist" : "is not a directory";
  throw new RookeryError("cwd_missing", `the working directory ${cwd} ${problem}; choose another one with --cwd`);
}

function mergeSettings(
  agent: AgentConfig,
  state: SessionState,
  changes: NamedChanges & { readonly cwd: string },
): AgentSettings {
  const { definition } = changes;
  const last = definition === undefined ? lastUse(agent, state) : undefined;
  return {
    ...(definition !== undefined && { definition }),
    agent: agent.name,
    backend: agent.backend,
    model: changes.model ?? last?.model ?? agent.model,
    ...((changes.model !== undefined || last?.modelChosen === true) && { modelChosen: true as const }),
    cwd: changes.cwd,
    permissions: changes.permissions ?? (isNew(state) ? (agent.permissions ?? "ask") : state.permissions),
  };
}

/** The settings this agent last had in the session. */
function lastUse({ name, backend }: AgentConfig, { agents }: SessionState): SessionState["agents"][string] | undefined {
  const last = Object.hasOwn(agents, name) ? agents[name] : undefined;
  return last?.backend === backend ? last : undefined;
}

function isNew({ head }: SessionState): boolean {
  return head === 0;
}

/** Rejects with `not_trusted` if the program obeys untrusted files of the repository, or is itself one of them. */
async function requireTrustedProgram(
  agent: AgentConfig,
  config: Config,
  lookup: Omit<ProgramLookup, "command">,
): Promise<void> {
  const { backend, command } = agent;
  if (backend === "api") return;
  const local = isProgramKind(backend) && findProgram(backend, { ...lookup, command })?.from === "node_modules";
  await config.requireTrustFor({ family: agentProgramFamily(agent), local });
}

/** Loads the MCP code only if servers are configured. */
async function resolveTools(
  { authorizer, env }: Pick<SharedServices, "authorizer" | "env">,
  agent: AgentConfig,
  config: Config,
  cwd: string,
): Promise<ResolvedAgent["tools"]> {
  const tools = {
    filter: agent.tools,
    deferOver: config.tools.deferOver,
    authorizer: (spec: RemoteServerSpec) => authorizer(spec),
  };
  const mcp = new Map([...config.mcp, ...(agent.servers ?? []).map((server) => [server.name, server] as const)]);
  if (mcp.size === 0) return tools;
  const { selectServers } = await import("../mcp/config/index.ts");
  return { ...tools, servers: selectServers({ mcp }, agent, { cwd, env }) };
}
