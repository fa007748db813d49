import { describe, expect, it, vi } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { PeerError, peerError } from "../index.ts";
import { Random } from "../../programs/test-fuzz.ts";
import { scene } from "./test-scene.ts";

describe("a request of the peer", () => {
  it.each([
    ["an object", { a: [1, { b: null }] }, { a: [1, { b: null }] }],
    ["a string", "yes", "yes"],
    ["zero", 0, 0],
    ["null", null, null],
    ["nothing", undefined, null],
    ["a function", () => 1, null],
  ])("is answered with the return value of its handler: %s", async (_what, result, answer) => {
    const peer = scene({ request: () => result });
    expect(await peer.ask("a")).toEqual({ jsonrpc: "2.0", id: expect.any(String), result: answer });
  });

  it("is passed to its handler as it came", async () => {
    const seen: unknown[] = [];
    const peer = scene({ request: ({ id, method, params, line }) => seen.push({ id, method, params, line }) });
    const line = '{"method":"_own/a", "params":"a string where an object belongs", "id":7, "_meta":{"x":1.0}}';
    peer.send(line);
    await peer.answer(7);
    expect(seen).toEqual([{ id: 7, method: "_own/a", params: "a string where an object belongs", line }]);
  });

  it.each([
    ["throws at once", (): never => raise(new Error("no luck"))],
    ["rejects", () => Promise.reject(new Error("no luck"))],
    ["throws no error", (): never => raise("no luck")],
  ])("is answered with an error if its handler %s", async (_how, request) => {
    const peer = scene({ request });
    expect(await peer.ask("a")).toMatchObject({ error: { code: -32603, message: "no luck" } });
  });

  it("is answered with the PeerError that its handler throws, including unknown fields", async () => {
    const raw = { code: -32002, message: "gone", data: { uri: "x" }, hint: ["look there"], retry: null };
    const peer = scene({ request: () => raise(new PeerError(raw)) });
    expect((await peer.ask("a")).error).toEqual(raw);
  });

  it("is refused if there is no request handler", async () => {
    const peer = scene();
    expect((await peer.ask("_own/a")).error).toEqual({
      code: -32601,
      message: "there is no method _own/a",
      data: { method: "_own/a" },
    });
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  it.each([
    ["a result with a BigInt", () => ({ n: 1n })],
    ["a result that holds itself", () => cycle],
    ["an error whose data holds itself", () => raise(peerError(-32000, "m", cycle))],
    ["an error whose data has a BigInt", () => Promise.reject(peerError(-32000, "m", 1n))],
    ["a thrown value that cannot become a string", () => raise(Object.create(null))],
  ])("is answered with an error if the answer is not serializable: %s", async (_what, answer) => {
    const peer = scene({ request: ({ method }) => (method === "bad" ? answer() : "fine") });
    expect(await peer.ask("bad")).toMatchObject({ error: { code: expect.any(Number), message: expect.any(String) } });
    expect(await peer.ask("good")).toMatchObject({ result: "fine" });
  });

  it.each([
    ["0"],
    ["-7"],
    ["9007199254740993"],
    ["123456789012345678901234567890"],
    ["1.5"],
    ["1e400"],
    ['""'],
    ['"7"'],
    ['"é😀 \\"}"'],
    ["null"],
  ])("gets its id echoed exactly: %s", async (id) => {
    const peer = scene({ request: ({ method }) => (method === "good" ? 1 : raise(new Error("bad"))) });
    peer.send(`{"jsonrpc":"2.0","id":${id},"method":"good"}`);
    await peer.until(() => peer.lines.length === 1, "the answer");
    peer.send(`{"jsonrpc":"2.0","id":${id},"method":"bad"}`);
    await peer.until(() => peer.lines.length === 2, "the error");
    expect(peer.lines).toEqual([
      `{"jsonrpc":"2.0","id":${id},"result":1}`,
      `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"bad"}}`,
    ]);
  });

  it("is refused if its id is in use, and the first request is still answered", async () => {
    const first = deferred<string>();
    const starts = vi.fn();
    const peer = scene({
      request: ({ params }) => {
        starts(params);
        return params === "first" ? first.promise : params;
      },
    });
    peer.send({ id: 1, method: "a", params: "first" }, { id: 1, method: "a", params: "second" });
    expect(await peer.answer(1)).toMatchObject({ error: { code: -32600 } });
    peer.send({ id: "1", method: "a", params: "another id" });
    expect(await peer.answer("1")).toMatchObject({ result: "another id" });
    first.resolve("done");
    await peer.until(() => peer.lines.length === 3, "the answer to the first");
    peer.send({ id: 1, method: "a", params: "third" });
    await peer.until(() => peer.lines.length === 4, "the answer to the third");
    expect(peer.messages.slice(2).map(({ result }) => result)).toEqual(["done", "third"]);
    expect(starts.mock.calls).toEqual([["first"], ["another id"], ["third"]]);
  });

  it("is answered once, regardless of the order in which the handlers finish", async () => {
    const random = new Random(1);
    const open: (() => void)[] = [];
    const peer = scene({
      request: ({ id, method }) => (method === "a" ? new Promise((resolve) => open.push(() => resolve(id))) : id),
    });
    for (let id = 0; id < 200; id += 1) peer.send({ id, method: "a" });
    await peer.ask("all came");
    while (open.length > 0) open.splice(random.below(open.length), 1)[0]?.();
    await peer.ask("all were answered");
    expect(peer.messages.every(({ id, result }) => id === result)).toBe(true);
    expect(peer.lines).toHaveLength(202);
    expect(new Set(peer.lines).size).toBe(202);
  });
});

describe("a notification", () => {
  it("is never answered; a failure of its handler is passed to `failed`", async () => {
    const failed = vi.fn();
    const peer = scene({
      request: () => 1,
      notification: ({ method }) => (method === "sync" ? raise(new Error("sync")) : Promise.reject(new Error("async"))),
      failed: (error, { method, params }) => void failed(String(error), method, params),
    });
    peer.send({ method: "sync", params: 1 }, { method: "async", params: 2 });
    await peer.ask("a");
    expect(peer.lines).toHaveLength(1);
    expect(failed.mock.calls).toEqual([
      ["Error: sync", "sync", 1],
      ["Error: async", "async", 2],
    ]);
  });

  it("without a handler is ignored", async () => {
    const peer = scene({ request: () => 1 });
    peer.send({ method: "_own/a" });
    await peer.ask("a");
    expect(peer.lines).toHaveLength(1);
    expect(peer.noise).toEqual([]);
  });
});

function raise(error: unknown): never {
  throw error;
}
