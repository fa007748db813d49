/** The side that hosts MCP servers over ACP sends its own messages to the agent through this interface. */
import type { RequestOptions } from "../../connection/connection.ts";

/** A connection to the agent, or a proxy's port to its successor. */
export interface McpPeer {
  request(method: string, params?: unknown, options?: RequestOptions): Promise<unknown>;
  notify(method: string, params?: unknown): Promise<void>;
}
