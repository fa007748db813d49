/** One conversation with an MCP server on the other side of ACP, however it is spoken to. */
import { PeerError, RPC } from "../../errors.ts";
import type { Outcome } from "../../mcp/link.ts";

/** What the server does on its own account. */
export interface WireHandlers {
  /** What it throws is answered as the error. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  notification(method: string, params: unknown): void;
}

export interface Wire {
  /** Never rejects. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<Outcome>;
  notify(method: string, params: unknown): void;
  close(): void;
}

/** Opens one; rejects where the server cannot be reached. */
export type OpenWire = (handlers: WireHandlers) => Promise<Wire>;

/** Whom what a server says is for, by the id that it comes with: of a connection, or of a request. */
export type Lines = Map<string, WireHandlers>;

export function failed(error: unknown): Outcome {
  if (error instanceof PeerError) return { error: error.raw };
  return { error: { code: RPC.internalError, message: error instanceof Error ? error.message : String(error) } };
}
