/** The whole of Rookery behind one object: the log, the agents, and the sweep of what died. */
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { acpBackend, apiBackend, type Wanted } from "./backends/index.ts";
import { homeFolder, loadConfig, resolveAgent, type AgentConfig, type Config } from "./config/index.ts";
import {
  RookeryError,
  type Backend,
  type ListQuery,
  type McpServerSpec,
  type PermissionPolicy,
  type RemoteServerSpec,
  type SessionEvent,
  type SessionStore,
  type SessionSummary,
} from "./domain/index.ts";
import { lateAuthorizer, type Authorizer } from "./mcp/authorizer.ts";
import type { Authorizers } from "./mcp/oauth/index.ts";
import {
  answerRequest,
  closeStored,
  createSession,
  deleteStored,
  forkStored,
  reopenSession,
  type Answer,
  type Prepare,
  type Session,
  type Settings,
} from "./session/index.ts";
import { DisposeStack, openOwner, sweepDeadOwners, systemClock, type Clock, type Owner } from "./stdx/index.ts";
import { openSqliteStore } from "./store/index.ts";
import type { Plugin } from "./tools/index.ts";

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
  readonly plugins?: readonly ((session: PluginSession) => Plugin)[];
}

/** What a plugin is made for. */
export interface PluginSession {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
}

type Parts = Required<Omit<RookeryOptions, "cwd">> & { readonly cwd: string | undefined };

export interface OpenSessionOptions {
  /** A session in the log; a new one if not said. */
  readonly id?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly permissions?: PermissionPolicy;
  /** Can anyone be asked for a permission? If not, what needs one is refused. True if not said. */
  readonly attended?: boolean;
  readonly title?: string;
  /** Over what the environment and the configuration say. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** MCP servers for this session, over those that are configured. Not kept in the log. */
  readonly mcpServers?: readonly McpServerSpec[];
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

  /** Lets go of every session, ends every process that was started from here, and closes the log. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const session of this.#sessions) this.#owned.use(session);
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
    const { id, agent, model, permissions, title } = options;
    const cwd = options.cwd === undefined ? undefined : this.#folder(options.cwd);
    const prepare = this.#preparing(options);
    return id === undefined
      ? createSession(opening, { agent, model, permissions, title, cwd: cwd ?? this.#folder(".") }, prepare)
      : reopenSession(opening, id, { agent, model, permissions, cwd }, prepare);
  }

  async #agent(cwd: string, name: string | undefined): Promise<AgentConfig & { config: Config }> {
    const config = await loadConfig({ cwd, env: this.#env });
    return { ...resolveAgent(config, name), config };
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

  /** Throws `backend_unsupported`. */
  #backend(
    agent: AgentConfig,
    {
      baseUrl,
      apiKey,
      prices,
      wanted,
    }: Pick<OpenSessionOptions, "baseUrl" | "apiKey"> & Pick<Config, "prices"> & { wanted: Wanted },
  ): Backend {
    const env = { ...this.#env, ...agent.env };
    switch (agent.backend) {
      case "api":
        return apiBackend({
          env,
          baseUrl: baseUrl ?? agent.baseUrl,
          apiKey,
          wanted,
          priceOf: (name) => prices.get(name),
        });
      case "acp":
        return acpBackend({ env, auth: agent.auth, serve: agent.serve, registry: agent.registry, wanted });
      case "claude-code":
      case "codex":
      case "gemini-cli":
      case "opencode":
        throw new RookeryError(
          "backend_unsupported",
          `agent ${agent.name} uses the backend ${agent.backend}, which this version does not drive yet: \`rookery agents\` lists what it does`,
        );
    }
  }

  /** What an agent is to have. Where there are no servers, nothing that has to do with them is loaded. */
  async #wanted(session: PluginSession, agent: AgentConfig, config: Config): Promise<Wanted> {
    const wanted = {
      filter: agent.tools,
      plugins: this.#plugins.map((make) => make(session)),
      deferOver: config.tools.deferOver,
      authorizer: (spec: RemoteServerSpec) => this.#authorizer(spec),
    };
    if (config.mcp.size === 0) return wanted;
    const { serversFor } = await import("./mcp/config/index.ts");
    const env = { ...this.#env, ...agent.env };
    return { ...wanted, servers: serversFor(config, agent, { cwd: session.cwd, env }) };
  }

  /** One for all sessions: two that need the same login do it once. */
  #authorizer(spec: RemoteServerSpec): Authorizer {
    return lateAuthorizer(async () => (await (this.#authorizers ??= this.#openAuthorizers())).for(spec));
  }

  async #openAuthorizers(): Promise<Authorizers> {
    const { openAuthorizers } = await import("./mcp/oauth/index.ts");
    return this.#owned.use(openAuthorizers({ folder: join(this.home, "mcp"), clock: this.#clock }));
  }

  /** What `given` says of a server and its key is for the agent that is opened, and for no other that comes after it. */
  #preparing(given: Pick<OpenSessionOptions, "baseUrl" | "apiKey" | "mcpServers">): Prepare {
    let first: string | undefined;
    return async (state, changes) => {
      const cwd = changes.cwd === undefined ? state.cwd : this.#folder(changes.cwd);
      await mustBeFolder(cwd);
      const isNew = state.head === 0;
      const { config, ...agent } = await this.#agent(cwd, changes.agent ?? (isNew ? undefined : state.agent));
      first ??= agent.name;
      const { prices } = config;
      const wanted = await this.#wanted({ sessionId: state.id, agent: agent.name, cwd }, agent, config);
      const backend = this.#backend(agent, { ...(agent.name === first && given), prices, wanted });
      const isSame = agent.name === state.agent && agent.backend === state.backend;
      const settings: Settings = {
        agent: agent.name,
        backend: agent.backend,
        model: changes.model ?? (isSame ? state.model : undefined) ?? agent.model,
        cwd,
        permissions: changes.permissions ?? (isNew ? (agent.permissions ?? "ask") : state.permissions),
      };
      const connect = () =>
        backend.open({
          sessionId: state.id,
          agent: { ...agent, model: settings.model },
          cwd,
          nativeId: isSame ? state.nativeId : undefined,
          mcpServers: given.mcpServers,
          saved: state,
          marker: this.#owner.claim(),
        });
      return { settings, connect };
    };
  }
}

async function mustBeFolder(cwd: string): Promise<void> {
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  const what = found === undefined ? "does not exist" : "is not a folder";
  throw new RookeryError("cwd_missing", `the working folder ${cwd} ${what}: give another with --cwd`);
}
