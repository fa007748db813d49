/** How the agent of a session is found and opened: from what the configuration of its folder says, and whoever opens it. */
import { stat } from "node:fs/promises";
import {
  acpBackend,
  apiBackend,
  claudeBackend,
  codexBackend,
  commandBackend,
  find,
  geminiBackend,
  isProgramKind,
  opencodeBackend,
  keyVariables,
  programFamilyOf,
  mustHaveProvider,
  toolsOnlyBackend,
  type Place,
  type Wanted,
} from "./backends/index.ts";
import { loadConfig, resolveAgent, type AgentConfig, type Config, type ProgramFamily } from "./config/index.ts";
import { openChildren, type ChildOpening, type ChildrenParts } from "./children/index.ts";
import { childEnvironment, type CredentialOwner } from "./domain/child-environment.ts";
import {
  messageOf,
  RookeryError,
  type Backend,
  type Children,
  type McpServerSpec,
  type RemoteServerSpec,
  type SessionState,
} from "./domain/index.ts";
import type { Authorizer } from "./mcp/authorizer.ts";
import type { Changes, Prepare, Session, Settings } from "./session/index.ts";
import type { Plugin } from "./tools/index.ts";

/** What all sessions share. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly plugins: readonly ((session: PluginSession) => Plugin)[];
  /** An absolute path. Throws `cwd_missing`. */
  folder(path: string): string;
  authorizer(spec: RemoteServerSpec): Authorizer;
  /** A marker for the children of one agent. */
  claim(): string;
  /** What an agent that begins sessions of its own needs; the session that it does it from says the rest. */
  readonly children: Omit<ChildrenParts, "open"> & { open(options: ChildOpening & Given): Promise<Session> };
}

/** What a plugin is made for. */
export interface PluginSession {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
}

/** What whoever opens a session says of its agent beyond what the log keeps. */
export interface Given {
  /** Over what the environment and the configuration say. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** MCP servers for this session, over those that are configured. Not kept in the log. */
  readonly mcpServers?: readonly McpServerSpec[];
  /** For the agent and what it starts, beside the environment that Rookery has. Not kept in the log. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the built-in agent's file tools reach beside the working folder and what is configured. Not kept in the log. */
  readonly folders?: readonly string[];
  /** No agent is started: the session holds its tools, for `session.tools.offer()`, and takes no prompt. */
  readonly toolsOnly?: boolean;
  /** Can anyone be asked for a permission? If not, what needs one is refused. True if not said. */
  readonly attended?: boolean;
}

/** What `given` says of an API and its key is for the agent that is opened, and for no other that comes after it. */
export function preparing(around: Surroundings, given: Given): Prepare {
  let first: string | undefined;
  return async (state, changes) => {
    const cwd = changes.cwd === undefined ? state.cwd : around.folder(changes.cwd);
    await mustBeFolder(cwd);
    const config = await loadConfig({ cwd, env: around.env });
    const agent = resolveAgent(config, changes.agent ?? (isNew(state) ? undefined : state.agent));
    if (given.toolsOnly !== true) await mustBeTrusted(agent, config, { env: around.env, cwd });
    first ??= agent.name;
    const settings = settingsOf(agent, state, { ...changes, cwd });
    const env = { ...around.env, ...agent.env, ...given.env };
    const model = changes.model === undefined && agent.backend === "api" ? modelOf(agent, state) : undefined;
    if (given.toolsOnly !== true && model !== undefined) {
      const { name, model: configured, baseUrl } = agent;
      const chosen = lastOf(agent, state)?.modelChosen === true;
      const own = { baseUrl, ...(name === first && given), env, providers: config.providers };
      mustHaveProvider({ sessionId: state.id, agent: name, model, chosen, configured }, own);
    }
    const { servers, ...wanted } = await wantedFor({ ...around, env }, agent, config, cwd);
    const open = (plugins: readonly Plugin[]) => {
      const folders = [...agent.folders, ...(given.folders ?? [])];
      const { prices, providers } = config;
      const forServers = childEnvironment(env, { keys: keyVariables(providers) });
      const means = {
        env,
        givenEnv: Object.keys(given.env ?? {}),
        wanted: { ...wanted, servers, plugins, env: forServers },
        prices,
        providers,
        folders,
      };
      if (given.toolsOnly === true) {
        return toolsOnlyBackend({ ...means, env: forServers });
      }
      return backendOf(agent, { ...(agent.name === first && given), ...means });
    };
    const session = { sessionId: state.id, agent: agent.name, cwd };
    const connect = () =>
      open(around.plugins.map((make) => madeFor(session, make))).open({
        sessionId: state.id,
        agent: { ...agent, model: settings.model },
        cwd,
        nativeId: isSame(agent, state) ? state.nativeId : undefined,
        forkOf: isSame(agent, state) ? state.forkOf : undefined,
        mcpServers: given.mcpServers,
        saved: state,
        permissions: settings.permissions,
        marker: around.claim(),
        children: childrenOf(around, given, { ...settings, sessionId: state.id, depth: state.depth, config, first }),
      });
    const madeFrom = JSON.stringify([agent, servers ?? [], config.tools, [...config.prices], [...config.providers]]);
    return { settings, connect, madeFrom, patience: { ...agent.stall, park: agent.parkLimit } };
  };
}

