/** MCP over ACP as in the official schema: every request is self-contained, and there is no connection. */
import { randomUUID } from "node:crypto";
import type { McpPeer } from "../../mcp/index.ts";
import type { McpOutcome } from "../../mcp/server-link.ts";
import { isJsonObject } from "../../wire/json-object.ts";
import { META_KEYS, MCP_REVISION } from "../../mcp/over-acp/revision.ts";
import type { AcpDeclaration } from "./acp-declaration.ts";
import { toErrorOutcome, type WireHandlersById, type OpenMcpWire } from "./mcp-wire.ts";

/** Rejects with -32601 if the declaring side does not support this form. */
export function openStatelessWire({ name, id }: AcpDeclaration, peer: McpPeer, lines: WireHandlersById): OpenMcpWire {
  return async (handlers) => {
    const ask = async (method: string, params: unknown, signal?: AbortSignal): Promise<McpOutcome> => {
      const requestId = randomUUID();
      lines.set(requestId, handlers);
      try {
        const message = { serverId: id, requestId, method, params: addMeta(params) };
        return toMcpOutcome(await peer.request("mcp/message", message, { signal, apart: true }));
      } finally {
        lines.delete(requestId);
      }
    };
    const found = await ask("server/discover", {});
    if ("error" in found) throw new Error(`${name}: ${found.error.message}`);
    return {
      request: (method, params, signal) => {
        if (method === "initialize") return Promise.resolve({ result: toInitializeResult(found.result, params, name) });
        if (method === "ping") return Promise.resolve({ result: {} });
        return ask(method, params, signal).catch(toErrorOutcome);
      },
      notify: () => undefined, // every notification of a client concerns its connection, which does not exist here
      close: () => undefined,
    };
  };
}

/** Adds the metadata that each request needs without a connection. */
function addMeta(params: unknown): object {
  const fields = isJsonObject(params) ? params : {};
  const meta = { [META_KEYS.protocolVersion]: MCP_REVISION, [META_KEYS.clientCapabilities]: {} };
  return { ...fields, _meta: { ...(isJsonObject(fields["_meta"]) && fields["_meta"]), ...meta } };
}

/** The `initialize` result for a client that only knows connections. */
function toInitializeResult(discovered: unknown, params: unknown, name: string): object {
  const { capabilities = {}, instructions, _meta: meta } = isJsonObject(discovered) ? discovered : {};
  const { protocolVersion = "2025-11-25" } = isJsonObject(params) ? params : {};
  const serverInfo = (isJsonObject(meta) && meta[META_KEYS.serverInfo]) || { name, version: "0" };
  return { protocolVersion, capabilities, serverInfo, ...(instructions !== undefined && { instructions }) };
}

function toMcpOutcome(answer: unknown): McpOutcome {
  if (isJsonObject(answer) && "result" in answer) return { result: answer["result"] };
  if (isJsonObject(answer) && isJsonObject(answer["error"])) return answer as McpOutcome;
  return toErrorOutcome(new Error("the answer has neither a result nor an error"));
}
