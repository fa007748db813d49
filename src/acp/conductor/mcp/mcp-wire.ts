/** One conversation with an MCP server on the other side of ACP, however it is spoken to. */
import { toMcpError, type McpOutcome } from "../../mcp/server-link.ts";

/** What the server does on its own account. */
export interface McpWireHandlers {
  /** What it throws is answered as the error. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  notification(method: string, params: unknown): void;
}

export interface McpWire {
  /** Never rejects. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<McpOutcome>;
  notify(method: string, params: unknown): void;
  close(): void;
}

/** Opens one; rejects where the server cannot be reached. */
export type OpenMcpWire = (handlers: McpWireHandlers) => Promise<McpWire>;

/** Whom what a server says is for, by the id that it comes with: of a connection, or of a request. */
export type WireHandlersById = Map<string, McpWireHandlers>;

export function toErrorOutcome(error: unknown): McpOutcome {
  return { error: toMcpError(error) };
}
