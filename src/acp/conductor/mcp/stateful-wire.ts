/**
 * A stateful MCP connection over ACP, as in the Rust SDK until 0.13 and in an earlier version of the official schema.
 */
import type { McpPeer } from "../../mcp/index.ts";
import type { AcpDeclaration } from "./acp-declaration.ts";
import { toErrorOutcome, type WireHandlersById, type OpenMcpWire } from "./mcp-wire.ts";

export function openStatefulWire(
  { name, id, underscored }: AcpDeclaration,
  peer: McpPeer,
  lines: WireHandlersById,
): OpenMcpWire {
  return async (handlers) => {
    const area = underscored ? "_mcp" : "mcp";
    const connectParams = underscored ? { acp_id: id, acp_url: id } : { serverId: id };
    const connectionId = getConnectionId(await peer.request(`${area}/connect`, connectParams, { apart: true }));
    if (connectionId === undefined)
      throw new Error(`the declaring side of the MCP server ${name} returned no connection id`);
    const wrapped = (method: string, params: unknown) => ({
      connectionId,
      method,
      ...(params !== undefined && { params }),
    });
    lines.set(connectionId, handlers);
    return {
      request: (method, params, signal) =>
        peer
          .request(`${area}/message`, wrapped(method, params), { signal, apart: true })
          .then((result) => ({ result }), toErrorOutcome),
      notify: (method, params) => {
        peer.notify(`${area}/message`, wrapped(method, params)).catch(() => undefined); // its connection has ended
      },
      close: () => {
        lines.delete(connectionId);
        const left = underscored
          ? peer.notify("_mcp/disconnect", { connection_id: connectionId })
          : peer.request("mcp/disconnect", { connectionId }, { apart: true });
        left.catch(() => undefined); // same
      },
    };
  };
}

function getConnectionId(answer: unknown): string | undefined {
  const { connectionId, connection_id: underscored } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  return [connectionId, underscored].find((id) => typeof id === "string");
}
