/** How a session starts: a new one, one of the agent's history, or a fork of it. */
import { isAbsolute } from "node:path";
import { RookeryError } from "../../domain/errors.ts";
import type { InProcessServer, McpDeclaration } from "../mcp/declaration.ts";
import { mergeSessionOptions, type SessionOptions } from "./session-handlers.ts";
import type { ClientSession } from "./session.ts";
import type { SessionSetupMethod } from "./session-setup.ts";

/** A request to start a session; it may carry fields of its own. */
export type SessionRequest = { readonly cwd: string } & Readonly<Record<string, unknown>>;

export interface SessionStart {
  readonly method: SessionSetupMethod;
  readonly params: SessionRequest;
  readonly mcpServers: readonly (McpDeclaration | InProcessServer)[];
  readonly options: SessionOptions;
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface StartOptions {
  /** The start is given up: it rejects with the signal's reason at once, and what the agent starts nonetheless is closed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Made by `client.session(cwd)`; can be used for several sessions. Whatever starts one rejects with `PeerError` where
 * the agent refuses (`code` -32000: log in first), and with `backend_unsupported` where it does not offer the way.
 */
export class SessionBuilder {
  readonly #start: (wanted: SessionStart) => Promise<ClientSession>;
  readonly #request: Record<string, unknown> & { readonly cwd: string };
  readonly #mcpServers: (McpDeclaration | InProcessServer)[];
  #options: SessionOptions;

  /** Throws `input_invalid` where a folder is not absolute. */
  constructor(
    request: SessionRequest,
    options: SessionOptions,
    start: (wanted: SessionStart) => Promise<ClientSession>,
  ) {
    const { mcpServers, additionalDirectories } = request;
    assertAbsolutePath(request.cwd);
    for (const path of toList(additionalDirectories)) assertAbsolutePath(path);
    this.#request = { ...request };
    this.#mcpServers = toList(mcpServers) as McpDeclaration[];
    this.#options = options;
    this.#start = start;
  }

  /**
   * A server as the protocol declares it, also of a type that is not known here, or one of this process. The agent is
   * given it in a form that it says it takes; one of this process is there until the session is left.
   */
  mcpServer(server: McpDeclaration | InProcessServer): this {
    this.#mcpServers.push(server);
    return this;
  }

  /** Roots beside the working folder. Throws `input_invalid` where one is not absolute. */
  directories(...paths: readonly string[]): this {
    for (const path of paths) assertAbsolutePath(path);
    this.#request["additionalDirectories"] = [...toList(this.#request["additionalDirectories"]), ...paths];
    return this;
  }

  /** `_meta` of the request. */
  meta(meta: Readonly<Record<string, unknown>>): this {
    this.#request["_meta"] = meta;
    return this;
  }

  /**
   * What this session's client does for the agent, over what it does for every session. The agent was told in the
   * beginning what the client can do: what is served here alone has to be in `capabilities` of `connectClient`.
   */
  serve(options: SessionOptions): this {
    this.#options = mergeSessionOptions(this.#options, options);
    return this;
  }

  create(options: StartOptions = {}): Promise<ClientSession> {
    return this.#with("session/new", undefined, options);
  }

  /** The agent replays the whole history before it answers: `take()` of the session gives it, each update as `replay`. */
  load(sessionId: string, options: StartOptions = {}): Promise<ClientSession> {
    return this.#with("session/load", sessionId, options);
  }

  /** The agent replays nothing. */
  resume(sessionId: string, options: StartOptions = {}): Promise<ClientSession> {
    return this.#with("session/resume", sessionId, options);
  }

  /** A new session that begins with what another one holds. */
  fork(sessionId: string, options: StartOptions = {}): Promise<ClientSession> {
    return this.#with("session/fork", sessionId, options);
  }

  #with(method: SessionSetupMethod, id: string | undefined, { signal }: StartOptions): Promise<ClientSession> {
    return this.#start({
      method,
      params: { ...this.#request, ...(id !== undefined && { sessionId: id }) },
      mcpServers: [...this.#mcpServers],
      options: this.#options,
      sessionId: method === "session/load" || method === "session/resume" ? id : undefined,
      signal,
    });
  }
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? [...(value as unknown[])] : [];
}

function assertAbsolutePath(path: unknown): void {
  if (typeof path === "string" && isAbsolute(path)) return;
  throw new RookeryError("input_invalid", `"${String(path)}" is not an absolute path: the protocol takes no other`);
}
