/** Logins to MCP servers that a client starts: the client opens the page of the login, and asks how it went. */
import { messageOf, RookeryError, type McpServerSpec, type RemoteServerSpec } from "../../domain/index.ts";
import { createSessionlessContext, type AskQuestion } from "../../mcp/sessionless.ts";
import { deadline } from "../../stdx/index.ts";
import type { ServedRookery } from "./served-rookery.ts";

export interface McpLogin {
  readonly server: string;
  /** `none`: no login was started. `not_needed`: the server is ready. */
  readonly status: "none" | "not_needed" | "waiting" | "done" | "declined" | "cancelled" | "failed";
  /** The page on which a person logs in. Set while it waits. */
  readonly url?: string | undefined;
  readonly reason?: string | undefined;
}

interface StartedLogin {
  login: McpLogin;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

const CONNECT_MS = 15_000;
const LOGIN_MS = 300_000;
/** Beyond this, a new login replaces the oldest one. */
const MAX_LOGINS = 20;

export class McpLogins implements AsyncDisposable {
  readonly #rookery: ServedRookery;
  readonly #started = new Map<string, StartedLogin>();
  /** Every login whose connection is open, including those that another one replaced. */
  readonly #open = new Set<StartedLogin>();
  readonly #closing = new AbortController();

  constructor(rookery: ServedRookery) {
    this.#rookery = rookery;
  }

  /** The last login to this server that was started here. */
  read(server: string, cwd: string | undefined): McpLogin {
    return this.#started.get(toKey(server, cwd))?.login ?? { server, status: "none" };
  }

  /**
   * Ends an earlier login to this server. Resolves when the page of the login is known, or no login is needed. Rejects
   * with `mcp_unknown`, `mcp_unavailable` or `usage`, and with `interrupted` if the server closes.
   */
  async start(server: string, cwd: string | undefined): Promise<McpLogin> {
    const spec = await this.#findRemote(server, cwd);
    const key = toKey(server, cwd);
    // Another request may start a login while this one waits, so check again after each wait.
    while (this.#started.has(key)) await this.#stop(key);
    this.#closing.signal.throwIfAborted();
    for (const [oldest] of this.#started) {
      if (this.#started.size < MAX_LOGINS) break;
      void this.#stop(oldest);
    }
    const stop = new AbortController();
    return new Promise((resolve, reject) => {
      const started: StartedLogin = { login: { server, status: "waiting" }, stop, ended: Promise.resolve() };
      const set = (login: McpLogin): void => {
        started.login = login;
        resolve(login); // the first one counts
      };
      const run = this.#run(spec, cwd, stop.signal, set).catch((error: unknown) => {
        started.login = { server, status: "failed", reason: messageOf(error) };
        reject(error instanceof Error ? error : new Error(messageOf(error))); // no effect if the page was known
      });
      const ended = run.finally(() => this.#open.delete(started));
      this.#open.add(Object.assign(started, { ended }));
      this.#started.set(key, started);
    });
  }

  /** Resolves with whether there were tokens. Rejects like `start`. */
  async logOut(server: string, cwd: string | undefined): Promise<boolean> {
    const spec = await this.#findRemote(server, cwd);
    await this.#stop(toKey(server, cwd));
    using enough = deadline(CONNECT_MS, this.#closing.signal);
    return await this.#rookery.authorizer(spec).logout({ signal: enough.signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const message = "the server is closing; start the login again when it runs";
    this.#closing.abort(new RookeryError("interrupted", message));
    for (const { stop } of this.#open) stop.abort();
    await Promise.all(Array.from(this.#open, ({ ended }) => ended));
    this.#started.clear();
  }

  async #stop(key: string): Promise<void> {
    const started = this.#started.get(key);
    this.#started.delete(key);
    started?.stop.abort();
    await started?.ended;
  }

  async #run(
    spec: RemoteServerSpec,
    cwd: string | undefined,
    signal: AbortSignal,
    set: (login: McpLogin) => void,
  ): Promise<void> {
    const server = spec.name;
    const ask: AskQuestion = ({ url }, { completed, signal: over } = {}) => {
      set({ server, status: "waiting", url });
      return new Promise((resolve, reject) => {
        void completed?.then(
          () => resolve({ action: "accept" }),
          () => undefined,
        );
        over?.addEventListener("abort", () => reject(over.reason as Error), { once: true });
      });
    };
    await using servers = await this.#rookery.connectServers([spec], {
      ...(cwd !== undefined && { cwd }),
      betweenTurns: createSessionlessContext(ask),
      bounds: { firstTries: 1 },
    });
    using patience = deadline(CONNECT_MS, signal);
    await servers.settled({ signal: patience.signal }).catch(() => undefined);
    const state = servers.snapshot().servers.find(({ name }) => name === server);
    if (state?.status === "ready") return set({ server, status: "not_needed" });
    if (state?.status !== "needs_login") {
      throw new RookeryError(
        "mcp_unavailable",
        `${server} cannot be reached: ${state?.reason ?? "it does not answer"}`,
      );
    }
    using limit = deadline(LOGIN_MS, signal);
    const outcome = await servers.login(server, { signal: limit.signal });
    if (limit.isLate && outcome.status !== "done") {
      return set({ server, status: "failed", reason: `the login page was not completed within ${LOGIN_MS / 1_000} s` });
    }
    set({ server, ...outcome });
  }

  async #findRemote(server: string, cwd: string | undefined): Promise<RemoteServerSpec> {
    const { specs } = await this.#rookery.declaredServers({
      ...(cwd !== undefined && { cwd }),
      untrusted: "leave_out",
    });
    const spec: McpServerSpec | undefined = specs.find(({ name }) => name === server);
    if (spec === undefined) throw new RookeryError("mcp_unknown", `no MCP server ${server} is usable in this folder`);
    if (spec.type === "http" || spec.type === "sse") return spec;
    throw new RookeryError("usage", `${server} is a local program and has no login; pass its credentials in env`);
  }
}

function toKey(server: string, cwd: string | undefined): string {
  return JSON.stringify([server, cwd]);
}
