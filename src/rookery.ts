/** The whole of Rookery behind one object: the log, the agents, and the sweep of what died. */
import { join, resolve } from "node:path";
import { withoutSecrets } from "./backends/index.ts";
import { homeFolder, loadConfig, resolveAgent, type Config } from "./config/index.ts";
import {
  RookeryError,
  type ListQuery,
  type McpServerSpec,
  type PermissionPolicy,
  type RemoteServerSpec,
  type SessionDesk,
  type SessionEvent,
  type SessionStore,
  type SessionSummary,
} from "./domain/index.ts";
import type { DeclaredServer } from "./domain/mcp-declared.ts";
import { lateAuthorizer, type Authorizer } from "./mcp/authorizer.ts";
import type { Bounds, McpServers } from "./mcp/index.ts";
import type { Authorizers } from "./mcp/oauth/index.ts";
import { mustBeFolder, preparing, type Given, type Surroundings } from "./opening.ts";
import {
  answerRequest,
  closeStored,
  createSession,
  deleteStored,
  forkStored,
  reopenSession,
  type Answer,
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
  readonly store?: SessionStore;
  readonly clock?: Clock;
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
  /** Can anyone be asked for a permission? If not, what needs one is refused. True if not said. */
  readonly attended?: boolean;
  readonly title?: string;
  /** The task that a new one is of. */
  readonly task?: string;
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

export class Rookery implements AsyncDisposable {
  readonly home: string;
  readonly store: SessionStore;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #cwd: string | undefined;
  readonly #clock: Clock;
  readonly #plugins: Parts["plugins"];
  #authorizers: Promise<Authorizers> | undefined;
  readonly #owner: Owner;
  readonly #owned: DisposeStack;
  readonly #sessions = new Set<Session>();
  #closed = false;

  private constructor(parts: Parts, owner: Owner, owned: DisposeStack) {
    this.home = parts.home;
    this.store = parts.store;
    this.#env = parts.env;
    this.#cwd = parts.cwd;
    this.#clock = parts.clock;
    this.#plugins = parts.plugins;
    this.#owner = owner;
    this.#owned = owned;
  }

  /** Opens the log and ends what killed processes left running. Rejects with a `store_*` error. */
  static async open(options: RookeryOptions = {}): Promise<Rookery> {
    const { env = process.env, cwd, clock = systemClock, plugins = [] } = options;
    const home = options.home ?? homeFolder(env);
    const owners = join(home, "owners");
    await using opening = new DisposeStack();
    const store = options.store ?? opening.use(await openSqliteStore({ path: join(home, "rookery.db") }));
    await sweepDeadOwners(owners);
    const owner = opening.use(openOwner(owners));
    return new Rookery({ env, home, cwd, clock, store, plugins }, owner, opening.move());
  }

  /**
   * A session to drive: a new one, or one of the log, whose interrupted turn goes on then.
   * Rejects in words where the folder, the trust, the agent, its key or the session is not there, or is in use.
   */
  async openSession(options: OpenSessionOptions = {}): Promise<Session> {
    const session = await this.#openSession(options);
    this.#sessions.add(session);
    if (this.#closed) {
      await session[Symbol.asyncDispose]();
      throw new RookeryError("store_closed", "Rookery was closed while the session was being opened");
    }
    return session;
  }

  /** Every event of a session after the cursor, then what comes, until the signal ends it. */
  follow(query: { session: string; after?: number; signal?: AbortSignal }): AsyncIterable<SessionEvent> {
    return this.store.follow({ sessionId: query.session, after: query.after ?? 0, signal: query.signal });
  }

  sessions(query?: ListQuery): Promise<readonly SessionSummary[]> {
    return this.store.list(query);
  }

  /** Answers a permission or a question, whichever process asked it. */
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void> {
    return answerRequest(this.store, { sessionId, requestId, answer, clock: this.#clock });
  }

  /** Ends a conversation; one that another process drives is stopped there. */
  closeSession(sessionId: string, reason?: string): Promise<void> {
    const opening = { store: this.store, clock: this.#clock, owner: this.#owner.claim(), attended: false };
    return closeStored(opening, sessionId, reason);
  }

  /**
   * A new session that begins with all ended turns of another, which may be driven or closed meanwhile and is not
   * touched. Resolves with its id, for opening it. Rejects with `session_not_found` or `cwd_missing`.
   */
  async forkSession(sessionId: string, options: { cwd?: string; title?: string } = {}): Promise<string> {
    const { title } = options;
    const cwd = options.cwd === undefined ? undefined : this.#folder(options.cwd);
    if (cwd !== undefined) await mustBeFolder(cwd);
    const forking = { store: this.store, clock: this.#clock, owner: this.#owner.claim() };
    return forkStored(forking, sessionId, { cwd, title });
  }

  /**
   * Forgets a session for good; one that is open here is let go of first. Rejects with `session_not_found`, or with
   * `session_in_use` while another process drives it.
   */
  async deleteSession(sessionId: string): Promise<void> {
    const open = [...this.#sessions].filter(({ id }) => id === sessionId);
    for (const session of open) await session[Symbol.asyncDispose]();
    await deleteStored({ store: this.store, clock: this.#clock, owner: this.#owner.claim() }, sessionId);
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
      env: withoutSecrets(this.#env),
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
    this.#owned.defer(() => allClosed([...this.#sessions]));
    await this.#owned[Symbol.asyncDispose](); // the sessions first, and the rest although one of them fails
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #openSession(options: OpenSessionOptions): Promise<Session> {
    const opening = {
      store: this.store,
      clock: this.#clock,
      owner: this.#owner.claim(),
      attended: options.attended ?? true,
      onReleased: (session: Session) => void this.#sessions.delete(session),
    };
    const { id, agent, model, permissions, title, task } = options;
    const cwd = options.cwd === undefined ? undefined : this.#folder(options.cwd);
    const prepare = preparing(this.#surroundings, options);
    return id === undefined
      ? createSession(opening, { agent, model, permissions, title, task, cwd: cwd ?? this.#folder(".") }, prepare)
      : reopenSession(opening, id, { agent, model, permissions, cwd }, prepare);
  }

  get #surroundings(): Surroundings {
    return {
      env: this.#env,
      plugins: this.#plugins,
      folder: (path) => this.#folder(path),
      authorizer: (spec) => this.authorizer(spec),
      claim: () => this.#owner.claim(),
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
