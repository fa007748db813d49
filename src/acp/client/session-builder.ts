/** Starts a session: a new one, an existing one of the agent, or a fork. */
import { isAbsolute } from "node:path";
import { RookeryError } from "../../domain/errors.ts";
import type { InProcessServer, McpDeclaration } from "../mcp/declaration.ts";
import { mergeSessionOptions, type SessionOptions } from "./session-handlers.ts";
import type { ClientSession } from "./session.ts";
import type { SessionSetupMethod } from "./session-setup.ts";

/** The params of the request that starts a session. Extension fields are allowed. */
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
  /**
   * Gives up waiting: the start rejects with the signal's reason, and a session that the agent still creates is closed.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Created by `client.session(cwd)`; can start several sessions. Every start rejects with `PeerError` if the agent
 * refuses (`code` -32000: log in first), and with `backend_unsupported` if the agent does not offer the method.
 */
export class SessionBuilder {
  readonly #start: (sessionStart: SessionStart) => Promise<ClientSession>;
  readonly #request: Record<string, unknown> & { readonly cwd: string };
  readonly #mcpServers: (McpDeclaration | InProcessServer)[];
  #options: SessionOptions;

  /** Throws `input_invalid` if a directory is not absolute. */
  constructor(
    request: SessionRequest,
    options: SessionOptions,
    start: (sessionStart: SessionStart) => Promise<ClientSession>,
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
   * Adds an MCP server: a declaration of the protocol, including unknown types, or a server in this process. The agent
   * gets it in a form that it advertises. A server in this process stays available until the session is closed or
   * disposed.
   */
  mcpServer(server: McpDeclaration | InProcessServer): this {
    this.#mcpServers.push(server);
    return this;
  }

  /** Adds workspace roots besides the working directory. Throws `input_invalid` if one is not absolute. */
  directories(...paths: readonly string[]): this {
    for (const path of paths) assertAbsolutePath(path);
    this.#request["additionalDirectories"] = [...toList(this.#request["additionalDirectories"]), ...paths];
    return this;
  }

  /** Sets `_meta` of the request. */
  meta(meta: Readonly<Record<string, unknown>>): this {
    this.#request["_meta"] = meta;
    return this;
  }

  /**
   * Overrides the client's handlers for this session. The agent learned the capabilities at `initialize`: to serve
   * something here only, set it in `capabilities` of `connectClient`.
   */
  serve(options: SessionOptions): this {
    this.#options = mergeSessionOptions(this.#options, options);
    return this;
  }

  create(options: StartOptions = {}): Promise<ClientSession> {
    return this.#with("session/new", undefined, options);
  }

  /**
   * The agent replays the whole history before it answers. `take()` of the session returns it; each update has `when:
   * "replay"`.
   */
  load(sessionId: string, options: StartOptions = {}): Promise<ClientSession> {
    return this.#with("session/load", sessionId, options);
  }

  /** Continues a session. The agent replays nothing. */
  resume(sessionId: string, options: StartOptions = {}): Promise<ClientSession> {
    return this.#with("session/resume", sessionId, options);
  }

  /** Creates a session with a copy of the other session's history. */
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
  throw new RookeryError("input_invalid", `"${String(path)}" is not an absolute path; the protocol requires one`);
}
