/** The whole of Rookery behind one object: the log, the agents, and the sweep of what died. */
import { join, resolve } from "node:path";
import { homeFolder, loadConfig, resolveAgent, userDefaults, type Config } from "./config/index.ts";
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
  type SessionDesk,
  type SessionEvent,
  type SessionSummary,
  type StartTask,
  type Store,
  type Tasks,
  type TaskView,
} from "./domain/index.ts";
import type { DeclaredServer } from "./domain/mcp-declared.ts";
import { lateAuthorizer, type Authorizer } from "./mcp/authorizer.ts";
import type { Bounds, McpServers } from "./mcp/index.ts";
import type { Authorizers } from "./mcp/oauth/index.ts";
import { Pool, type RunTasks } from "./pool/index.ts";
import { mustBeFolder, preparing, type Given, type Surroundings } from "./opening.ts";
import {
  DEFAULT_LEASE_TIMING,
  answerRequest,
  checkForkOptions,
  checkOpenOptions,
  checkText,
  closeStored,
  createSession,
  deleteStored,
  forkStored,
  reopenSession,
  settleStored,
  tellStored,
  type Answer,
  type Deliver,
  type Allowed,
  type LeaseTiming,
  type NewSession,
  type Session,
} from "./session/index.ts";
import { DisposeStack, openOwner, sweepDeadOwners, systemClock, type Clock, type Owner } from "./stdx/index.ts";
import { openSqliteStore } from "./store/index.ts";

export type { PluginSession } from "./opening.ts";

export interface RookeryOptions {
  /** Where keys, URLs and folders are looked up; the process's environment if not said. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where the log is kept; `$ROOKERY_HOME` or the XDG state folder if not said. */
  readonly home?: string;
  /** The working folder of sessions that name none. */
  readonly cwd?: string;
  /** Another log than the one in `home`; the caller closes it. */
  readonly store?: Store;
  readonly clock?: Clock;
  /** How long leases of sessions and tasks last; the same for all processes of a home. Default: 30 s, renewed every 10 s. */
  readonly leaseTiming?: LeaseTiming;
  /** Called for each agent that is opened: a plugin belongs to one session. */
  readonly plugins?: Surroundings["plugins"];
}

type Parts = Required<Omit<RookeryOptions, "cwd">> & { readonly cwd: string | undefined };

export interface OpenSessionOptions extends Given {
  /** A session in the log; a new one if not said. */
  readonly id?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly permissions?: PermissionPolicy;
  readonly title?: string;
  /** The task that a new one is of. */
  readonly task?: string;
  /**
   * What it may use from its beginning on before a person is asked for more. Kept in the log: said again only to change
   * it. Held by the built-in agent.
   */
  readonly budget?: Budget;
  /** The same for the whole task, and what it has used in other sessions. */
  readonly taskBudget?: Allowed["taskBudget"];
}

export interface ServersQuery {
  /** The working folder of Rookery if not said. */
  readonly cwd?: string;
  /** Only what this agent gets. */
  readonly agent?: string;
  /** What to do with servers of a repository that nobody trusts: reject with `not_trusted` if not said. */
  readonly untrusted?: "refuse" | "leave_out";
}

/** What is declared for a folder, and how it is to be used there. */
export interface ServersFound extends Pick<Config, "root" | "trust"> {
  /** Also those that are switched off. */
  readonly declared: readonly DeclaredServer[];
  readonly specs: readonly McpServerSpec[];
}

/** Tasks at once, where the user says nothing. */
const MAX_RUNNING = 4;
/** How long the user's file is not read again. */
const LIMIT_MS = 2_000;

export class Rookery implements AsyncDisposable {
  readonly home: string;
  readonly store: Store;
  readonly #pool: Pool;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #cwd: string | undefined;
  readonly #clock: Clock;
  readonly #leaseTiming: LeaseTiming;
  readonly #plugins: Parts["plugins"];
  #authorizers: Promise<Authorizers> | undefined;
  readonly #owner: Owner;
  readonly #owned: DisposeStack;
  readonly #stopping = new AbortController();
  readonly #runs = new Set<Promise<void>>();
  readonly #sessions = new Set<Session>();
  #limit: { readonly at: number; readonly running: number } | undefined;
  #closed = false;

  private constructor(parts: Parts, owner: Owner, owned: DisposeStack) {
    this.home = parts.home;
    this.store = parts.store;
    this.#env = withoutRookerySecrets(parts.env);
    this.#cwd = parts.cwd;
    this.#clock = parts.clock;
    this.#leaseTiming = parts.leaseTiming;
    this.#plugins = parts.plugins;
    this.#owner = owner;
    this.#owned = owned;
    this.#pool = this.#openPool();
  }

