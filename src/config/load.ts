/**
 * Loads the configuration of a directory: the repository's `rookery.toml` overrides the user's, which overrides the
 * built-in defaults.
 */
import { RookeryError } from "../domain/errors.ts";
import type { DeclaredServer } from "../domain/mcp-declared.ts";
import type { ProviderKind } from "../domain/provider.ts";
import { mergeAgent, BUILT_IN_AGENTS, type AgentConfig } from "./agent.ts";
import { type RepositoryFiles, listPromptNames, parseConfigFile, readRepositoryFiles } from "./repository-files.ts";
import { readPromptFile, readTextFile } from "./files.ts";
import { userConfigFile } from "./home.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { firstDefined, type ConfigLayer } from "./layer.ts";
import { didYouMean } from "./nearest.ts";
import type { ConfigTable, PriceTable, ProviderTable, StageTable } from "./schema.ts";
import { declaredServers, refuseUnknownServers } from "./servers.ts";
import { requireTrust, evaluateTrustFor, evaluateTrust, type DrivenProgram, type TrustState } from "./trust.ts";

export interface Config {
  readonly root: string;
  readonly defaults: {
    readonly agent: string;
    /** True if a file sets `defaults.agent`. If not, the first agent that is ready is used instead. */
    readonly agentChosen: boolean;
    readonly maxRunning: number | undefined;
  };
  /** Agents of the repository, then the user's, then the built-in ones. */
  readonly agents: ReadonlyMap<string, AgentConfig>;
  /** Prices by `provider/model`. */
  readonly prices: ReadonlyMap<string, PriceConfig>;
  /** Configured model APIs, by name. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Declared MCP servers, including disabled ones. `src/mcp/config` expands them. */
  readonly mcp: ReadonlyMap<string, DeclaredServer>;
  /** Undefined if not configured; `Infinity` for never. */
  readonly tools: { readonly deferOver: number | undefined };
  readonly worktree: WorktreeConfig;
  readonly pipelines: ReadonlyMap<string, readonly StageTable[]>;
  readonly merge: { readonly how: "merge" | "squash" | "rebase"; readonly gate: string | undefined };
  readonly limits: {
    readonly perRepository: number | undefined;
    readonly providers: Readonly<Record<string, number>>;
  };
  /** The files that were read. */
  readonly files: readonly string[];
  readonly trust: TrustState;
  /** Rejects with `not_trusted` if the program would obey untrusted files, or is itself an untrusted file. */
  requireTrustFor(program: DrivenProgram): Promise<void>;
}

export interface WorktreeConfig {
  readonly setup: string | undefined;
  /** The timeout of the setup command in seconds. Default: 600. */
  readonly setupTimeout: number;
  readonly copy: readonly string[];
  readonly port: boolean;
  /** Variables with credentials that setup, stages and gates get. */
  readonly passEnv: readonly string[];
  readonly branchPrefix: string;
  /** The disk quota of all worktrees in bytes. */
  readonly quota: number | undefined;
}

export interface ProviderConfig {
  readonly kind: ProviderKind | undefined;
  readonly baseUrl: string | undefined;
  /** The environment variable that contains the key. */
  readonly keyEnv: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** In tokens. */
  readonly context: number | undefined;
  readonly images: boolean | undefined;
}

/** USD per million tokens. */
export interface PriceConfig {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
}

export interface LoadOptions {
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  /**
   * How to treat an untrusted repository: reject, ignore its files, or read them only to check them. Default:
   * `require`.
   */
  readonly trust?: "require" | "leave_out" | "assume" | undefined;
}

/** Rejects with `config_invalid`, `not_trusted` or `cwd_missing`. */
export async function loadConfig({ cwd, env, trust = "require" }: LoadOptions): Promise<Config> {
  const brought = await readRepositoryFiles(cwd);
  const state = await evaluateTrust(brought, env);
  if (trust === "require") requireTrust(state);
  const leftOut = trust === "leave_out" && state.status === "untrusted";
  const requireTrustFor = async (program: DrivenProgram) =>
    requireTrust(await evaluateTrustFor(brought, program, env), cwd);
  const repository = repositoryLayer(brought);
  const user = await userLayer(userConfigFile(env));
  const layers = [...(leftOut ? [] : repository), ...user];
  refuseUnknownServers(layers, declaredServers({ repository, entries: brought.servers, user }));
  const mcp = declaredServers(leftOut ? { user } : { repository, entries: brought.servers, user });
  return { root: brought.root, ...mergeLayers(layers), mcp, trust: state, requireTrustFor };
}

/** Returns the agent of that name, or the default agent. Throws `agent_unknown`. */
export function resolveAgent(config: Config, name: string = config.defaults.agent): AgentConfig {
  const agent = config.agents.get(name);
  if (agent !== undefined) return agent;
  const guess = didYouMean(name, config.agents.keys());
  throw new RookeryError("agent_unknown", `there is no agent "${name}"${guess}; run rookery agents to list the agents`);
}

