/** How the agent of a session is found and opened: from what the configuration of its folder says, and whoever opens it. */
import { stat } from "node:fs/promises";
import {
  acpBackend,
  apiBackend,
  claudeBackend,
  codexBackend,
  commandBackend,
  familyOf,
  find,
  geminiBackend,
  isProgramKind,
  opencodeBackend,
  programEnvironment,
  toolsOnlyBackend,
  type Family,
  type Place,
  type Wanted,
} from "./backends/index.ts";
import { loadConfig, resolveAgent, type AgentConfig, type Config, type ProgramFamily } from "./config/index.ts";
import {
  messageOf,
  RookeryError,
  type Backend,
  type McpServerSpec,
  type RemoteServerSpec,
  type SessionState,
} from "./domain/index.ts";
import type { Authorizer } from "./mcp/authorizer.ts";
import type { Changes, Prepare, Settings } from "./session/index.ts";
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
  /** No agent is started: the session holds its tools, for `session.tools.offer()`, and takes no prompt. */
  readonly toolsOnly?: boolean;
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
    const wanted = await wantedFor({ ...around, env }, { sessionId: state.id, agent: agent.name, cwd }, agent, config);
    const backend =
      given.toolsOnly === true
        ? toolsOnlyBackend({ env, wanted })
        : backendOf(agent, { ...(agent.name === first && given), env, wanted, prices: config.prices });
    const connect = () =>
      backend.open({
        sessionId: state.id,
        agent: { ...agent, model: settings.model },
        cwd,
        nativeId: isSame(agent, state) ? state.nativeId : undefined,
        forkOf: isSame(agent, state) ? state.forkOf : undefined,
        mcpServers: given.mcpServers,
        saved: state,
        permissions: settings.permissions,
        marker: around.claim(),
      });
    return { settings, connect, patience: { ...agent.stall, park: agent.parkLimit } };
  };
}

function settingsOf(agent: AgentConfig, state: SessionState, changes: Changes & { readonly cwd: string }): Settings {
  return {
    agent: agent.name,
    backend: agent.backend,
    model: changes.model ?? (isSame(agent, state) ? state.model : undefined) ?? agent.model,
    cwd: changes.cwd,
    permissions: changes.permissions ?? (isNew(state) ? (agent.permissions ?? "ask") : state.permissions),
  };
}

function isNew({ head }: SessionState): boolean {
  return head === 0;
}

function isSame(agent: AgentConfig, state: SessionState): boolean {
  return agent.name === state.agent && agent.backend === state.backend;
}

interface Means extends Pick<Given, "baseUrl" | "apiKey">, Pick<Config, "prices"> {
  readonly env: Surroundings["env"];
  readonly wanted: Wanted;
}

function backendOf(agent: AgentConfig, { env, baseUrl = agent.baseUrl, apiKey, prices, wanted }: Means): Backend {
  switch (agent.backend) {
    case "api":
      return apiBackend({ env, baseUrl, apiKey, wanted, priceOf: (name) => prices.get(name) });
    case "acp": {
      const { auth, serve, registry } = agent;
      const own = programEnv(agent, env, familyOf([...(agent.command ?? []), registry ?? ""]));
      return acpBackend({ env: own, auth, serve, registry, wanted });
    }
    case "claude-code":
      return claudeBackend({ env: programEnv(agent, env, "claude"), wanted, pty: agent.pty });
    case "codex":
      return codexBackend({ env: programEnv(agent, env, "codex"), wanted });
    case "gemini-cli":
      return geminiBackend({ env: programEnv(agent, env, "gemini"), wanted });
    case "opencode":
      return opencodeBackend({ env: programEnv(agent, env, "any"), wanted });
    case "command": {
      const { pty, resumeCommand, sessionPath, textPath } = agent;
      return commandBackend({ env: programEnv(agent, env, "none"), wanted, pty, resumeCommand, sessionPath, textPath });
    }
  }
}

/** A program is started only where the repository gives it no orders that nobody trusted, and is not the program itself. */
async function mustBeTrusted(agent: AgentConfig, config: Config, place: Omit<Place, "command">): Promise<void> {
  const family = programFamily(agent);
  if (family === undefined) return;
  const { backend, command } = agent;
  const local = isProgramKind(backend) && find(backend, { ...place, command })?.from === "node_modules";
  await config.requireTrustFor({ family, local });
}

/** Whose files in the repository its program takes orders from. */
function programFamily({ backend, command = [], registry = "" }: AgentConfig): ProgramFamily | undefined {
  switch (backend) {
    case "claude-code":
      return "claude";
    case "gemini-cli":
      return "gemini";
    case "codex":
    case "opencode":
      return backend;
    case "acp": {
      const words = [...command, registry].join(" ").toLowerCase();
      return (["claude", "codex", "gemini", "opencode"] as const).find((family) => words.includes(family));
    }
    case "api":
    case "command":
      return undefined;
  }
}

/** What the user lists for the agent it gets, whosever secret it is. */
function programEnv(agent: AgentConfig, env: Means["env"], family: Family): Means["env"] {
  return programEnvironment(env, family, [...agent.passEnv, ...Object.keys(agent.env)]);
}

/** Where there are no servers, nothing that has to do with them is loaded. */
async function wantedFor(
  around: Surroundings,
  session: PluginSession,
  agent: AgentConfig,
  config: Config,
): Promise<Wanted> {
  const wanted = {
    filter: agent.tools,
    plugins: around.plugins.map((make) => madeFor(session, make)),
    deferOver: config.tools.deferOver,
    authorizer: (spec: RemoteServerSpec) => around.authorizer(spec),
  };
  if (config.mcp.size === 0) return wanted;
  const { serversFor } = await import("./mcp/config/index.ts");
  const place = { cwd: session.cwd, env: around.env };
  return { ...wanted, servers: serversFor(config, agent, place) };
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
