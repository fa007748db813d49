/** One self-contained MCP request that arrived in an `mcp/message` envelope. */
export interface StatelessCall {
  readonly requestId: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this request. */
  readonly notify: (method: string, params: unknown) => void;
}