/** The environment variables with providers' keys, from `key_env` in the configuration. */
export function keyVariableNames({ providers }: Pick<Config, "providers">): string[] {
  return [...providers.values()].flatMap(({ keyEnv }) => keyEnv ?? []);
}

/** Reads the defaults of the user's configuration. Rejects with `config_invalid`. */
export async function userDefaults(env: EnvironmentVariables): Promise<Config["defaults"]> {
  return mergeLayers(await userLayer(userConfigFile(env))).defaults;
}

function repositoryLayer({ config, prompts }: RepositoryFiles): ConfigLayer[] {
  return config === undefined ? [] : [{ ...config, prompts }];
}

async function userLayer(file: string): Promise<ConfigLayer[]> {
  const read = await readTextFile(file);
  if (read === undefined) return [];
  const table = await parseConfigFile(read.text, file);
  const prompts = new Map<string, string>();
  for (const named of listPromptNames(table)) prompts.set(named, (await readPromptFile(named, file)).text);
  return [{ file, table, prompts }];
}

/** Merges layers key by key. Earlier layers win. */
function mergeLayers(layers: readonly ConfigLayer[]): Omit<Config, "root" | "mcp" | "trust" | "requireTrustFor"> {
  const deferOver = firstDefined(layers, ({ table }) => table.tools?.defer_over);
  const tables = layers.map(({ table }) => table);
  const configured = layers.flatMap(({ table }) => Object.keys(table.agents ?? {}));
  const names = new Set([...configured, ...BUILT_IN_AGENTS]);
  const chosenAgent = firstDefined(tables, ({ defaults }) => defaults?.agent);
  const agents = new Map(Array.from(names, (name) => [name, mergeAgent(name, layers)]));
  return {
    defaults: {
      agent: chosenAgent ?? configured[0] ?? "anthropic",
      agentChosen: chosenAgent !== undefined,
      maxRunning: firstDefined(tables, ({ defaults }) => defaults?.max_running),
    },
    agents,
    prices: new Map(tables.toReversed().flatMap(({ prices }) => Object.entries(prices ?? {}).map(toPriceConfig))),
    providers: mergeProviders(tables),
    tools: { deferOver: deferOver === false ? Infinity : deferOver },
    worktree: mergeWorktree(tables),
    pipelines: new Map(
      tables
        .toReversed()
        .flatMap(({ pipelines }) => Object.entries(pipelines ?? {}).map(([of, { stages }]) => [of, stages])),
    ),
    merge: {
      how: firstDefined(tables, ({ merge }) => merge?.how) ?? "merge",
      gate: firstDefined(tables, ({ merge }) => merge?.gate),
    },
    limits: {
      perRepository: firstDefined(tables, ({ limits }) => limits?.per_repository),
      providers: firstDefined(tables, ({ limits }) => limits?.providers) ?? {},
    },
    files: layers.map(({ file }) => file),
  };
}

const SETUP_TIMEOUT_S = 600;
const GIGABYTE = 1e9;

function mergeWorktree(tables: readonly ConfigTable[]): WorktreeConfig {
  const quota = firstDefined(tables, ({ worktree }) => worktree?.quota_gb);
  return {
    setup: firstDefined(tables, ({ worktree }) => worktree?.setup),
    setupTimeout: firstDefined(tables, ({ worktree }) => worktree?.setup_timeout) ?? SETUP_TIMEOUT_S,
    copy: firstDefined(tables, ({ worktree }) => worktree?.copy) ?? [],
    port: firstDefined(tables, ({ worktree }) => worktree?.port) ?? true,
    passEnv: firstDefined(tables, ({ worktree }) => worktree?.pass_env) ?? [],
    branchPrefix: firstDefined(tables, ({ worktree }) => worktree?.branch_prefix) ?? "rookery/",
    quota: quota === undefined ? undefined : quota * GIGABYTE,
  };
}

function mergeProviders(tables: readonly ConfigTable[]): ReadonlyMap<string, ProviderConfig> {
  const names = new Set(tables.flatMap(({ providers }) => Object.keys(providers ?? {})));
  return new Map(
    Array.from(names, (name) => {
      const own = tables.flatMap(({ providers = {} }) =>
        Object.hasOwn(providers, name) ? (providers[name] ?? []) : [],
      );
      return [name, mergeProvider(own)];
    }),
  );
}

function mergeProvider(tables: readonly ProviderTable[]): ProviderConfig {
  return {
    kind: firstDefined(tables, ({ kind }) => kind),
    baseUrl: firstDefined(tables, ({ base_url }) => base_url),
    keyEnv: firstDefined(tables, ({ key_env }) => key_env),
    headers: firstDefined(tables, ({ headers }) => headers) ?? {},
    context: firstDefined(tables, ({ context }) => context),
    images: firstDefined(tables, ({ images }) => images),
  };
}

function toPriceConfig([model, price]: [string, PriceTable]): [string, PriceConfig] {
  const { input, output, cache_read, cache_write } = price;
  return [model, { input, output, cacheRead: cache_read, cacheWrite: cache_write }];
}
