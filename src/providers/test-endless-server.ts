/** A model server whose reply never ends. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WireName } from "./test-models.ts";

export interface EndlessServer extends AsyncDisposable {
  readonly url: string;
  /** The request has come. */
  readonly asked: Promise<void>;
  /** How many bytes the client took before it went away. */
  readonly taken: Promise<number>;
}

/**
 * Answers with the head, then repeats the chunk for as long as the client takes it.
 *
 * @param pauseMs between two chunks, so that no limit is reached. Default: none.
 */
export async function startEndlessServer(
  status: number,
  head: string,
  chunk: string,
  { pauseMs }: { readonly pauseMs?: number } = {},
): Promise<EndlessServer> {
  let settle: (bytes: number) => void;
  const taken = new Promise<number>((resolve) => (settle = resolve));
  let arrive: () => void;
  const asked = new Promise<void>((resolve) => (arrive = resolve));
  const server = createServer((request, response: ServerResponse) => {
    request.resume();
    arrive();
    response.writeHead(status, { "content-type": status === 200 ? "text/event-stream" : "application/json" });
    response.write(head);
    let sent = 0;
    const trickle = (): void => {
      if (response.destroyed) return;
      sent += chunk.length;
      response.write(chunk);
      setTimeout(trickle, pauseMs);
    };
    const more = (): void => {
      for (let isTaken = true; isTaken && !response.destroyed; sent += chunk.length) isTaken = response.write(chunk);
    };
    response.on("drain", () => setImmediate(pauseMs === undefined ? more : () => undefined));
    response.on("error", () => undefined);
    response.once("close", () => settle(sent));
    if (pauseMs === undefined) more();
    else trickle();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    taken,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Of a chunk or a piece of text. */
export const X = "x".repeat(64 * 1024);
const USAGE = { input_tokens: 1, output_tokens: 1 };
const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** What comes before the first piece of a text, and a piece, as each kind of API sends them. */
export function endlessReply(wire: WireName, text = X): { readonly head: string; readonly delta: string } {
  return repliesOf(text)[wire];
}

const repliesOf = (text: string): Record<WireName, { readonly head: string; readonly delta: string }> => ({
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
