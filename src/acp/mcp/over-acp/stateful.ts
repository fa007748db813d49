/** MCP over ACP as in the Rust SDK: one MCP connection with requests in both directions. */
import type { InProcessServer } from "../declaration.ts";
import { ServerLink } from "../server-link.ts";
import type { McpPeer } from "./mcp-peer.ts";

export interface StatefulConnection {
  readonly id: string;
  /** True if the connection was opened with `_mcp/connect`; answers then use the underscore too. */
  readonly underscored: boolean;
  readonly closed: () => unknown;
}

/** Messages of the server go to the peer with the connection's id. */
export async function openStatefulConnection(
  server: InProcessServer,
  peer: McpPeer,
  { id, underscored, closed }: StatefulConnection,
): Promise<ServerLink> {
  const carrier = underscored ? "_mcp/message" : "mcp/message";
  const wrapped = (method: string, params: unknown) => ({
    connectionId: id,
    method,
    ...(params !== undefined && { params }),
  });
  return ServerLink.open(server, {
    // The server asks independently of the handler that blocks the connection.
    request: (method, params, signal) => peer.request(carrier, wrapped(method, params), { signal, apart: true }),
    notification: (method, params) => {
      peer.notify(carrier, wrapped(method, params)).catch(() => undefined); // the connection has ended
    },
    closed: () => void closed(),
  });
}
