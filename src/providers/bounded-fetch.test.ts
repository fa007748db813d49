import { describe, expect, it } from "vitest";
import { boundedFetch, RESPONSE_LIMITS } from "./bounded-fetch.ts";
import { MAX_REPLY_CHARACTERS } from "./reply.ts";
import { X, endlessReply, startEndlessServer } from "./test-endless-server.ts";
import { blob, openTestModel, requestReply, user, WIRES } from "./test-models.ts";

const MB = 1024 * 1024;
const SECONDS = 1_000;

describe.each(WIRES)("over %s", (wire) => {
  it.each([
    ["a line", 'data: {"text":"', X],
    ["an event of many lines", "data: {\n", `data: "${X}":\n`],
    ["an event with CR line ends", "data: {\r", `data: "${X}":\r`],
  ])(
    "stops reading %s without end at the limit and does not retry",
    { timeout: 30 * SECONDS },
    async (_, head, chunk) => {
      await using endless = await startEndlessServer(200, head, chunk);
      await expect(requestReply(openTestModel(wire, endless.url))).rejects.toMatchObject({
        code: "provider_failed",
        retry: undefined,
        message: expect.stringContaining("an event larger than 16 MB, so Rookery closed the connection: check that"),
      });
      expect(await endless.bytesSent).toBeLessThan(RESPONSE_LIMITS.event + 16 * MB); // bytes in socket buffers
    },
  );

  it.each([
    [400, "provider_refused"],
    [401, "provider_auth"],
    [500, "provider_failed"],
    [307, "provider_refused"],
  ])("classifies an error %i with an endless body by its status", async (status, code) => {
    await using endless = await startEndlessServer(status, '{"error":{"message":"', X);
    await expect(requestReply(openTestModel(wire, endless.url))).rejects.toMatchObject({ code });
    expect(await endless.bytesSent).toBeLessThan(16 * MB);
  });

  it("stops reading a reply without end at the limit and does not retry", { timeout: 30 * SECONDS }, async () => {
    const { head, delta } = endlessReply(wire);
    await using endless = await startEndlessServer(200, head, delta);
    await expect(requestReply(openTestModel(wire, endless.url))).rejects.toMatchObject({
      code: "provider_failed",
      retry: undefined,
      message: expect.stringContaining(`the reply is longer than ${MAX_REPLY_CHARACTERS} characters and was cut off`),
    });
    expect(await endless.bytesSent).toBeLessThan(MAX_REPLY_CHARACTERS + 16 * MB); // bytes in socket buffers
  });

  it("aborts a request during a reply without end", { timeout: 30 * SECONDS }, async () => {
    const { head, delta } = endlessReply(wire);
    await using endless = await startEndlessServer(200, head, delta);
    const giveUp = new AbortController();
    let parts = 0;
    const reading = async (): Promise<void> => {
      const request = { system: "", messages: [user("Go")], tools: [], signal: giveUp.signal, blob };
      for await (const { type } of openTestModel(wire, endless.url).stream(request)) {
        if (type === "text") parts += 1;
        if (parts === 3) giveUp.abort(new Error("enough"));
      }
    };
    await expect(reading()).rejects.toThrow("enough");
    expect(parts).toBeLessThan(10);
    expect(await endless.bytesSent).toBeLessThan(MAX_REPLY_CHARACTERS);
  });

  it("aborts a request during a line without end", async () => {
    await using endless = await startEndlessServer(200, 'data: {"text":"', "x");
    const giveUp = new AbortController();
    const reply = requestReply(openTestModel(wire, endless.url), [user("Go")], { signal: giveUp.signal });
    void endless.requested.then(() => giveUp.abort(new Error("enough")));
    await expect(reply).rejects.toThrow("enough");
    await endless.bytesSent;
  });
});

describe("a bounded response", () => {
  const limits = { event: 1_000, stream: 10_000, error: 100, errorMs: 20 * SECONDS };
  const read = async (chunks: readonly string[], status = 200): Promise<string[]> => {
    const body = ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk)));
    const response = await boundedFetch(limits, () => Promise.resolve(new Response(body, { status })))("http://a");
    const pieces: string[] = [];
    for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece).toString());
    return pieces;
  };

  it("passes the bytes on unchanged in pieces that end with a line", async () => {
    expect(await read(["data: a", "b\n\nda", "ta: c\r", "\n\r\n", "", "data: \u00e9", "end"])).toEqual([
      "data: ab\n\n",
      "data: c\r",
      "\n\r\n",
      "data: \u00e9end",
    ]);
  });

  it.each(["\n\n", "\r\n\r\n", "\r\r", "\n\r\n"])("accepts any number of events that end with %j", async (end) => {
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
    await expect(read(chunks)).rejects.toThrow("the provider sent an event larger than 1000 bytes");
  });

  it("fails if it is longer than the limit", async () => {
    const chunks = Array.from({ length: 2_000 }, () => ": ping\n\n");
    await expect(read(chunks)).rejects.toThrow(
      "the provider sent a reply larger than 10000 bytes, so Rookery closed the connection",
    );
  });

  it("truncates the body of an error at the limit", async () => {
    expect((await read(["a".repeat(60), "b".repeat(60), "c"], 500)).join("")).toBe("a".repeat(60) + "b".repeat(40));
    expect((await read(["short"], 404)).join("")).toBe("short");
  });

  it("stops waiting for the body of an error after the time limit", async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from("busy")) });
    const answered = (): Promise<Response> => Promise.resolve(new Response(body, { status: 503 }));
    const response = await boundedFetch({ ...limits, errorMs: 10 }, answered)("http://a");
    expect(await response.text()).toBe("busy");
  });
});
