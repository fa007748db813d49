import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { MessageTooLarge } from "../index.ts";
import { heldMemory } from "../../programs/test-memory.ts";
import { scene, type Scene } from "./test-scene.ts";

const MB = 1024 * 1024;

describe("a message of 64 MB", () => {
  it("fails the one request that it answers", async () => {
    const peer = scene({ request: () => 1 });
    const [asked, other] = [peer.connection.request("big"), peer.connection.request("small")];
    void other.catch(() => undefined);
    await pour(peer, '{"jsonrpc":"2.0","id":1,"result":"', '"}');
    const error = await asked.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MessageTooLarge);
    expect(error).toMatchObject({ bytes: 64 * MB + 36, message: expect.stringContaining("the answer to big had") });
    peer.send({ id: 2, result: "here" });
    await expect(other).resolves.toBe("here");
    expect(await peer.ask("a")).toMatchObject({ result: 1 });
    expect(peer.noise).toMatchObject([{ kind: "too_large" }]);
  });

  it("is answered with an error if it is a request", async () => {
    const peer = scene({ request: ({ method }) => method });
    await pour(peer, '{"jsonrpc":"2.0","id":"big","method":"a","params":{"text":"', '"}}');
    expect(await peer.answer("big")).toMatchObject({ error: { code: -32600, data: { bytes: 64 * MB + 62 } } });
    expect(await peer.ask("small")).toMatchObject({ result: "small" });
    expect(peer.lines).toHaveLength(2);
  });

  it("is noise if it is a notification, and is not kept", async () => {
    const peer = scene({ request: () => 1, notification: () => expect.unreachable() });
    const before = heldMemory();
    await pour(peer, '{"jsonrpc":"2.0","method":"a","params":{"text":"', '","id":5}}');
    expect(await peer.ask("a")).toMatchObject({ result: 1 });
    expect(peer.lines).toHaveLength(1);
    expect(peer.noise).toMatchObject([{ kind: "too_large", text: expect.stringMatching(/^.{1,2000}$/) }]);
    expect(heldMemory() - before).toBeLessThan(4 * MB);
  });

  it("is accepted if the limit allows it", async () => {
    const peer = scene(
      { request: ({ params }) => (params as { text: string }).text.length },
      { maxMessageBytes: 65 * MB },
    );
    await pour(peer, '{"jsonrpc":"2.0","id":"big","method":"a","params":{"text":"', '"}}');
    expect(await peer.answer("big")).toMatchObject({ result: 64 * MB });
  });
});

describe("a message that is too large", () => {
  const LONG = "x".repeat(20_000);

  it.each([
    ["its id is first", `{"id":1,"result":{"text":"${LONG}"}}`],
    ["its id is last", `{"jsonrpc":"2.0","result":{"text":"${LONG}","id":2},"id":1}`],
    ["its id is last, with spaces", `{"jsonrpc":"2.0","result":["${LONG}"], "id" : 1 } `],
    ["it is an error", `{"id":1,"error":{"code":1,"message":"${LONG}"}}`],
  ])("fails the request that it answers if %s", async (_how, line) => {
    const peer = scene({ request: () => 1 }, { maxMessageBytes: 16_000 });
    const asked = peer.connection.request("big");
    peer.send(line);
    await expect(asked).rejects.toBeInstanceOf(MessageTooLarge);
    expect(await peer.ask("a")).toMatchObject({ result: 1 });
  });

  it.each([
    ["its id is first", `{"id":"big","method":"a","params":"${LONG}"}`],
    ["its id is between", `{"method":"a","id":"big","params":["${LONG}"]}`],
    ["its id is last", `{"method":"a","params":"${LONG}","id":"big"}`],
  ])("is answered if it is a request and %s", async (_how, line) => {
    const peer = scene({ request: () => 1 }, { maxMessageBytes: 16_000 });
    peer.send(line);
    expect(await peer.answer("big")).toMatchObject({ error: { code: -32600 } });
    expect(await peer.ask("a")).toMatchObject({ result: 1 });
    expect(peer.lines).toHaveLength(2);
  });

  it.each([
    ["a log line", `DEBUG ${LONG}`],
    ["a string", `"${LONG}"`],
    ["no JSON, and looks like an answer", `{"id":one,"result":"${LONG}"}`],
    ["no JSON, and looks like a request", `{"id":one,"method":"a","params":"${LONG}"}`],
    ["a request whose id is none", `{"id":{"a":1},"method":"a","params":"${LONG}"}`],
    ["a key that is not valid JSON", `{"\\x":1,"id":1,"result":"${LONG}"}`],
    ["an answer to nothing", `{"id":99,"result":"${LONG}"}`],
    ["a notification that ends like an answer", `{"method":"a","params":{"text":"${LONG}","id":1}}`],
    ["a string that ends like an answer", `{"method":"a","params":"${LONG}\\"id\\":1}"}`],
  ])("is noise if it is %s", async (_what, line) => {
    const peer = scene({ request: () => 1, notification: () => expect.unreachable() }, { maxMessageBytes: 16_000 });
    const asked = peer.connection.request("other");
    peer.send(line);
    expect(await peer.ask("a")).toMatchObject({ result: 1 });
    expect(peer.noise).toMatchObject([{ kind: "too_large" }]);
    expect(peer.lines).toHaveLength(2);
    peer.send({ id: 1, result: "still asked" });
    await expect(asked).resolves.toBe("still asked");
  });

  it("is reported in order", async () => {
    const seen: string[] = [];
    const peer = scene(
      {
        request: () => 1,
        notification: async ({ method }) => {
          await Promise.resolve();
          seen.push(method);
        },
        noise: ({ kind }) => void seen.push(kind),
      },
      { maxMessageBytes: 16_000 },
    );
    const asked = peer.connection.request("big").catch(() => seen.push("failed"));
    peer.send({ method: "one" }, `{"id":1,"result":"${LONG}"}`, { method: "two" });
    await peer.ask("a");
    await asked;
    expect(seen).toEqual(["one", "too_large", "failed", "two"]);
  });
});

/** Writes 64 MB between the head and the tail, as fast as they are read. */
async function pour(peer: Scene, head: string, tail: string): Promise<void> {
  const filler = Buffer.alloc(MB, "x");
  const source = Readable.from([
    Buffer.from(head),
    ...Array.from({ length: 64 }, () => filler),
    Buffer.from(`${tail}\n`),
  ]);
  for await (const chunk of source) {
    if (!peer.input.write(chunk)) await new Promise((resolve) => peer.input.once("drain", resolve));
  }
}
