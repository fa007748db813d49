/** The MCP servers of one session: they come and go in the background, and a snapshot tells how they are. */
import {
  RookeryError,
  type LoginOutcome,
  type McpPart,
  type McpSnapshot,
  type SessionDesk,
  type ToolSource,
} from "../domain/index.ts";
import { raceAbort } from "../stdx/index.ts";
import { Connection } from "./connection.ts";
import { readContents, readPrompt } from "./content.ts";
import { Listeners } from "./listeners.ts";
import { BOUNDS, type ServersOptions } from "./options.ts";
import { Outlet } from "./outlet.ts";
import { sourceOf } from "./source.ts";

export interface McpServers extends AsyncDisposable {
  /** Once. What there is to say before it waits, as far as it is still worth saying. */
  attach(desk: SessionDesk): void;
  /** One for each server, the same for the whole life; a server that is not ready lists nothing. */
  readonly sources: readonly ToolSource[];
  /** The same object while nothing changed. */
  snapshot(): McpSnapshot;
  onChange(listener: () => void): () => void;
  /** Resolves when no server is connecting for the first time any more. Rejects when the signal fires. */
  settled(signal: AbortSignal): Promise<void>;
  /** Which tool a model means by a name; undefined where no server has it now. */
  origin(toolName: string): { readonly server: string; readonly tool: string } | undefined;
  /** Rejects with `mcp_unknown`, `mcp_unavailable` or `mcp_failed`; so do the next ones. */
  getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<McpPart[]>;
  readResource(server: string, uri: string, signal: AbortSignal): Promise<McpPart[]>;
  /** Connects anew where it is done. */
  login(server: string, signal: AbortSignal): Promise<LoginOutcome>;
  /** Begins anew, with all tries. */
  reconnect(server: string): void;
}

/** Returns at once: connecting goes on in the background. */
export function openServers(options: ServersOptions): McpServers {
  return new Servers(options);
}

interface Entry {
  readonly connection: Connection;
  readonly source: ToolSource;
}

class Servers implements McpServers {
  readonly sources: readonly ToolSource[];
  readonly #entries = new Map<string, Entry>();
  readonly #outlet = new Outlet();
  readonly #changes = new Listeners();
  #snapshot: McpSnapshot | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ServersOptions) {
    const bounds = { ...BOUNDS, ...options.bounds };
    for (const spec of new Map(options.servers.map((server) => [server.name, server])).values()) {
      const toolChanges = new Listeners();
      const isRemote = spec.type === "http" || spec.type === "sse";
      const { cwd, env, marker, sample, version } = options;
      const connection = new Connection(spec, {
        ...{ cwd, env, marker, sample, version, bounds, outlet: this.#outlet },
        authorizer: isRemote ? options.authorizer?.(spec) : undefined,
        changed: (tools) => {
          this.#snapshot = undefined;
          if (tools) toolChanges.tell();
          this.#changes.tell();
        },
      });
      this.#entries.set(spec.name, { connection, source: sourceOf(connection, toolChanges) });
    }
    this.sources = [...this.#entries.values()].map(({ source }) => source);
  }

  attach(desk: SessionDesk): void {
    this.#outlet.attach(desk);
  }

  snapshot(): McpSnapshot {
    return (this.#snapshot ??= { servers: [...this.#entries.values()].map(({ connection }) => connection.state) });
  }

  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  async settled(signal: AbortSignal): Promise<void> {
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
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<McpPart[]> {
    return readPrompt(await this.#named(server).request("prompts/get", { name, arguments: args }, signal));
  }

  async readResource(server: string, uri: string, signal: AbortSignal): Promise<McpPart[]> {
    return readContents(await this.#named(server).request("resources/read", { uri }, signal));
  }

  async login(server: string, signal: AbortSignal): Promise<LoginOutcome> {
    return this.#named(server).login(signal);
  }

  reconnect(server: string): void {
    this.#named(server).reconnect();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ connection }) => connection[Symbol.asyncDispose]()));
    this.#changes.clear();
  }

  #named(server: string): Connection {
    const found = this.#entries.get(server)?.connection;
    if (found !== undefined) return found;
    const known = [...this.#entries.keys()].join(", ") || "none";
    throw new RookeryError("mcp_unknown", `there is no MCP server ${server} here (there is: ${known})`);
  }
}
