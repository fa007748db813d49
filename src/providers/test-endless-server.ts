/** A model server whose reply never ends. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WireName } from "./test-models.ts";

export interface EndlessServer extends AsyncDisposable {
  readonly url: string;
  /** Resolves when the first request arrives. */
  readonly requested: Promise<void>;
  /** Resolves when the client disconnects, with the number of bytes sent. */
  readonly bytesSent: Promise<number>;
}

/**
 * Sends `head`, then repeats `chunk` until the client disconnects.
 *
 * @param pauseMs Pause between chunks, to stay below size limits. Default: none.
 */
export async function startEndlessServer(
  status: number,
  head: string,
  chunk: string,
  { pauseMs }: { readonly pauseMs?: number } = {},
): Promise<EndlessServer> {
  let settle: (bytes: number) => void;
  const bytesSent = new Promise<number>((resolve) => (settle = resolve));
  let arrive: () => void;
  const requested = new Promise<void>((resolve) => (arrive = resolve));
  const server = createServer((request, response: ServerResponse) => {
    request.resume();
    arrive();
    response.writeHead(status, { "content-type": status === 200 ? "text/event-stream" : "application/json" });
    response.write(head);
    let sent = 0;
    const sendSlowly = (): void => {
      if (response.destroyed) return;
      sent += chunk.length;
      response.write(chunk);
      setTimeout(sendSlowly, pauseMs);
    };
    const sendAll = (): void => {
      for (let hasRoom = true; hasRoom && !response.destroyed; sent += chunk.length) hasRoom = response.write(chunk);
    };
    response.on("drain", () => setImmediate(pauseMs === undefined ? sendAll : () => undefined));
    response.on("error", () => undefined);
    response.once("close", () => settle(sent));
    if (pauseMs === undefined) sendAll();
    else sendSlowly();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested,
    bytesSent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** 64 KiB of text for chunks. */
export const X = "x".repeat(64 * 1024);
const USAGE = { input_tokens: 1, output_tokens: 1 };
const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** Returns the start of a text reply and one text delta in the format of the API. */
export function endlessReply(wire: WireName, text = X): { readonly head: string; readonly delta: string } {
  return formatReplies(text)[wire];
}

const formatReplies = (text: string): Record<WireName, { readonly head: string; readonly delta: string }> => ({
  anthropic: {
    head:
      event({ type: "message_start", message: { id: "m", model: "m", role: "assistant", content: [], usage: USAGE } }) +
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    delta: event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  },
  openai: {
    head:
      event({ type: "response.created", response: { id: "r", created_at: 1, model: "m" } }) +
      event({ type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i" } }),
    delta: event({ type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0, delta: text }),
  },
  google: { head: "", delta: event({ candidates: [{ content: { role: "model", parts: [{ text }] } }] }) },
  "openai-compatible": {
    head: "",
    delta: event({ id: "c", created: 1, model: "m", choices: [{ index: 0, delta: { content: text } }] }),
  },
});
