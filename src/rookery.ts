/** The composition root: one object that opens the store, and through which callers run agents, sessions and tasks. */
import { join, resolve } from "node:path";
import { homeFolder, loadConfig, resolveAgent, userDefaults, type Config } from "./config/index.ts";
import type { ConfigDescription } from "./config/describe.ts";
import { childEnvironment, withoutRookerySecrets } from "./domain/child-environment.ts";
import {
  RookeryError,
  type Budget,
  type FeedEvent,
  type InputPart,
  type ListQuery,
  type McpServerSpec,
  type PermissionPolicy,
  type RemoteServerSpec,
  type BetweenTurnsContext,
  type SessionEvent,
  type SessionSummary,
  type StartTask,
  type Store,
  type Tasks,
  type TaskView,
} from "./domain/index.ts";
import type { DeclaredServer } from "./domain/mcp-declared.ts";
import { lazyAuthorizer, type Authorizer } from "./mcp/authorizer.ts";
import type { Bounds, McpServers } from "./mcp/index.ts";
import type { Authorizers } from "./mcp/oauth/index.ts";
import { Pool, type RunTasks } from "./pool/index.ts";
import { prepareWith, requireFolder, type AgentOverrides, type SharedServices } from "./opening/index.ts";
import {
  DEFAULT_LEASE_TIMING,
  answerRequest,
  cancelStoredTurn,
  checkCancelOptions,
  checkConnectOptions,
  checkFollowQuery,
  checkForkOptions,
  checkOpenOptions,
  checkRemoteServerSpec,
  checkRookeryOptions,
  checkRunTasksOptions,
  checkSearchOptions,
  checkServersQuery,
  checkServerSpecs,
  checkTellOptions,
  checkText,
  closeStoredSession,
  createSession,
  deleteStoredSession,
  forkStoredSession,
  isOtherProcessError,
  reopenSession,
  settleStoredSession,
  parseRevokeOptions,
  queueStoredInput,
  revokeStoredGrant,
  withdrawStoredInput,
  searchSessions,
  type Answer,
  type Deliver,
  type BudgetOptions,
  type LeaseTiming,
  type NewSessionOptions,
  type RevokeOptions,
  type SearchQuery,
  type SearchResult,
  type Session,
} from "./session/index.ts";
import { DisposeStack, openOwner, sweepDeadOwners, systemClock, type Clock, type Owner } from "./stdx/index.ts";
import { openSqliteStore } from "./store/index.ts";

export type { PluginSession } from "./opening/index.ts";

export interface RookeryOptions {
  /** Environment variables for keys, URLs and folders. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Folder of the log. Default: `$ROOKERY_HOME`, or else `rookery` in the XDG state folder. */
  readonly home?: string;
  /** Working directory of sessions that are opened without one. Default: `process.cwd()`. */
  readonly cwd?: string;
  /** Store to use instead of the one in `home`. The caller closes it. */
  readonly store?: Store;
  readonly clock?: Clock;
  /** Duration of session and task leases. Must be the same in all processes that share a home. Default: 30 s, renewed every 10 s. */
  readonly leaseTiming?: LeaseTiming;
  /** Called for each agent that is opened, since a plugin belongs to one session. */
  readonly plugins?: SharedServices["plugins"];
}

type ResolvedOptions = Required<Omit<RookeryOptions, "cwd">> & { readonly cwd: string | undefined };

export interface OpenSessionOptions extends AgentOverrides {
  /** Id of an existing session. Default: a new session. */
  readonly id?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly permissions?: PermissionPolicy;
  readonly title?: string;
  /** Id of the task that a new session belongs to. */
  readonly task?: string;
  /**
   * What the whole session may use before a person is asked for more. Recorded in the log, so pass it again only to
   * change it. Enforced by the built-in agent.
   */
  readonly budget?: Budget;
  /** Budget of the whole task, and what the task has used in other sessions. */
  readonly taskBudget?: BudgetOptions["taskBudget"];
}

export interface ServersQuery {
  /** Default: the working directory of this `Rookery`. */
  readonly cwd?: string;
  /** Limits the result to the servers of this agent. */
  readonly agent?: string;
  /** For an untrusted repository: reject with `not_trusted`, or leave out its servers. Default: `refuse`. */
  readonly untrusted?: "refuse" | "leave_out";
}

