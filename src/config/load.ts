/** The configuration of a folder: the repository's `rookery.toml` over the user's, over what is built in. */
import { dirname, resolve } from "node:path";
import type { AgentSpec } from "../domain/backend.ts";
import type { Budget } from "../domain/budget.ts";
import { RookeryError } from "../domain/errors.ts";
import type { DeclaredServer } from "../domain/mcp-declared.ts";
import type { Effort, ProviderKind } from "../domain/provider.ts";
import { type Brought, namedPrompts, parsed, readBrought } from "./brought.ts";
import { readPrompt, readText } from "./files.ts";
import { type Env, userConfigFile } from "./home.ts";
import { didYouMean } from "./nearest.ts";
import type { AgentTable, ConfigTable, PriceTable, ProviderTable, StageTable, ToolPattern } from "./schema.ts";
import { declaredServers, refuseUnknownServers } from "./servers.ts";
import { subagentsOf } from "./subagents.ts";
import { requireTrust, trustFor, trustOf, type DrivenProgram, type TrustState } from "./trust.ts";

export interface Config {
  readonly root: string;
  readonly defaults: { readonly agent: string; readonly maxRunning: number | undefined };
  /** The repository's first, then the user's, then the built-in one. */
  readonly agents: ReadonlyMap<string, AgentConfig>;
  /** By `provider/model`. */
  readonly prices: ReadonlyMap<string, Price>;
  /** Model APIs that are described, by name. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** The MCP servers that are declared, those that are switched off among them; `src/mcp/config` makes them usable. */
  readonly mcp: ReadonlyMap<string, DeclaredServer>;
  /** Undefined where nothing is said, `Infinity` for never. */
  readonly tools: { readonly deferOver: number | undefined };
  readonly worktree: WorktreeConfig;
  readonly pipelines: ReadonlyMap<string, readonly StageTable[]>;
  readonly merge: { readonly how: "merge" | "squash" | "rebase"; readonly gate: string | undefined };
  readonly limits: {
    readonly perRepository: number | undefined;
    readonly providers: Readonly<Record<string, number>>;
  };
  /** The files it was read from. */
  readonly files: readonly string[];
  readonly trust: TrustState;
  /** Rejects with `not_trusted` where the program would take orders from files that nobody trusted, or is itself such a file. */
  requireTrustFor(program: DrivenProgram): Promise<void>;
}

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

export interface WorktreeConfig {
  readonly setup: string | undefined;
  /** In seconds. */
  readonly setupTimeout: number;
  readonly copy: readonly string[];
  readonly port: boolean;
  readonly branchPrefix: string;
  /** In bytes. */
  readonly quota: number | undefined;
}

export interface ProviderConfig {
  readonly kind: ProviderKind | undefined;
  readonly baseUrl: string | undefined;
  /** The variable that holds its key. */
  readonly keyEnv: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** In tokens. */
  readonly context: number | undefined;
  readonly images: boolean | undefined;
}

/** USD per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
}

export interface LoadOptions {
  readonly cwd: string;
  readonly env: Env;
  /** What becomes of a repository that is not trusted: an error (if not said), left out, or read all the same to check it. */
  readonly trust?: "require" | "leave_out" | "assume" | undefined;
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

/** Rejects with `config_invalid`, `not_trusted` or `cwd_missing`. */
export async function loadConfig({ cwd, env, trust = "require" }: LoadOptions): Promise<Config> {
  const brought = await readBrought(cwd);
  const state = await trustOf(brought, env);
  if (trust === "require") requireTrust(state);
  const leftOut = trust === "leave_out" && state.status === "untrusted";
  const requireTrustFor = async (program: DrivenProgram) => requireTrust(await trustFor(brought, program, env), cwd);
  const repository = repositoryLayer(brought);
  const user = await userLayer(userConfigFile(env));
  const layers = [...(leftOut ? [] : repository), ...user];
  refuseUnknownServers(layers, declaredServers({ repository, entries: brought.servers, user }));
  const mcp = declaredServers(leftOut ? { user } : { repository, entries: brought.servers, user });
  return { root: brought.root, ...merged(layers), mcp, trust: state, requireTrustFor };
}

/** The agent of that name, or the default one. Throws `agent_unknown`. */
export function resolveAgent(config: Config, name: string = config.defaults.agent): AgentConfig {
  const agent = config.agents.get(name);
  if (agent !== undefined) return agent;
  const guess = didYouMean(name, config.agents.keys());
  throw new RookeryError("agent_unknown", `there is no agent "${name}"${guess}; see what there is: rookery agents`);
}

