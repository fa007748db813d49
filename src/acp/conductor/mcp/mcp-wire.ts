/** One conversation with an MCP server on the other side of ACP, independent of the form of the protocol. */
import { toMcpError, type McpOutcome } from "../../mcp/server-link.ts";

/** Messages that the server sends by itself. */
export interface McpWireHandlers {
  /** A thrown error becomes the response. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  notification(method: string, params: unknown): void;
}

export interface McpWire {
  /** Never rejects. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<McpOutcome>;
  notify(method: string, params: unknown): void;
  close(): void;
}

/** Rejects if the server cannot be reached. */
export type OpenMcpWire = (handlers: McpWireHandlers) => Promise<McpWire>;

/** Receivers of the server's messages, by connection id or request id. */
export type WireHandlersById = Map<string, McpWireHandlers>;

export function toErrorOutcome(error: unknown): McpOutcome {
  return { error: toMcpError(error) };
}
