import { once } from "node:events";
import { connect, createServer } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { ReadableStream, TransformStream, WritableStream } from "node:stream/web";
import { describe, expect, it, onTestFinished } from "vitest";
import { deferred } from "../stdx/index.ts";
import { Connection, ConnectionClosed, streamTransport, type Transport } from "../acp/index.ts";
import { transportPair } from "./transport.ts";

const echo = { request: ({ params }: { params: unknown }) => params };

describe("a connection works over", () => {
  it.each([
    ["Node streams", nodeStreams],
    ["web streams", webStreams],
    ["a socket", sockets],
    ["an in-process pair", () => Promise.resolve(transportPair())],
  ])("%s", async (_what, make) => {
    const [a, b] = await make();
    const told: unknown[] = [];
    const left = track(new Connection({ transport: a, handlers: echo }));
    const right = track(
      new Connection({
        transport: b,
        handlers: {
          request: async ({ params }) => ["back", await right.request("back", params)],
          notification: ({ params }) => void told.push(params),
        },
      }),
    );
    for (let n = 0; n < 500; n += 1) await left.notify("n", { n, text: "é😀".repeat(100) });
    expect(await left.request("a", "é😀")).toEqual(["back", "é😀"]);
    expect(told).toEqual(Array.from({ length: 500 }, (_, n) => ({ n, text: "é😀".repeat(100) })));
    const unanswered = right.request("late").catch((error: unknown) => error);
    await left.close();
    await right.closed;
    expect(right.over).toMatchObject({ end: "eof" });
    await unanswered;
  });
});

it("delivers data written before a close to a slow reader", async () => {
  const output = new PassThrough({ highWaterMark: 1_000_000 });
  const connection = track(new Connection({ transport: streamTransport(new PassThrough(), output) }));
  for (let n = 0; n < 1_000; n += 1) void connection.notify("n", n);
  await connection.close();
  let text = "";
  for await (const chunk of output) text += String(chunk);
  expect(text.split("\n")).toHaveLength(1_001);
});

describe("a web stream", () => {
  it("is read only as far as lines are handled", async () => {
    const stalls = deferred();
    let pulled = 0;
    const input = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(Buffer.from(`{"method":"n","params":"${"x".repeat(10_000)}"}\n`));
        if (pulled === 2_000) controller.close();
      },
    });
    const stalled = deferred();
    const connection = track(
      new Connection({
        transport: streamTransport(input, new WritableStream()),
        handlers: {
          notification: () => {
            stalled.resolve();
            return stalls.promise;
          },
        },
      }),
    );
    await stalled.promise;
    for (let turn = 0; turn < 500; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(pulled).toBeLessThan(200);
    stalls.resolve();
    await connection.inputEnded;
    expect(pulled).toBe(2_000);
  });

  it("reports a failure with its cause", async () => {
    const input = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("torn")),
    });
    const connection = track(new Connection({ transport: streamTransport(input, new WritableStream()) }));
    const error = await connection.request("a").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionClosed);
    expect(error).toMatchObject({ end: "broken", cause: expect.objectContaining({ message: "torn" }) });
    await connection.closed;
  });

  it("is released when the connection closes", async () => {
    const cancelled = deferred();
    const closed = deferred();
    const input = new ReadableStream<Uint8Array>({ cancel: () => cancelled.resolve() });
    const output = new WritableStream<Uint8Array>({ close: () => closed.resolve() });
    await new Connection({ transport: streamTransport(input, output) }).close();
    await Promise.all([cancelled.promise, closed.promise]);
  });
});

describe("transportPair", () => {
  it("delivers data written before the end, also to a paused reader", async () => {
    const [a, b] = transportPair();
    const seen: string[] = [];
    const ended = deferred();
    b.start(sinkOf(seen, () => ended.resolve()));
    b.pause();
    a.write("one\ntwo\n");
    a.write("three\n");
    await a.end();
    a.destroy();
    await turn();
    expect(seen).toEqual([]);
    b.resume();
    await ended.promise;
    expect(seen).toEqual(["one", "two", "three"]);
  });

  it("accepts writes before the start", async () => {
    const [a, b] = transportPair();
    const seen: string[] = [];
    a.write("early\n");
    await turn();
    const ended = deferred();
    b.start(sinkOf(seen, () => ended.resolve()));
    await a.end();
    await ended.promise;
    expect(seen).toEqual(["early"]);
  });

  it("reports a full buffer, and when it drains", async () => {
    const [a, b] = transportPair();
    const drained = deferred();
    a.start({ ...sinkOf([]), drained: () => drained.resolve() });
    b.start(sinkOf([]));
    b.pause();
    expect(a.write(`${"x".repeat(1_000)}\n`)).toBe(true);
    expect(a.write(`${"x".repeat(100_000)}\n`)).toBe(false);
    b.resume();
    await drained.promise;
    expect(a.write("x\n")).toBe(true);
  });

  it("delivers asynchronously, never during a write", async () => {
    const [a, b] = transportPair();
    const seen: string[] = [];
    b.start(sinkOf(seen));
    a.write("one\n");
    expect(seen).toEqual([]);
    await turn();
    expect(seen).toEqual(["one"]);
  });
});

function nodeStreams(): Promise<[Transport, Transport]> {
  const [there, back] = [new PassThrough(), new PassThrough()];
  return Promise.resolve([streamTransport(back, there), streamTransport(there, back)]);
}

function webStreams(): Promise<[Transport, Transport]> {
  const [there, back] = [new TransformStream<Uint8Array, Uint8Array>(), new TransformStream<Uint8Array, Uint8Array>()];
  return Promise.resolve([
    streamTransport(back.readable, there.writable),
    streamTransport(there.readable, back.writable),
  ]);
}

async function sockets(): Promise<[Transport, Transport]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const client = connect({ port: (server.address() as { port: number }).port, host: "127.0.0.1", allowHalfOpen: true });
  const [accepted] = (await once(server, "connection")) as [Readable & NodeJS.WritableStream];
  return [streamTransport(client, client), streamTransport(accepted, accepted as never)];
}

function sinkOf(seen: string[], ended: () => void = () => undefined) {
  return {
    line: (text: string) => void seen.push(text),
    oversize: () => undefined,
    ended,
    drained: () => undefined,
    writeFailed: () => undefined,
  };
}

function track(connection: Connection): Connection {
  onTestFinished(() => connection.close());
  return connection;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