/** The MCP servers declared for a folder. */
export interface ServersFound extends Pick<Config, "root" | "trust"> {
  /** Includes disabled servers. */
  readonly declared: readonly DeclaredServer[];
  readonly specs: readonly McpServerSpec[];
}

/** Default of `defaults.max_running`. */
const DEFAULT_MAX_RUNNING = 4;
/** How long the value from the user's configuration file is cached. */
const MAX_RUNNING_CACHE_MS = 2_000;

export class Rookery implements AsyncDisposable {
  readonly home: string;
  readonly store: Store;
  readonly #pool: Pool;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #cwd: string | undefined;
  readonly #clock: Clock;
  readonly #leaseTiming: LeaseTiming;
  readonly #plugins: ResolvedOptions["plugins"];
  #authorizers: Promise<Authorizers> | undefined;
  readonly #owner: Owner;
  readonly #owned: DisposeStack;
  readonly #stopping = new AbortController();
  readonly #runs = new Set<Promise<void>>();
  readonly #sessions = new Set<Session>();
  #maxRunningCache: { readonly at: number; readonly value: number } | undefined;
  #closed = false;

  private constructor(options: ResolvedOptions, owner: Owner, owned: DisposeStack) {
    this.home = options.home;
    this.store = options.store;
    this.#env = withoutRookerySecrets(options.env);
    this.#cwd = options.cwd;
    this.#clock = options.clock;
    this.#leaseTiming = options.leaseTiming;
    this.#plugins = options.plugins;
    this.#owner = owner;
    this.#owned = owned;
    this.#pool = this.#openPool();
  }

  /** Opens the store and ends the child processes of killed Rookery processes. Rejects with a `store_*` error. */
  static async open(options: RookeryOptions = {}): Promise<Rookery> {
    checkRookeryOptions(options);
    const { env = process.env, cwd, clock = systemClock, plugins = [] } = options;
    const { leaseTiming = DEFAULT_LEASE_TIMING } = options;
    const home = options.home ?? homeFolder(env);
    const owners = join(home, "owners");
    await using opening = new DisposeStack();
    const store = options.store ?? opening.use(await openSqliteStore({ path: join(home, "rookery.db") }));
    await sweepDeadOwners(owners);
    const owner = opening.use(openOwner(owners));
    return new Rookery({ env, home, cwd, clock, leaseTiming, store, plugins }, owner, opening.move());
  }

  /**
   * Opens a session for driving: a new one, or one in the log, whose interrupted turn then continues.
   * Rejects with `session_not_found`, `session_in_use`, `session_closed`, `cwd_missing`, `not_trusted`, `agent_unknown`,
   * or with the error of the agent that cannot start.
   */
  async openSession(options: OpenSessionOptions = {}): Promise<Session> {
    checkOpenOptions(options);
    return this.#open(options);
  }