interface Begetter extends Pick<Settings, "agent" | "model" | "cwd"> {
  readonly sessionId: string;
  readonly depth: number;
  readonly config: Config;
  /** The agent that was opened with what is given for its API. */
  readonly first: string | undefined;
}

/** What is given for the session is for its children too. */
function childrenOf(around: Surroundings, given: Given, { config, first, ...parent }: Begetter): Children {
  const { baseUrl, apiKey, env, mcpServers, folders, attended = true } = given;
  const open = (options: ChildOpening) =>
    around.children.open({
      ...(options.agent === first && { ...(baseUrl && { baseUrl }), ...(apiKey && { apiKey }) }),
      ...(env !== undefined && { env }),
      ...(mcpServers !== undefined && { mcpServers }),
      ...(folders !== undefined && { folders }),
      ...options,
    });
  const agents = [...config.agents.values()].filter(({ builtIn, name }) => !builtIn || name === parent.agent);
  return openChildren({ ...around.children, open }, { ...parent, attended, agents });
}

function settingsOf(agent: AgentConfig, state: SessionState, changes: Changes & { readonly cwd: string }): Settings {
  return {
    agent: agent.name,
    backend: agent.backend,
    model: changes.model ?? modelOf(agent, state) ?? agent.model,
    ...((changes.model !== undefined || lastOf(agent, state)?.modelChosen === true) && { modelChosen: true as const }),
    cwd: changes.cwd,
    permissions: changes.permissions ?? (isNew(state) ? (agent.permissions ?? "ask") : state.permissions),
  };
}

/** What it last had in this session. */
function modelOf(agent: AgentConfig, state: SessionState): string | undefined {
  return lastOf(agent, state)?.model;
}

function lastOf({ name, backend }: AgentConfig, { agents }: SessionState): SessionState["agents"][string] | undefined {
  const last = Object.hasOwn(agents, name) ? agents[name] : undefined;
  return last?.backend === backend ? last : undefined;
}

function isNew({ head }: SessionState): boolean {
  return head === 0;
}

function isSame(agent: AgentConfig, state: SessionState): boolean {
  return agent.name === state.agent && agent.backend === state.backend;
}

interface Means extends Pick<Given, "baseUrl" | "apiKey">, Pick<Config, "prices" | "providers"> {
  readonly env: Surroundings["env"];
  /** Names of the variables in the caller's `env` option. */
  readonly givenEnv: readonly string[];
  readonly wanted: Wanted;
  readonly folders: readonly string[];
}