  /** Opens the log and ends what killed processes left running. Rejects with a `store_*` error. */
  static async open(options: RookeryOptions = {}): Promise<Rookery> {
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
   * A session to drive: a new one, or one of the log, whose interrupted turn goes on then.
   * Rejects in words where the folder, the trust, the agent, its key or the session is not there, or is in use.
   */
  async openSession(options: OpenSessionOptions = {}): Promise<Session> {
    checkOpenOptions(options);
    return this.#opened(options);
  }

  async #opened(options: OpenSessionOptions & Pick<NewSession, "child">): Promise<Session> {
    const session = await this.#openSession(options);
    this.#sessions.add(session);
    if (this.#closed) {
      await session[Symbol.asyncDispose]();
      throw new RookeryError("store_closed", "Rookery was closed while the session was being opened");
    }
    return session;
  }

  /**
   * Every event of a session after the cursor, then what comes, until the signal ends it; or those of a task and all its
   * sessions, each with its position, which is the cursor then.
   */
  follow(query: { session: string; after?: number; signal?: AbortSignal }): AsyncIterable<SessionEvent>;
  follow(query: { task: string; after?: number; signal?: AbortSignal }): AsyncIterable<FeedEvent>;
  follow(query: {
    session?: string;
    task?: string;
    after?: number;
    signal?: AbortSignal;
  }): AsyncIterable<SessionEvent> | AsyncIterable<FeedEvent> {
    const { session = "", task, after = 0, signal } = query;
    if (task !== undefined) return this.#pool.follow({ task, after, signal });
    return this.store.follow({ sessionId: session, after, signal });
  }

  /** What can be done with tasks. Giving one does not run it: `runTasks` does, in this process or another. */
  get tasks(): Tasks {
    return this.#pool;
  }

  startTask(request: StartTask): Promise<TaskView> {
    return this.#pool.start(request);
  }

