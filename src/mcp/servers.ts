/** The MCP servers of one session: they come and go in the background, and a snapshot tells how they are. */
import type { LoginOutcome, McpSnapshot, SessionDesk, ToolSource } from "../domain/index.ts";
import type { McpPart } from "./content.ts";
import type { ServersOptions } from "./options.ts";

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
export function openServers(_options: ServersOptions): McpServers {
  throw new Error("not yet");
}