function backendOf(agent: AgentConfig, { baseUrl = agent.baseUrl, ...means }: Means): Backend {
  const { env, apiKey, prices, providers, wanted, folders } = means;
  const { effort, context, retries, timeouts } = agent;
  switch (agent.backend) {
    case "api":
      return apiBackend({
        env,
        baseUrl,
        apiKey,
        providers,
        effort,
        context,
        retries,
        timeouts,
        wanted,
        folders,
        code: agent.code,
        passEnv: agent.passEnv,
        priceOf: (name) => prices.get(name),
      });
    case "acp": {
      const { auth, serve, registry } = agent;
      const commandEnv = childEnvironment(env, { pass: agent.passEnv, keys: keyVariables(providers) });
      const own = programEnv(agent, means, ownerOf(programFamilyOf(agent)));
      return acpBackend({ env: own, auth, serve, registry, wanted, commandEnv });
    }
    case "claude-code":
      return claudeBackend({ env: programEnv(agent, means, "claude"), wanted, pty: agent.pty });
    case "codex":
      return codexBackend({ env: programEnv(agent, means, "codex"), wanted });
    case "gemini-cli":
      return geminiBackend({ env: programEnv(agent, means, "gemini"), wanted });
    case "opencode":
      return opencodeBackend({ env: programEnv(agent, means, "any"), wanted });
    case "command": {
      const { pty, resumeCommand, sessionPath, textPath } = agent;
      return commandBackend({
        env: programEnv(agent, means, "none"),
        wanted,
        pty,
        resumeCommand,
        sessionPath,
        textPath,
      });
    }
  }
}

/** A program is started only where the repository gives it no orders that nobody trusted, and is not the program itself. */
async function mustBeTrusted(agent: AgentConfig, config: Config, place: Omit<Place, "command">): Promise<void> {
  if (agent.backend === "api") return;
  const family = programFamily(agent);
  const { backend, command } = agent;
  const local = isProgramKind(backend) && find(backend, { ...place, command })?.from === "node_modules";
  await config.requireTrustFor({ family, local });
}

/** Whose files in the repository its program takes orders from; undefined for one that nobody knows. */
function programFamily({ backend, command = [], registry = "" }: AgentConfig): ProgramFamily | undefined {
  switch (backend) {
    case "claude-code":
      return "claude";
    case "gemini-cli":
      return "gemini";
    case "codex":
    case "opencode":
      return backend;
    case "acp":
    case "command":
      return programFamilyOf({ command, registry });
    case "api":
      return undefined;
  }
}

/** An ACP agent that nobody knows may use any provider. */
function ownerOf(family: ProgramFamily | undefined): CredentialOwner {
  return family === undefined || family === "opencode" ? "any" : family;
}

/** What the user lists for the agent it gets, whosever secret it is. */
function programEnv(agent: AgentConfig, { env, givenEnv, providers }: Means, needs: CredentialOwner): Means["env"] {
  const pass = [...agent.passEnv, ...Object.keys(agent.env), ...givenEnv];
  return childEnvironment(env, { needs, pass, keys: keyVariables(providers) });
}

/** Where there are no servers, nothing that has to do with them is loaded. */
async function wantedFor(
  around: Surroundings,
  agent: AgentConfig,
  config: Config,
  cwd: string,
): Promise<Omit<Wanted, "plugins">> {
  const wanted = {
    filter: agent.tools,
    deferOver: config.tools.deferOver,
    authorizer: (spec: RemoteServerSpec) => around.authorizer(spec),
  };
  if (config.mcp.size === 0) return wanted;
  const { serversFor } = await import("./mcp/config/index.ts");
  return { ...wanted, servers: serversFor(config, agent, { cwd, env: around.env }) };
}

function madeFor(session: PluginSession, make: (session: PluginSession) => Plugin): Plugin {
  try {
    return make(session);
  } catch (cause) {
    const which = make.name === "" ? "a plugin" : `the plugin of ${make.name}`;
    throw new RookeryError("plugin_failed", `${which} could not be made: ${messageOf(cause)}`, { cause });
  }
}

/** Rejects with `cwd_missing`. */
export async function mustBeFolder(cwd: string): Promise<void> {
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  const what = found === undefined ? "does not exist" : "is not a folder";
  throw new RookeryError("cwd_missing", `the working folder ${cwd} ${what}: give another with --cwd`);
}