/** What the user's own file says for all repositories. Rejects with `config_invalid`. */
export async function userDefaults(env: Env): Promise<Config["defaults"]> {
  return merged(await userLayer(userConfigFile(env))).defaults;
}

/** One file of configuration, with the texts of the prompts that it names. */
interface Layer {
  readonly file: string;
  readonly table: ConfigTable;
  readonly prompts: ReadonlyMap<string, string>;
}

function repositoryLayer({ config, prompts }: Brought): Layer[] {
  return config === undefined ? [] : [{ ...config, prompts }];
}

async function userLayer(file: string): Promise<Layer[]> {
  const read = await readText(file);
  if (read === undefined) return [];
  const table = await parsed(read.text, file);
  const prompts = new Map<string, string>();
  for (const named of namedPrompts(table)) prompts.set(named, (await readPrompt(named, file)).text);
  return [{ file, table, prompts }];
}

/** Earlier layers win, key by key. */
function merged(layers: readonly Layer[]): Omit<Config, "root" | "mcp" | "trust" | "requireTrustFor"> {
  const deferOver = first(layers, ({ table }) => table.tools?.defer_over);
  const tables = layers.map(({ table }) => table);
  const configured = layers.flatMap(({ table }) => Object.keys(table.agents ?? {}));
  const names = new Set([...configured, ...Object.keys(BUILT_IN)]);
  const agents = new Map(Array.from(names, (name) => [name, agentOf(name, layers)]));
  return {
    defaults: {
      agent: first(tables, ({ defaults }) => defaults?.agent) ?? configured[0] ?? "anthropic",
      maxRunning: first(tables, ({ defaults }) => defaults?.max_running),
    },
    agents,
    prices: new Map(tables.toReversed().flatMap(({ prices }) => Object.entries(prices ?? {}).map(priceOf))),
    providers: providersOf(tables),
    tools: { deferOver: deferOver === false ? Infinity : deferOver },
    worktree: worktreeOf(tables),
    pipelines: new Map(
      tables
        .toReversed()
        .flatMap(({ pipelines }) => Object.entries(pipelines ?? {}).map(([of, { stages }]) => [of, stages])),
    ),
    merge: {
      how: first(tables, ({ merge }) => merge?.how) ?? "merge",
      gate: first(tables, ({ merge }) => merge?.gate),
    },
    limits: {
      perRepository: first(tables, ({ limits }) => limits?.per_repository),
      providers: first(tables, ({ limits }) => limits?.providers) ?? {},
    },
    files: layers.map(({ file }) => file),
  };
}

const SETUP_TIMEOUT_S = 600;
const GIGABYTE = 1e9;

function worktreeOf(tables: readonly ConfigTable[]): WorktreeConfig {
  const quota = first(tables, ({ worktree }) => worktree?.quota_gb);
  return {
    setup: first(tables, ({ worktree }) => worktree?.setup),
    setupTimeout: first(tables, ({ worktree }) => worktree?.setup_timeout) ?? SETUP_TIMEOUT_S,
    copy: first(tables, ({ worktree }) => worktree?.copy) ?? [],
    port: first(tables, ({ worktree }) => worktree?.port) ?? true,
    branchPrefix: first(tables, ({ worktree }) => worktree?.branch_prefix) ?? "rookery/",
    quota: quota === undefined ? undefined : quota * GIGABYTE,
  };
}

function agentOf(name: string, layers: readonly Layer[]): AgentConfig {
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

function providersOf(tables: readonly ConfigTable[]): ReadonlyMap<string, ProviderConfig> {
  const names = new Set(tables.flatMap(({ providers }) => Object.keys(providers ?? {})));
  return new Map(
    Array.from(names, (name) => {
      const own = tables.flatMap(({ providers = {} }) =>
        Object.hasOwn(providers, name) ? (providers[name] ?? []) : [],
      );
      return [name, providerOf(own)];
    }),
  );
}

function providerOf(tables: readonly ProviderTable[]): ProviderConfig {
  return {
    kind: first(tables, ({ kind }) => kind),
    baseUrl: first(tables, ({ base_url }) => base_url),
    keyEnv: first(tables, ({ key_env }) => key_env),
    headers: first(tables, ({ headers }) => headers) ?? {},
    context: first(tables, ({ context }) => context),
    images: first(tables, ({ images }) => images),
  };
}

function priceOf([model, price]: [string, PriceTable]): [string, Price] {
  const { input, output, cache_read, cache_write } = price;
  return [model, { input, output, cacheRead: cache_read, cacheWrite: cache_write }];
}

function first<From, Value>(list: readonly From[], pick: (from: From) => Value | undefined): Value | undefined {
  for (const from of list) {
    const value = pick(from);
    if (value !== undefined) return value;
  }
  return undefined;
}
