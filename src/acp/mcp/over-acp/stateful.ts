/** MCP over ACP as the Rust SDK had it: one MCP connection, opened and closed, with requests both ways. */
import type { InProcessServer } from "../declaration.ts";
import { ServerLink } from "../server-link.ts";
import type { McpPeer } from "./mcp-peer.ts";

export interface StatefulConnection {
  readonly id: string;
  /** Asked for as `_mcp/connect`, so that the answers have the underscore too. */
  readonly underscored: boolean;
  readonly closed: () => unknown;
}

/** What the server sends goes to the peer under the connection's id. */
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
    // The server asks on its own account: it is not the handler that holds the connection.
    request: (method, params, signal) => peer.request(carrier, wrapped(method, params), { signal, apart: true }),
    notification: (method, params) => {
      peer.notify(carrier, wrapped(method, params)).catch(() => undefined); // the connection is over, and this with it
    },
    closed: () => void closed(),
  });
}
