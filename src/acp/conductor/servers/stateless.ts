/** MCP over ACP as the official schema has it: no connection, and so nobody to introduce oneself to. */
import { randomUUID } from "node:crypto";
import type { McpPeer } from "../../mcp/index.ts";
import type { Outcome } from "../../mcp/link.ts";
import { isObject } from "../../mcp/over-acp/envelope.ts";
import { META, REVISION } from "../../mcp/over-acp/revision.ts";
import type { AcpDeclaration } from "./declared.ts";
import { failed, type Lines, type OpenWire } from "./wire.ts";

/** Rejects with -32601 where whoever declared the server does not speak like this. */
export function stateless({ name, id }: AcpDeclaration, peer: McpPeer, lines: Lines): OpenWire {
  return async (handlers) => {
    const ask = async (method: string, params: unknown, signal?: AbortSignal): Promise<Outcome> => {
      const requestId = randomUUID();
      lines.set(requestId, handlers);
      try {
        const message = { serverId: id, requestId, method, params: introducing(params) };
        return outcomeOf(await peer.request("mcp/message", message, { signal, apart: true }));
      } finally {
        lines.delete(requestId);
      }
    };
    const found = await ask("server/discover", {});
    if ("error" in found) throw new Error(`${name}: ${found.error.message}`);
    return {
      request: (method, params, signal) => {
        if (method === "initialize") return Promise.resolve({ result: introduction(found.result, params, name) });
        if (method === "ping") return Promise.resolve({ result: {} });
        return ask(method, params, signal).catch(failed);
      },
      notify: () => undefined, // all that a client says unasked is about its connection
      close: () => undefined,
    };
  };
}

/** What each request has to say, because none was said before. */
function introducing(params: unknown): object {
  const given = isObject(params) ? params : {};
  const meta = { [META.protocolVersion]: REVISION, [META.clientCapabilities]: {} };
  return { ...given, _meta: { ...(isObject(given["_meta"]) && given["_meta"]), ...meta } };
}

/** The answer to `initialize` of a client that knows connections only. */
function introduction(discovered: unknown, params: unknown, name: string): object {
  const { capabilities = {}, instructions, _meta: meta } = isObject(discovered) ? discovered : {};
  const { protocolVersion = "2025-11-25" } = isObject(params) ? params : {};
  const serverInfo = (isObject(meta) && meta[META.serverInfo]) || { name, version: "0" };
  return { protocolVersion, capabilities, serverInfo, ...(instructions !== undefined && { instructions }) };
}

function outcomeOf(answer: unknown): Outcome {
  if (isObject(answer) && "result" in answer) return { result: answer["result"] };
  if (isObject(answer) && isObject(answer["error"])) return answer as Outcome;
  return failed(new Error("the answer has neither a result nor an error"));
}
