/** Connects an MCP transport, with the agent's client at its end, to a server on the other side of ACP. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { deferred, type Deferred } from "../../../stdx/index.ts";
import { PeerError, requestCancelled } from "../../errors.ts";
import { toParamsField } from "../../mcp/server-link.ts";
import type { OpenMcpWire, McpWire, McpWireHandlers } from "./mcp-wire.ts";

type McpAnswer = Exclude<JSONRPCMessage, { method: string }>;

/** Rejects if the server cannot be reached. */
export async function attachTransport(transport: Transport, open: OpenMcpWire): Promise<void> {
  /** Requests of the client by id. */
  const clientRequests = new Map<RequestId, AbortController>();
  const pending = new Map<RequestId, Deferred<McpAnswer>>();
  let count = 0;
  const send = (message: JSONRPCMessage, relatedRequestId = [...clientRequests.keys()].at(-1)): void => {
    transport.send(message, relatedRequestId === undefined ? {} : { relatedRequestId }).catch(() => undefined); // it is closed
  };

  const handlers: McpWireHandlers = {
    async request(method, params, signal) {
      const id = `server-${(count += 1)}`;
      const answer = deferred<McpAnswer>();
      const cancel = (): void => answer.reject(requestCancelled());
      signal.addEventListener("abort", cancel, { once: true });
      pending.set(id, answer);
      send({ jsonrpc: "2.0", id, method, ...toParamsField(params) });
      try {
        const message = await answer.promise;
        if ("error" in message) throw new PeerError(message.error);
        return message.result;
      } finally {
        signal.removeEventListener("abort", cancel);
        pending.delete(id);
      }
    },
    notification: (method, params) => send({ jsonrpc: "2.0", method, ...toParamsField(params) }),
  };

  const wire = await open(handlers);
  const closed = transport.onclose;
  transport.onclose = () => {
    closed?.();
    for (const controller of clientRequests.values()) controller.abort();
    for (const answer of pending.values()) answer.reject(requestCancelled());
    wire.close();
  };
  transport.onmessage = (message) => {
    if (!("method" in message)) pending.get(message.id ?? "")?.resolve(message);
    else if ("id" in message) void forwardRequest(wire, message, clientRequests, send);
    else if (message.method === "notifications/cancelled")
      clientRequests.get(message.params?.["requestId"] as RequestId)?.abort();
    else wire.notify(message.method, message.params);
  };
  await transport.start();
}

/** MCP does not answer a cancelled request. */
async function forwardRequest(
  wire: McpWire,
  { id, method, params }: JSONRPCRequest,
  clientRequests: Map<RequestId, AbortController>,
  send: (message: JSONRPCMessage, relatedRequestId?: RequestId) => void,
): Promise<void> {
  const controller = new AbortController();
  clientRequests.set(id, controller);
  const outcome = await wire.request(method, params, controller.signal);
  clientRequests.delete(id);
  if (!controller.signal.aborted) send({ jsonrpc: "2.0", id, ...outcome } as JSONRPCMessage, id);
}