  async #open(options: OpenSessionOptions & Pick<NewSessionOptions, "child">): Promise<Session> {
    const { id, agent, model, permissions, title, task, child, budget, taskBudget } = options;
    const cwd = options.cwd === undefined ? undefined : this.#resolveFolder(options.cwd);
    const prepare = prepareWith(this.#sharedServices, options);
    const opening = {
      ...this.#leaseOptions,
      attended: options.attended ?? true,
      onReleased: (released: Session) => void this.#sessions.delete(released),
    };
    const changes = { agent, model, permissions, budget, taskBudget };
    const session =
      id === undefined
        ? await createSession(
            opening,
            { ...changes, title, task, child, cwd: cwd ?? this.#resolveFolder(".") },
            prepare,
          )
        : await reopenSession(opening, id, { ...changes, cwd }, prepare);
    this.#sessions.add(session);
    if (this.#closed) {
      await session[Symbol.asyncDispose]();
      throw new RookeryError("store_closed", "Rookery was closed while the session was opening");
    }
    return session;
  }

  /**
   * Yields the events of a session after the cursor and then waits for new ones, until the signal aborts. For a task,
   * yields the events of the task and all its sessions; the cursor is then the position of an event in the feed.
   */
  follow(query: { session: string; after?: number; signal?: AbortSignal }): AsyncIterable<SessionEvent>;
  follow(query: { task: string; after?: number; signal?: AbortSignal }): AsyncIterable<FeedEvent>;
  follow(query: {
    session?: string;
    task?: string;
    after?: number;
    signal?: AbortSignal;
  }): AsyncIterable<SessionEvent> | AsyncIterable<FeedEvent> {
    checkFollowQuery(query);
    const { session = "", task, after = 0, signal } = query;
    if (task !== undefined) return this.#pool.follow({ task, after, signal });
    return this.store.follow({ sessionId: session, after, signal });
  }

  /** Task operations. Starting a task only queues it: `runTasks` runs it, in this process or another. */
  get tasks(): Tasks {
    return this.#pool;
  }

  startTask(request: StartTask): Promise<TaskView> {
    return this.#pool.start(request);
  }

  /**
   * Queues the demo task: a scripted model fixes a failing test in a repository below `home`. Needs no key. Rejects with
   * `git_missing` or `git_failed`.
   */
  async startDemoTask(): Promise<TaskView> {
    const { startDemoTask } = await import("./demo/index.ts");
    return startDemoTask({ home: this.home, env: this.#env, marker: this.#owner.claim(), tasks: this.#pool });
  }

  /**
   * Runs queued tasks of this home within the limits that all processes share, and resumes tasks of killed processes.
   * Resolves when the signal aborts or, with `only`, when that task has ended. Tasks that still run are queued again
   * for the next process that runs tasks.
   */
  async runTasks(given: Partial<RunTasks> = {}): Promise<void> {
    checkRunTasksOptions(given);
    const { signal, ...options } = given;
    const stop = new AbortController();
    const end = () => stop.abort();
    for (const cause of [signal, this.#stopping.signal]) {
      if (cause?.aborted === true) end();
      cause?.addEventListener("abort", end, { once: true });
    }
    const run = this.#pool.run({ ...options, signal: stop.signal });
    this.#runs.add(run);
    try {
      await run;
    } finally {
      this.#runs.delete(run);
      for (const cause of [signal, this.#stopping.signal]) cause?.removeEventListener("abort", end);
    }
  }

  sessions(query?: ListQuery): Promise<readonly SessionSummary[]> {
    return this.store.list(query);
  }

  /** Answers a permission request or a question, also if another process drives the session. */
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void> {
    return answerRequest(this.store, { sessionId, requestId, answer, clock: this.#clock });
  }

  /** Queues an input for a session; the process that drives it delivers the input. Resolves with the id of the input. */
  async tell(
    sessionId: string,
    input: string | readonly InputPart[],
    options: { deliver?: Deliver } = {},
  ): Promise<string> {
    checkTellOptions(options);
    return queueStoredInput(this.store, { sessionId, input, ...options, clock: this.#clock });
  }

  /**
   * Takes back an input that waits in the queue of a session, also if another process drives it. Resolves with the
   * input, also if it was taken back before. Rejects with `input_not_queued` if the agent has it already, with
   * `session_not_found` or `session_closed`.
   */
  async withdraw(sessionId: string, inputId: string): Promise<readonly InputPart[]> {
    checkText(sessionId, "the session id");
    checkText(inputId, "the input id");
    return withdrawStoredInput(this.store, { sessionId, inputId, clock: this.#clock });
  }

  /**
   * Cancels the running turn of a session. If another process drives it, that process ends the turn within a second; if
   * its process is dead, the turn ends here. Resolves with the id of the turn when the request is durable, or with
   * undefined if no turn runs. With `turnId`, cancels only this turn. Rejects with `session_not_found`, or with
   * `session_in_use` if the session belongs to a task: stop the task instead.
   */
  async cancelTurn(sessionId: string, options: { turnId?: string } = {}): Promise<string | undefined> {
    checkText(sessionId, "the session id");
    checkCancelOptions(options);
    const turnId = await cancelStoredTurn(this.store, { ...options, sessionId, clock: this.#clock });
    if (turnId !== undefined) {
      await this.#settle(sessionId, turnId).catch((error: unknown) => {
        if (!isOtherProcessError(error)) throw error;
      });
    }
    return turnId;
  }

  /**
   * Revokes a permission that a person gave for the rest of the session: the agent asks again before this tool runs, or
   * with `prefix` before commands run that start with these words. Changes nothing if there is none. If another process
   * drives the session, that process follows within a second. Rejects with `session_not_found` or `session_closed`.
   */
  async revoke(sessionId: string, tool: string, options: RevokeOptions = {}): Promise<void> {
    checkText(sessionId, "the session id");
    checkText(tool, "the tool");
    const { prefix } = parseRevokeOptions(options);
    return revokeStoredGrant(this.store, { sessionId, tool, prefix, clock: this.#clock });
  }

  /** Closes a session for good. If another process drives it, that process stops. */
  async closeSession(sessionId: string, reason?: string): Promise<void> {
    checkText(sessionId, "the session id");
    if (reason !== undefined) checkText(reason, "the reason");
    const opening = { ...this.#leaseOptions, attended: false };
    return closeStoredSession(opening, sessionId, reason);
  }

  /**
   * Creates a session with all ended turns of another one, which stays unchanged and may be running or closed.
   * With `through`, a `seq`, only turns that ended at or before it are copied. The copy has the current settings of the
   * source. Resolves with the id of the new session. Rejects with `session_not_found` or `cwd_missing`.
   */
  async forkSession(
    sessionId: string,
    options: { cwd?: string; title?: string; through?: number } = {},
  ): Promise<string> {
    checkText(sessionId, "the session id");
    checkForkOptions(options);
    const { title, through } = options;
    const cwd = options.cwd === undefined ? undefined : this.#resolveFolder(options.cwd);
    if (cwd !== undefined) await requireFolder(cwd);
    return forkStoredSession(this.#leaseOptions, sessionId, { cwd, title, through });
  }

  /**
   * Searches prompts, messages, tool calls and their output in the logs of all sessions, newest first. Searches for at
   * most half a second; pass `next` as `cursor` to continue.
   */
  async search(text: string, options: Omit<SearchQuery, "text"> = {}): Promise<SearchResult> {
    checkText(text, "the words");
    checkSearchOptions(options);
    return searchSessions(this.store, { ...options, text });
  }

  /**
   * Deletes a session and its log. Releases it first if it is open in this process. Rejects with `session_not_found`,
   * or with `session_in_use` if another process drives it.
   */
  async deleteSession(sessionId: string): Promise<void> {
    checkText(sessionId, "the session id");
    const open = [...this.#sessions].filter(({ id }) => id === sessionId);
    for (const session of open) await session[Symbol.asyncDispose]();
    await deleteStoredSession(this.#leaseOptions, sessionId);
  }

  /** Returns the MCP servers declared for a folder without starting them. */
  async declaredServers(query: ServersQuery = {}): Promise<ServersFound> {
    checkServersQuery(query);
    const { cwd = ".", agent, untrusted = "refuse" } = query;
    const folder = this.#resolveFolder(cwd);
    await requireFolder(folder);
    const leaveOut = untrusted === "leave_out" && { trust: "leave_out" as const };
    const config = await loadConfig({ cwd: folder, env: this.#env, ...leaveOut });
    const chosen: { mcp?: readonly string[] | undefined } = agent === undefined ? {} : resolveAgent(config, agent);
    const { selectServers } = await import("./mcp/config/index.ts");
    const specs = selectServers(config, chosen, { cwd: folder, env: this.#env });
    const declared = [...config.mcp.values()].filter(({ name }) => chosen.mcp?.includes(name) ?? true);
    return { root: config.root, trust: config.trust, declared, specs };
  }

  /**
   * Returns what the configuration files of a folder set, with secrets masked. Default: the working directory of this
   * `Rookery`. Rejects with `config_invalid` or `cwd_missing`.
   */
  async describeConfig(cwd = "."): Promise<ConfigDescription> {
    checkText(cwd, "the folder");
    const folder = this.#resolveFolder(cwd);
    await requireFolder(folder);
    const { describeConfig } = await import("./config/describe.ts");
    return describeConfig(folder, this.#env);
  }

  /** Connects to MCP servers without a session, to list and call their tools. The caller closes them. */
  async connectServers(
    specs: readonly McpServerSpec[],
    options: { cwd?: string; betweenTurns?: BetweenTurnsContext; bounds?: Partial<Bounds> } = {},
  ): Promise<McpServers> {
    checkServerSpecs(specs);
    checkConnectOptions(options);
    const { cwd = ".", betweenTurns, bounds } = options;
    const { openServers } = await import("./mcp/index.ts");
    const servers = openServers({
      servers: specs,
      cwd: this.#resolveFolder(cwd),
      env: childEnvironment(this.#env),
      marker: this.#owner.claim(),
      authorizer: (spec) => this.authorizer(spec),
      bounds,
    });
    if (betweenTurns !== undefined) servers.attach(betweenTurns);
    return servers;
  }

  /** Returns the login of a server. All sessions share it, so a person logs in once. */
  authorizer(spec: RemoteServerSpec): Authorizer {
    checkRemoteServerSpec(spec);
    return lazyAuthorizer(async () => (await (this.#authorizers ??= this.#openAuthorizers())).for(spec));
  }

  /** Releases every session, ends every process that it started, and closes the store. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopping.abort();
    await Promise.allSettled(this.#runs); // each task is queued again before its sessions are released
    this.#owned.defer(() => closeSessions([...this.#sessions]));
    await this.#owned[Symbol.asyncDispose](); // sessions close first; the rest closes even if one of them fails
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Options of every call that takes a lease. */
  get #leaseOptions() {
    return {
      store: this.store,
      clock: this.#clock,
      leaseTiming: this.#leaseTiming,
      owner: this.#owner.claim(),
    };
  }

  #openPool(): Pool {
    return new Pool({
      store: this.store,
      clock: this.#clock,
      leaseTiming: this.#leaseTiming,
      env: this.#env,
      home: this.home,
      claim: () => this.#owner.claim(),
      folder: (path) => this.#resolveFolder(path),
      openSession: (options) => this.openSession(options),
      settleSession: (id) => this.#settle(id),
      config: async (cwd) => {
        const { withReadyDefault } = await import("./backends/readiness.ts");
        return withReadyDefault(await loadConfig({ cwd, env: this.#env }), { env: this.#env, cwd });
      },
      maxRunning: () => this.#maxRunning(),
      sweep: async () => {
        await sweepDeadOwners(join(this.home, "owners"));
      },
    });
  }

  #settle(id: string, turnId?: string): Promise<void> {
    return settleStoredSession({ ...this.#leaseOptions, attended: false }, id, turnId);
  }

  /** Only the user's configuration file counts, since the limit applies to all repositories. */
  async #maxRunning(): Promise<number> {
    const now = performance.now();
    if (this.#maxRunningCache === undefined || now - this.#maxRunningCache.at > MAX_RUNNING_CACHE_MS) {
      const { maxRunning = DEFAULT_MAX_RUNNING } = await userDefaults(this.#env);
      this.#maxRunningCache = { at: now, value: maxRunning };
    }
    return this.#maxRunningCache.value;
  }

  get #sharedServices(): SharedServices {
    return {
      env: this.#env,
      plugins: this.#plugins,
      resolveFolder: (path) => this.#resolveFolder(path),
      authorizer: (spec) => this.authorizer(spec),
      claim: () => this.#owner.claim(),
      children: {
        store: this.store,
        open: (options) => this.#open(options),
        settle: (id) => this.#settle(id),
        answer: (sessionId, requestId, answer) => this.answer(sessionId, requestId, answer),
      },
    };
  }

  /** Throws `cwd_missing` if the current directory was deleted. */
  #resolveFolder(path: string): string {
    try {
      return resolve(this.#cwd ?? process.cwd(), path);
    } catch (cause) {
      const message = "the current directory was deleted; change to another one, or choose one with --cwd";
      throw new RookeryError("cwd_missing", message, { cause });
    }
  }

  async #openAuthorizers(): Promise<Authorizers> {
    const { openAuthorizers } = await import("./mcp/oauth/index.ts");
    return this.#owned.use(openAuthorizers({ folder: join(this.home, "mcp"), clock: this.#clock }));
  }
}

/** Closes all of them concurrently, so that a slow agent does not delay the others. */
async function closeSessions(sessions: readonly Session[]): Promise<void> {
  const closings = await Promise.allSettled(sessions.map((session) => session[Symbol.asyncDispose]()));
  const failures = closings.flatMap((closing) => (closing.status === "rejected" ? [closing.reason as unknown] : []));
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, "several sessions failed to close");
}
