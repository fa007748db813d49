/** The configuration of a folder: the repository's `rookery.toml` over the user's, over what is built in. */
import { RookeryError } from "../domain/errors.ts";
import type { DeclaredServer } from "../domain/mcp-declared.ts";
import type { ProviderKind } from "../domain/provider.ts";
import { agentOf, BUILT_IN_AGENTS, type AgentConfig } from "./agent.ts";
import { type Brought, namedPrompts, parsed, readBrought } from "./brought.ts";
import { readPrompt, readText } from "./files.ts";
import { type Env, userConfigFile } from "./home.ts";
import { first, type Layer } from "./layer.ts";
import { didYouMean } from "./nearest.ts";
import type { ConfigTable, PriceTable, ProviderTable, StageTable } from "./schema.ts";
import { declaredServers, refuseUnknownServers } from "./servers.ts";
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

export interface WorktreeConfig {
  readonly setup: string | undefined;
  /** In seconds. */
  readonly setupTimeout: number;
  readonly copy: readonly string[];
  readonly port: boolean;
  /** Variables that set-up, stages and gates get although they hold credentials. */
  readonly passEnv: readonly string[];
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

/** The variables that hold the keys of providers, as the configuration names them (`key_env`). */
export function keyVariableNames({ providers }: Pick<Config, "providers">): string[] {
  return [...providers.values()].flatMap(({ keyEnv }) => keyEnv ?? []);
}

/** What the user's own file says for all repositories. Rejects with `config_invalid`. */
export async function userDefaults(env: Env): Promise<Config["defaults"]> {
  return merged(await userLayer(userConfigFile(env))).defaults;
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
  const names = new Set([...configured, ...BUILT_IN_AGENTS]);
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
    passEnv: first(tables, ({ worktree }) => worktree?.pass_env) ?? [],
    branchPrefix: first(tables, ({ worktree }) => worktree?.branch_prefix) ?? "rookery/",
    quota: quota === undefined ? undefined : quota * GIGABYTE,
  };
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
