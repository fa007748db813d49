/** The MCP servers of one session. They connect in the background; a snapshot shows their state. */
import {
  RookeryError,
  type LoginOutcome,
  type McpPart,
  type McpSnapshot,
  type BetweenTurnsContext,
  type GetPromptOptions,
  type ToolSource,
  type WaitOptions,
} from "../domain/index.ts";
import { raceAbort } from "../stdx/index.ts";
import { McpConnection } from "./connection.ts";
import { readResourceContent, readPromptContent } from "./content.ts";
import { Listeners } from "./listeners.ts";
import { BOUNDS, type ServersOptions } from "./options.ts";
import { SessionBridge } from "./session-bridge.ts";
import { makeConnectionSource } from "./source.ts";

const NEVER = new AbortController().signal;

export interface McpServers extends AsyncDisposable {
  /** Call once. Buffered events that are still relevant are then recorded. */
  attach(session: BetweenTurnsContext): void;
  /** One source per server for the life of the session. A server that is not ready lists no tools. */
  readonly sources: readonly ToolSource[];
  /** Returns the same object until something changes. */
  snapshot(): McpSnapshot;
  onChange(listener: () => void): () => void;
  /** Resolves when every server has finished its first attempt to connect. Rejects when the signal fires. */
  settled(options?: WaitOptions): Promise<void>;
  /** Finds the tool for a model's name. Undefined if no server has it now. */
  origin(toolName: string): { readonly server: string; readonly tool: string } | undefined;
  /** Rejects with `mcp_unknown`, `mcp_unavailable`, `mcp_failed` or `mcp_login`. So does `readResource`. */
  getPrompt(server: string, name: string, options?: GetPromptOptions): Promise<McpPart[]>;
  readResource(server: string, uri: string, options?: WaitOptions): Promise<McpPart[]>;
  /** Reconnects after a successful login. */
  login(server: string, options?: WaitOptions): Promise<LoginOutcome>;
  /** Reconnects with all attempts available again. */
  reconnect(server: string): void;
}

/** Returns immediately and connects in the background. */
export function openServers(options: ServersOptions): McpServers {
  return new SessionServers(options);
}

interface ServerEntry {
  readonly connection: McpConnection;
  readonly source: ToolSource;
}

class SessionServers implements McpServers {
  readonly sources: readonly ToolSource[];
  readonly #entries = new Map<string, ServerEntry>();
  readonly #bridge = new SessionBridge();
  readonly #changes = new Listeners();
  #snapshot: McpSnapshot | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ServersOptions) {
    const bounds = { ...BOUNDS, ...options.bounds };
    for (const spec of new Map(options.servers.map((server) => [server.name, server])).values()) {
      const toolChanges = new Listeners();
      const isRemote = spec.type === "http" || spec.type === "sse";
      const { cwd, env, marker, sample, version } = options;
      const connection = new McpConnection(spec, {
        ...{ cwd, env, marker, sample, version, bounds, bridge: this.#bridge },
        authorizer: isRemote ? options.authorizer?.(spec) : undefined,
        changed: (tools) => {
          this.#snapshot = undefined;
          if (tools) toolChanges.notify();
          this.#changes.notify();
        },
      });
      this.#entries.set(spec.name, { connection, source: makeConnectionSource(connection, toolChanges) });
    }
    this.sources = [...this.#entries.values()].map(({ source }) => source);
  }

  attach(session: BetweenTurnsContext): void {
    this.#bridge.attach(session);
  }

  snapshot(): McpSnapshot {
    return (this.#snapshot ??= { servers: [...this.#entries.values()].map(({ connection }) => connection.state) });
  }

  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  async settled({ signal = NEVER }: WaitOptions = {}): Promise<void> {
    const all = Promise.all([...this.#entries.values()].map(({ connection }) => connection.settled));
    await raceAbort(all, signal);
  }

  origin(toolName: string): { readonly server: string; readonly tool: string } | undefined {
    for (const [server, { connection }] of this.#entries) {
      const tool = connection.origin(toolName);
      if (tool !== undefined) return { server, tool };
    }
    return undefined;
  }

  async getPrompt(
    server: string,
    name: string,
    { args = {}, signal = NEVER }: GetPromptOptions = {},
  ): Promise<McpPart[]> {
    return readPromptContent(
      await this.#findConnection(server).request("prompts/get", { name, arguments: args }, signal),
    );
  }

  async readResource(server: string, uri: string, { signal = NEVER }: WaitOptions = {}): Promise<McpPart[]> {
    return readResourceContent(await this.#findConnection(server).request("resources/read", { uri }, signal));
  }

  async login(server: string, { signal = NEVER }: WaitOptions = {}): Promise<LoginOutcome> {
    return this.#findConnection(server).login(signal);
  }

  reconnect(server: string): void {
    this.#findConnection(server).reconnect();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ connection }) => connection[Symbol.asyncDispose]()));
    this.#changes.clear();
  }

  #findConnection(server: string): McpConnection {
    const found = this.#entries.get(server)?.connection;
    if (found !== undefined) return found;
    const known = [...this.#entries.keys()].join(", ") || "none";
    throw new RookeryError("mcp_unknown", `there is no MCP server ${server}; configured servers: ${known}`);
  }
}
