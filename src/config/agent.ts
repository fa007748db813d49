/** What the files of configuration say of one agent, over what is built in. */
import { dirname, resolve } from "node:path";
import type { AgentSpec } from "../domain/backend.ts";
import type { Budget } from "../domain/budget.ts";
import { RookeryError } from "../domain/errors.ts";
import type { Effort } from "../domain/provider.ts";
import { first, type Layer } from "./layer.ts";
import type { AgentTable, ToolPattern } from "./schema.ts";
import { subagentsOf } from "./subagents.ts";

export interface AgentConfig extends AgentSpec {
  readonly tools: { readonly allow: readonly ToolPattern[] | undefined; readonly deny: readonly ToolPattern[] };
  /** Which MCP servers it gets; all if not said. */
  readonly mcp: readonly string[] | undefined;
  readonly baseUrl: string | undefined;
  readonly effort: Effort | undefined;
  /** In tokens. */
  readonly context: number | undefined;
  readonly retries: number | undefined;
  /** In seconds, by names of tools or their beginnings and a `*`. */
  readonly timeouts: Readonly<Record<string, number>>;
  readonly registry: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly auth: string | undefined;
  readonly serve: readonly ("files" | "terminals")[];
  readonly pty: boolean;
  readonly passEnv: readonly string[];
  /** In seconds. */
  readonly stall: { readonly [Clock in "model" | "tool" | "progress"]?: number | false | undefined };
  /** In seconds. */
  readonly parkLimit: number | undefined;
  readonly sessionPath: string | undefined;
  readonly textPath: string | undefined;
  readonly resumeCommand: readonly string[] | undefined;
  /** What the built-in agent's file tools reach beside the working folder; absolute. */
  readonly folders: readonly string[];
  /** Undefined where it may not run programs of its own. */
  readonly code: CodeConfig | undefined;
  /** How many tasks it may have at once. */
  readonly maxRunning: number | undefined;
  readonly builtIn: boolean;
}

/** What is not said is as usual. */
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

/** Throws `config_invalid` where it drives a program and nobody says which. */
export function agentOf(name: string, layers: readonly Layer[]): AgentConfig {
  const own = layers.flatMap(({ table }) => tableOf(table.agents, name) ?? []);
  const tables = [...own, tableOf(BUILT_IN, name) ?? {}];
  const agent: AgentConfig = {
    name,
    backend: first(tables, ({ backend }) => backend) ?? "api",
    model: first(tables, ({ model }) => model),
    permissions: first(tables, ({ permissions }) => permissions),
    prompts: first(layers, (layer) => promptTexts(layer, name)) ?? [],
    command: first(tables, ({ command }) => command),
    tools: {
      allow: first(tables, ({ tools }) => tools?.allow),
      deny: first(tables, ({ tools }) => tools?.deny) ?? [],
    },
    mcp: first(tables, ({ mcp }) => mcp),
    baseUrl: first(tables, ({ base_url }) => base_url),
    effort: first(tables, ({ effort }) => effort),
    context: first(tables, ({ context }) => context),
    retries: first(tables, ({ retries }) => retries),
    timeouts: first(tables, ({ timeouts }) => timeouts) ?? {},
    registry: first(tables, ({ registry }) => registry),
    env: first(tables, ({ env }) => env) ?? {},
    auth: first(tables, ({ auth }) => auth),
    serve: first(tables, ({ serve }) => serve) ?? [],
    mode: first(tables, ({ mode }) => mode),
    pty: first(tables, ({ pty }) => pty) ?? false,
    passEnv: first(tables, ({ pass_env }) => pass_env) ?? [],
    stall: first(tables, ({ stall }) => stall) ?? {},
    parkLimit: first(tables, ({ park_limit }) => park_limit),
    sessionPath: first(tables, ({ session_path }) => session_path),
    textPath: first(tables, ({ text_path }) => text_path),
    resumeCommand: first(tables, ({ resume_command }) => resume_command),
    folders: first(layers, (layer) => foldersOf(layer, name)) ?? [],
    code: codeOf(first(tables, ({ code }) => code) ?? false),
    maxRunning: first(tables, ({ max_running }) => max_running),
    budget: budgetOf(first(tables, ({ budget }) => budget)),
    subagents: subagentsOf(first(tables, ({ subagents }) => subagents)),
    builtIn: own.length === 0,
  };
  if (agent.backend === "command" && agent.command === undefined) {
    const file = layers.find(({ table }) => tableOf(table.agents, name) !== undefined)?.file ?? "";
    throw new RookeryError(
      "config_invalid",
      `${file}: agents.${name} drives a program and needs a command = ["program", "{prompt}"]`,
    );
  }
  if (agent.backend === "acp" && agent.command === undefined && agent.registry === undefined) {
    const file = layers.find(({ table }) => tableOf(table.agents, name) !== undefined)?.file ?? "";
    const example = 'command = ["npx", "-y", "some-acp-agent"]';
    throw new RookeryError(
      "config_invalid",
      `${file}: agents.${name} drives an ACP agent and needs a ${example}, or a registry = "ID"`,
    );
  }
  return agent;
}

/** An agent may have a name that every object knows, such as "constructor". */
function tableOf(agents: Readonly<Record<string, AgentTable>> = {}, name: string): AgentTable | undefined {
  return Object.hasOwn(agents, name) ? agents[name] : undefined;
}

function promptTexts({ table, prompts }: Layer, name: string): string[] | undefined {
  return tableOf(table.agents, name)?.prompts?.map((named) => prompts.get(named) ?? "");
}

function codeOf(code: NonNullable<AgentTable["code"]>): CodeConfig | undefined {
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

function foldersOf({ table, file }: Layer, name: string): string[] | undefined {
  return tableOf(table.agents, name)?.folders?.map((folder) => resolve(dirname(file), folder));
}

function budgetOf(table: AgentTable["budget"]): Budget | undefined {
  if (table === undefined) return undefined;
  const { minutes, ...budget } = table;
  return { ...budget, ...(minutes !== undefined && { seconds: minutes * 60 }) };
}
