/** Merges the configuration of one agent from all files and the built-in defaults. */
import { dirname, resolve } from "node:path";
import type { AgentTable, ConfiguredToolPattern } from "../domain/agent-table.ts";
import type { AgentSpec } from "../domain/backend.ts";
import type { Budget } from "../domain/budget-schema.ts";
import { RookeryError } from "../domain/errors.ts";
import type { TableServer } from "../domain/mcp-declared.ts";
import type { Effort } from "../domain/provider.ts";
import { firstDefined, type ConfigLayer } from "./layer.ts";

import { toSubagentLimits } from "./subagents.ts";

export interface AgentConfig extends AgentSpec {
  readonly tools: {
    readonly allow: readonly ConfiguredToolPattern[] | undefined;
    readonly deny: readonly ConfiguredToolPattern[];
  };
  /** The MCP servers that the agent gets. Default: all. */
  readonly mcp: readonly string[] | undefined;
  /** MCP servers that the definition of the agent declares. Default: none. */
  readonly servers?: readonly TableServer[];
  readonly baseUrl: string | undefined;
  readonly effort: Effort | undefined;
  /** The context size of the model in tokens. */
  readonly context: number | undefined;
  readonly retries: number | undefined;
  /** The key under which the provider caches prompts. */
  readonly cacheKey: string | undefined;
  /** Timeouts of tools in seconds, by tool name or prefix with `*`. */
  readonly timeouts: Readonly<Record<string, number>>;
  readonly registry: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly auth: string | undefined;
  readonly serve: readonly ("files" | "terminals")[];
  readonly pty: boolean;
  /** Whether the log keeps every JSON record of the program as `agent.raw`. */
  readonly raw: boolean;
  readonly passEnv: readonly string[];
  /** In seconds. */
  readonly stall: { readonly [Clock in "model" | "tool" | "progress"]?: number | false | undefined };
  /** In seconds. */
  readonly parkLimit: number | undefined;
  readonly sessionPath: string | undefined;
  readonly textPath: string | undefined;
  readonly resumeCommand: readonly string[] | undefined;
  /**
   * Absolute paths of directories that the built-in agent's file tools may use in addition to the working directory.
   */
  readonly folders: readonly string[];
  /** Undefined if the agent may not run programs that it writes. */
  readonly code: CodeConfig | undefined;
  /** The maximum number of tasks that the agent runs at once. */
  readonly maxRunning: number | undefined;
  readonly builtIn: boolean;
}

/** Limits of programs that the agent writes. Undefined fields have their defaults. */
export interface CodeConfig {
  readonly timeMs?: number;
  readonly totalMs?: number;
  readonly memoryBytes?: number;
  readonly calls?: number;
  readonly output?: number;
}

const BUILT_IN: Record<string, AgentTable> = {
  anthropic: { backend: "api", model: "anthropic/claude-sonnet-5" },
  claude: { backend: "claude-code" },
  codex: { backend: "codex" },
  gemini: { backend: "gemini-cli" },
  opencode: { backend: "opencode" },
  openai: { backend: "api", model: "openai/gpt-6.1-sol" },
  google: { backend: "api", model: "google/gemini-3.8-flash" },
};

export const BUILT_IN_AGENTS: readonly string[] = Object.keys(BUILT_IN);

/** Throws `config_invalid` if the backend needs a program and none is configured. */
export function mergeAgent(name: string, layers: readonly ConfigLayer[]): AgentConfig {
  const own = layers.flatMap(({ table }) => findAgentTable(table.agents, name) ?? []);
  const tables = [...own, findAgentTable(BUILT_IN, name) ?? {}];
  const file = layers.find(({ table }) => findAgentTable(table.agents, name) !== undefined)?.file ?? "";
  return mergeTables(name, tables, {
    where: `${file}: agents.${name}`,
    prompts: firstDefined(layers, (layer) => findPromptTexts(layer, name)) ?? [],
    folders: firstDefined(layers, (layer) => resolveFolders(layer, name)) ?? [],
    builtIn: own.length === 0,
  });
}

interface MergeContext extends Pick<AgentConfig, "prompts" | "folders" | "builtIn"> {
  /** Where the agent is configured, for messages. */
  readonly where: string;
}