  /**
   * Runs tasks that are queued, whoever gave them, within the limits that all processes share, and goes on with what a
   * killed process left: until the signal fires or, where one is named, that task has ended. What runs then is queued
   * again, and goes on with whoever runs tasks next.
   */
  async runTasks({ signal, ...options }: Partial<RunTasks> = {}): Promise<void> {
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

  /** Answers a permission or a question, whichever process asked it. */
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void> {
    return answerRequest(this.store, { sessionId, requestId, answer, clock: this.#clock });
  }

  /** Gives a session an input, whichever process drives it, or the next one that does. Resolves with the input's id. */
  tell(sessionId: string, input: string | readonly InputPart[], options: { deliver?: Deliver } = {}): Promise<string> {
    return tellStored(this.store, { sessionId, input, ...options, clock: this.#clock });
  }

  /** Ends a conversation; one that another process drives is stopped there. */
  async closeSession(sessionId: string, reason?: string): Promise<void> {
    checkText(sessionId, "the session's id");
    if (reason !== undefined) checkText(reason, "the reason");
    const opening = { ...this.#leasing, attended: false };
    return closeStored(opening, sessionId, reason);
  }

  /**
   * A new session that begins with all ended turns of another, which may be driven or closed meanwhile and is not
   * touched. Resolves with its id, for opening it. Rejects with `session_not_found` or `cwd_missing`.
   */
  async forkSession(sessionId: string, options: { cwd?: string; title?: string } = {}): Promise<string> {
    checkText(sessionId, "the session's id");
    checkForkOptions(options);
    const { title } = options;
    const cwd = options.cwd === undefined ? undefined : this.#folder(options.cwd);
    if (cwd !== undefined) await mustBeFolder(cwd);
    const forking = { ...this.#leasing };
    return forkStored(forking, sessionId, { cwd, title });
  }

  /**
   * Forgets a session for good; one that is open here is let go of first. Rejects with `session_not_found`, or with
   * `session_in_use` while another process drives it.
   */
  async deleteSession(sessionId: string): Promise<void> {
    checkText(sessionId, "the session's id");
    const open = [...this.#sessions].filter(({ id }) => id === sessionId);
    for (const session of open) await session[Symbol.asyncDispose]();
    await deleteStored({ ...this.#leasing }, sessionId);
  }

  /** The MCP servers that are declared for a folder; none is started. */
  async declaredServers({ cwd = ".", agent, untrusted = "refuse" }: ServersQuery = {}): Promise<ServersFound> {
    const folder = this.#folder(cwd);
    await mustBeFolder(folder);
    const leaveOut = untrusted === "leave_out" && { trust: "leave_out" as const };
    const config = await loadConfig({ cwd: folder, env: this.#env, ...leaveOut });
    const chosen: { mcp?: readonly string[] | undefined } = agent === undefined ? {} : resolveAgent(config, agent);
    const { serversFor } = await import("./mcp/config/index.ts");
    const specs = serversFor(config, chosen, { cwd: folder, env: this.#env });
    const declared = [...config.mcp.values()].filter(({ name }) => chosen.mcp?.includes(name) ?? true);
    return { root: config.root, trust: config.trust, declared, specs };
  }

  /** Servers without a session, for looking at them and calling their tools; the caller closes them. */
  async connectServers(
    specs: readonly McpServerSpec[],
    { cwd = ".", desk, bounds }: { cwd?: string; desk?: SessionDesk; bounds?: Partial<Bounds> } = {},
  ): Promise<McpServers> {
    const { openServers } = await import("./mcp/index.ts");
    const servers = openServers({
      servers: specs,
      cwd: this.#folder(cwd),
      env: childEnvironment(this.#env),
      marker: this.#owner.claim(),
      authorizer: (spec) => this.authorizer(spec),
      bounds,
    });
    if (desk !== undefined) servers.attach(desk);
    return servers;
  }

  /** The login of a server: one for all sessions, so that two that need the same do it once. */
  authorizer(spec: RemoteServerSpec): Authorizer {
    return lateAuthorizer(async () => (await (this.#authorizers ??= this.#openAuthorizers())).for(spec));
  }

  /** Lets go of every session, ends every process that was started from here, and closes the log. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopping.abort();
    await Promise.allSettled(this.#runs); // each task is queued again before its sessions are let go
    this.#owned.defer(() => allClosed([...this.#sessions]));
    await this.#owned[Symbol.asyncDispose](); // the sessions first, and the rest although one of them fails
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #openSession(options: OpenSessionOptions & Pick<NewSession, "child">): Promise<Session> {
    const opening = {
      ...this.#leasing,
      attended: options.attended ?? true,
      onReleased: (session: Session) => void this.#sessions.delete(session),
    };
    const { id, agent, model, permissions, title, task, child, budget, taskBudget } = options;
    const cwd = options.cwd === undefined ? undefined : this.#folder(options.cwd);
    const prepare = preparing(this.#surroundings, options);
    return id === undefined
      ? createSession(
          opening,
          { agent, model, permissions, title, task, child, budget, taskBudget, cwd: cwd ?? this.#folder(".") },
          prepare,
        )
      : reopenSession(opening, id, { agent, model, permissions, budget, taskBudget, cwd }, prepare);
  }

  /** What whoever takes a lease needs. */
  get #leasing() {
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
      folder: (path) => this.#folder(path),
      openSession: (options) => this.openSession(options),
      settleSession: (id) => this.#settle(id),
      config: (cwd) => loadConfig({ cwd, env: this.#env }),
      maxRunning: () => this.#maxRunning(),
      sweep: async () => {
        await sweepDeadOwners(join(this.home, "owners"));
      },
    });
  }

  #settle(id: string): Promise<void> {
    return settleStored({ ...this.#leasing, attended: false }, id);
  }

  /** By the user's own file alone: it is for all repositories. */
  async #maxRunning(): Promise<number> {
    const now = performance.now();
    if (this.#limit === undefined || now - this.#limit.at > LIMIT_MS) {
      this.#limit = { at: now, running: (await userDefaults(this.#env)).maxRunning ?? MAX_RUNNING };
    }
    return this.#limit.running;
  }

  get #surroundings(): Surroundings {
    return {
      env: this.#env,
      plugins: this.#plugins,
      folder: (path) => this.#folder(path),
      authorizer: (spec) => this.authorizer(spec),
      claim: () => this.#owner.claim(),
      children: {
        store: this.store,
        open: (options) => this.#opened(options),
        settle: (id) => this.#settle(id),
        answer: (...given) => this.answer(...given),
      },
    };
  }

  #folder(path: string): string {
    try {
      return resolve(this.#cwd ?? process.cwd(), path);
    } catch (cause) {
      throw new RookeryError("cwd_missing", "the current folder is gone: go to another, or give one with --cwd", {
        cause,
      });
    }
  }

  async #openAuthorizers(): Promise<Authorizers> {
    const { openAuthorizers } = await import("./mcp/oauth/index.ts");
    return this.#owned.use(openAuthorizers({ folder: join(this.home, "mcp"), clock: this.#clock }));
  }
}

/** At once: an agent that does not want to end is waited for while the others are ended. */
async function allClosed(sessions: readonly Session[]): Promise<void> {
  const closings = await Promise.allSettled(sessions.map((session) => session[Symbol.asyncDispose]()));
  const failures = closings.flatMap((closing) => (closing.status === "rejected" ? [closing.reason as unknown] : []));
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, "several sessions could not be closed");
}
