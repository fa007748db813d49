/** How a session starts: a new one, one of the agent's history, or a fork of it. */
import { isAbsolute } from "node:path";
import { RookeryError } from "../../domain/errors.ts";
import type { Verbatim } from "../connection/incoming.ts";
import { PeerError } from "../errors.ts";
import type * as acp from "../schema.ts";
import type { Client } from "./client.ts";
import type { ClientSession, SessionOptions } from "./session.ts";

export type SetUpMethod = "session/new" | "session/load" | "session/resume" | "session/fork";

export interface SetUp {
  readonly method: SetUpMethod;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options: SessionOptions;
  /** Where the agent does not choose it. */
  readonly sessionId: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class SessionBuilder {
  readonly #client: Client;
  readonly #request: Record<string, unknown> & { cwd: string; mcpServers: acp.McpServer[] };
  #options: SessionOptions;

  /** Throws `input_invalid` where the folder is not absolute. The request may carry fields of its own. */
  constructor(client: Client, request: { readonly cwd: string }, options: SessionOptions) {
    mustBeAbsolute(request.cwd);
    this.#client = client;
    const { mcpServers = [] } = request as { mcpServers?: readonly acp.McpServer[] };
    this.#request = { ...request, mcpServers: [...mcpServers] };
    this.#options = options;
  }

  mcpServer(server: acp.McpServer): this {
    this.#request.mcpServers.push(server);
    return this;
  }

  /** Roots beside the working folder. */
  directories(...paths: readonly string[]): this {
    for (const path of paths) mustBeAbsolute(path);
    this.#request["additionalDirectories"] = paths;
    return this;
  }

  meta(meta: Readonly<Record<string, unknown>>): this {
    this.#request["_meta"] = meta;
    return this;
  }

  /** What this session's client does for the agent, over what it does for every session. */
  serve(options: SessionOptions): this {
    this.#options = { ...this.#options, ...options };
    return this;
  }

  create(options: { signal?: AbortSignal } = {}): Promise<ClientSession> {
    return this.#start("session/new", undefined, options.signal);
  }

  /** The agent replays the whole history before it answers; those updates are `replay`. */
  load(sessionId: string, options: { signal?: AbortSignal } = {}): Promise<ClientSession> {
    return this.#start("session/load", sessionId, options.signal);
  }

  /** The agent replays nothing. */
  resume(sessionId: string, options: { signal?: AbortSignal } = {}): Promise<ClientSession> {
    return this.#start("session/resume", sessionId, options.signal);
  }

  /** A new session that begins with what another one holds. */
  fork(sessionId: string, options: { signal?: AbortSignal } = {}): Promise<ClientSession> {
    return this.#start("session/fork", sessionId, options.signal);
  }

  async #start(method: SetUpMethod, id: string | undefined, signal: AbortSignal | undefined): Promise<ClientSession> {
    this.#client.mustOffer(method);
    const params = { ...(id !== undefined && { sessionId: id }), ...this.#request };
    const sessionId = method === "session/load" || method === "session/resume" ? id : undefined;
    return this.#client.setUp({ method, params, options: this.#options, sessionId, signal });
  }
}

/** The id in the agent's answer. Throws `PeerError`, or what is wrong with the answer. */
export function sessionIdIn({ result, error }: Verbatim, method: SetUpMethod): string {
  if (error !== undefined) throw new PeerError(error);
  const id = (result as { sessionId?: unknown } | null | undefined)?.sessionId;
  if (typeof id === "string" && id !== "") return id;
  throw new RookeryError("agent_failed", `the agent answered ${method} without a session id`);
}

function mustBeAbsolute(path: string): void {
  if (isAbsolute(path)) return;
  throw new RookeryError("input_invalid", `"${path}" is not an absolute path: the protocol takes no other`);
}