/** Merges tables of one agent. Earlier tables win. Throws `config_invalid` like `mergeAgent`. */
export function mergeTables(
  name: string,
  tables: readonly AgentTable[],
  { where, prompts, folders, builtIn }: MergeContext,
): AgentConfig {
  const agent: AgentConfig = {
    name,
    backend: firstDefined(tables, ({ backend }) => backend) ?? "api",
    model: firstDefined(tables, ({ model }) => model),
    permissions: firstDefined(tables, ({ permissions }) => permissions),
    prompts,
    command: firstDefined(tables, ({ command }) => command),
    tools: {
      allow: firstDefined(tables, ({ tools }) => tools?.allow),
      deny: firstDefined(tables, ({ tools }) => tools?.deny) ?? [],
    },
    mcp: firstDefined(tables, ({ mcp }) => mcp),
    baseUrl: firstDefined(tables, ({ base_url }) => base_url),
    effort: firstDefined(tables, ({ effort }) => effort),
    context: firstDefined(tables, ({ context }) => context),
    retries: firstDefined(tables, ({ retries }) => retries),
    cacheKey: firstDefined(tables, ({ cache_key }) => cache_key),
    timeouts: firstDefined(tables, ({ timeouts }) => timeouts) ?? {},
    registry: firstDefined(tables, ({ registry }) => registry),
    env: firstDefined(tables, ({ env }) => env) ?? {},
    auth: firstDefined(tables, ({ auth }) => auth),
    serve: firstDefined(tables, ({ serve }) => serve) ?? [],
    mode: firstDefined(tables, ({ mode }) => mode),
    pty: firstDefined(tables, ({ pty }) => pty) ?? false,
    raw: firstDefined(tables, ({ raw }) => raw) ?? false,
    passEnv: firstDefined(tables, ({ pass_env }) => pass_env) ?? [],
    stall: firstDefined(tables, ({ stall }) => stall) ?? {},
    parkLimit: firstDefined(tables, ({ park_limit }) => park_limit),
    sessionPath: firstDefined(tables, ({ session_path }) => session_path),
    textPath: firstDefined(tables, ({ text_path }) => text_path),
    resumeCommand: firstDefined(tables, ({ resume_command }) => resume_command),
    folders,
    code: toCodeConfig(firstDefined(tables, ({ code }) => code) ?? false),
    maxRunning: firstDefined(tables, ({ max_running }) => max_running),
    budget: toBudget(firstDefined(tables, ({ budget }) => budget)),
    subagents: toSubagentLimits(firstDefined(tables, ({ subagents }) => subagents)),
    builtIn,
  };
  if (agent.backend === "command" && agent.command === undefined) {
    throw new RookeryError(
      "config_invalid",
      `${where}: the backend "command" needs a program; add command = ["program", "{prompt}"]`,
    );
  }
  if (agent.backend === "acp" && agent.command === undefined && agent.registry === undefined) {
    const example = 'command = ["npx", "-y", "some-acp-agent"]';
    throw new RookeryError(
      "config_invalid",
      `${where}: the backend "acp" needs a program; add ${example}, or registry = "ID"`,
    );
  }
  return agent;
}

/** Uses `hasOwn`, because an agent may be called "constructor". */
function findAgentTable(agents: Readonly<Record<string, AgentTable>> = {}, name: string): AgentTable | undefined {
  return Object.hasOwn(agents, name) ? agents[name] : undefined;
}

function findPromptTexts({ table, prompts }: ConfigLayer, name: string): string[] | undefined {
  return findAgentTable(table.agents, name)?.prompts?.map((named) => prompts.get(named) ?? "");
}

function toCodeConfig(code: NonNullable<AgentTable["code"]>): CodeConfig | undefined {
  if (typeof code === "boolean") return code ? {} : undefined;
  const { time, total, memory, calls, output } = code;
  return {
    ...(time !== undefined && { timeMs: time * 1_000 }),
    ...(total !== undefined && { totalMs: total * 1_000 }),
    ...(memory !== undefined && { memoryBytes: memory * 2 ** 20 }),
    ...(calls !== undefined && { calls }),
    ...(output !== undefined && { output }),
  };
}

function resolveFolders({ table, file }: ConfigLayer, name: string): string[] | undefined {
  return findAgentTable(table.agents, name)?.folders?.map((folder) => resolve(dirname(file), folder));
}

function toBudget(table: AgentTable["budget"]): Budget | undefined {
  if (table === undefined) return undefined;
  const { minutes, ...budget } = table;
  return { ...budget, ...(minutes !== undefined && { seconds: minutes * 60 }) };
}
