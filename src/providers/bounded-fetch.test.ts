import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { boundedFetch, RESPONSE_LIMITS } from "./bounded-fetch.ts";
import { LONGEST_REPLY } from "./reply.ts";
import { blob, modelOver, replyTo, user, WIRES, type WireName } from "./test-models.ts";

const MB = 1024 * 1024;
const SECONDS = 1_000;
const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server[Symbol.asyncDispose]();
});

interface EndlessServer {
  readonly url: string;
  /** The request has come. */
  readonly asked: Promise<void>;
  /** How many bytes the client took before it went away. */
  readonly taken: Promise<number>;
}

/** Answers with the head, then repeats the chunk for as long as the client takes it. */
async function startEndlessServer(status: number, head: string, chunk: string | Buffer): Promise<EndlessServer> {
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
    const more = (): void => {
      for (let isTaken = true; isTaken && !response.destroyed; sent += chunk.length) isTaken = response.write(chunk);
    };
    response.on("drain", () => setImmediate(more)).on("error", () => undefined);
    response.once("close", () => settle(sent));
    more();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, taken };
}

const X = "x".repeat(64 * 1024);
const USAGE = { input_tokens: 1, output_tokens: 1 };
const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** What comes before the first piece of a text, and a piece, as each kind of API sends them. */
const ENDLESS_REPLIES: Record<WireName, { readonly head: string; readonly delta: string }> = {
  anthropic: {
    head:
      event({ type: "message_start", message: { id: "m", model: "m", role: "assistant", content: [], usage: USAGE } }) +
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    delta: event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: X } }),
  },
  openai: {
    head:
      event({ type: "response.created", response: { id: "r", created_at: 1, model: "m" } }) +
      event({ type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i" } }),
    delta: event({ type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0, delta: X }),
  },
  google: { head: "", delta: event({ candidates: [{ content: { role: "model", parts: [{ text: X }] } }] }) },
  "openai-compatible": {
    head: "",
    delta: event({ id: "c", created: 1, model: "m", choices: [{ index: 0, delta: { content: X } }] }),
  },
};

describe.each(WIRES)("over %s", (wire) => {
  it.each([
    ["a line", 'data: {"text":"', X],
    ["an event of many lines", "data: {\n", `data: "${X}":\n`],
    ["an event with other line ends", "data: {\r", `data: "${X}":\r`],
  ])(
    "%s without end is cut off at the limit, and not tried again",
    { timeout: 30 * SECONDS },
    async (_, head, chunk) => {
      const { url, taken } = await startEndlessServer(200, head, chunk);
      await expect(replyTo(modelOver(wire, url))).rejects.toMatchObject({
        code: "provider_failed",
        retry: undefined,
        message: expect.stringContaining("one event of more than 16 MB in its reply, and was cut off: check that"),
      });
      expect(await taken).toBeLessThan(RESPONSE_LIMITS.event + 16 * MB); // what sockets hold
    },
  );

  it.each([
    [400, "provider_refused"],
    [401, "provider_auth"],
    [500, "provider_failed"],
    [307, "provider_refused"],
  ])("an error %i whose body never ends is the error that its status says", async (status, code) => {
    const { url, taken } = await startEndlessServer(status, '{"error":{"message":"', X);
    await expect(replyTo(modelOver(wire, url))).rejects.toMatchObject({ code });
    expect(await taken).toBeLessThan(16 * MB);
  });

  it("a reply without end is cut off at the limit, and not tried again", { timeout: 30 * SECONDS }, async () => {
    const { head, delta } = ENDLESS_REPLIES[wire];
    const { url, taken } = await startEndlessServer(200, head, delta);
    await expect(replyTo(modelOver(wire, url))).rejects.toMatchObject({
      code: "provider_failed",
      retry: undefined,
      message: expect.stringContaining(`the answer is longer than ${LONGEST_REPLY} characters, and was broken off`),
    });
    expect(await taken).toBeLessThan(LONGEST_REPLY + 16 * MB); // what sockets hold
  });

  it("a request is given up in the middle of a reply without end", { timeout: 30 * SECONDS }, async () => {
    const { head, delta } = ENDLESS_REPLIES[wire];
    const { url, taken } = await startEndlessServer(200, head, delta);
    const giveUp = new AbortController();
    let parts = 0;
    const reading = async (): Promise<void> => {
      const request = { system: "", messages: [user("Go")], tools: [], signal: giveUp.signal, blob };
      for await (const { type } of modelOver(wire, url).stream(request)) {
        if (type === "text") parts += 1;
        if (parts === 3) giveUp.abort(new Error("enough"));
      }
    };
    await expect(reading()).rejects.toThrow("enough");
    expect(parts).toBeLessThan(10);
    expect(await taken).toBeLessThan(LONGEST_REPLY);
  });

  it("a request is given up in the middle of a line without end", async () => {
    const { url, asked, taken } = await startEndlessServer(200, 'data: {"text":"', "x");
    const giveUp = new AbortController();
    const reply = replyTo(modelOver(wire, url), [user("Go")], { signal: giveUp.signal });
    void asked.then(() => giveUp.abort(new Error("enough")));
    await expect(reply).rejects.toThrow("enough");
    await taken;
  });
});

describe("a response", () => {
  const limits = { event: 1_000, stream: 10_000, error: 100, errorMs: 20 * SECONDS };
  const read = async (chunks: readonly string[], status = 200): Promise<string[]> => {
    const body = ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk)));
    const response = await boundedFetch(limits, () => Promise.resolve(new Response(body, { status })))("http://a");
    const pieces: string[] = [];
    for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece).toString());
    return pieces;
  };

  it("comes in pieces that end with a line, and otherwise as it was", async () => {
    expect(await read(["data: a", "b\n\nda", "ta: c\r", "\n\r\n", "", "data: \u00e9", "end"])).toEqual([
      "data: ab\n\n",
      "data: c\r",
      "\n\r\n",
      "data: \u00e9end",
    ]);
  });

  it.each(["\n\n", "\r\n\r\n", "\r\r", "\n\r\n"])("may have any number of events that end with %j", async (end) => {
    const text = `data: ${"x".repeat(400)}${end}`.repeat(20);
    for (const size of [1, 7, 999, 5_000]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      );
      expect((await read(chunks)).join("")).toBe(text);
    }
  });

  it.each([
    ["one event", Array.from({ length: 200 }, () => "\ndata: x")],
    ["one event with CR and LF in two pieces", Array.from({ length: 200 }, () => ["data: xx\r", "\n"]).flat()],
    ["one line", Array.from({ length: 200 }, () => "data: x")],
  ])("fails if %s is longer than the limit", async (_, chunks) => {
    await expect(read(chunks)).rejects.toThrow("the provider sent one event of more than 1000 bytes in its reply");
  });

  it("fails if it is longer than the limit", async () => {
    const chunks = Array.from({ length: 2_000 }, () => ": ping\n\n");
    await expect(read(chunks)).rejects.toThrow("the provider sent a reply of more than 10000 bytes, and was cut off");
  });

  it("that is an error is cut after the limit", async () => {
    expect((await read(["a".repeat(60), "b".repeat(60), "c"], 500)).join("")).toBe("a".repeat(60) + "b".repeat(40));
    expect((await read(["short"], 404)).join("")).toBe("short");
  });

  it("that is an error is not waited for longer than the limit", async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from("busy")) });
    const answered = (): Promise<Response> => Promise.resolve(new Response(body, { status: 503 }));
    const response = await boundedFetch({ ...limits, errorMs: 10 }, answered)("http://a");
    expect(await response.text()).toBe("busy");
  });
});
