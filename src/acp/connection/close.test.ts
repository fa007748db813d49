import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { Connection, ConnectionClosed, streamTransport, transportPair } from "../index.ts";
import { scene, slow } from "./test-scene.ts";

describe("closing", () => {
  it("answers open requests, sends what is queued, rejects our requests, and ends the stream", async () => {
    const [input, output, begun] = [new PassThrough(), slow(), deferred()];
    const connection = track(
      new Connection({
        transport: streamTransport(input, output),
        handlers: { request: ({ id }) => new Promise(() => (id === 2 ? begun.resolve() : undefined)) },
      }),
    );
    input.write('{"id":1,"method":"a"}\n{"id":2,"method":"a"}\n');
    await begun.promise;
    const asked = connection.request("b").catch((error: unknown) => error);
    for (let n = 0; n < 500; n += 1) void connection.notify("n", "x".repeat(1_000)).catch(() => undefined);
    await connection.close();
    expect(await asked).toMatchObject({ end: "closed", message: "the connection to the peer was closed" });
    const answers = output.lines().filter((line) => line.includes('"error"'));
    expect(answers).toHaveLength(2);
    expect(output.lines().filter((line) => line.includes('"method":"n"'))).toHaveLength(500);
    expect(output.writableFinished).toBe(true);
  });

  it("happens once if it is called twice", async () => {
    const peer = scene();
    const first = peer.connection.close(new Error("why"));
    expect(peer.connection.close(new Error("again"))).toBe(first);
    await first;
    await peer.connection[Symbol.asyncDispose]();
    await peer.connection.closed;
    expect(peer.connection.over).toMatchObject({ end: "closed", cause: expect.objectContaining({ message: "why" }) });
  });

  it("aborts open requests and ignores late answers", async () => {
    const late = deferred<string>();
    const aborted = deferred<unknown>();
    const peer = scene({
      request: ({ signal }) => {
        signal.addEventListener("abort", () => aborted.resolve(signal.reason));
        return late.promise;
      },
    });
    peer.send({ id: 1, method: "a" });
    await peer.until(() => peer.input.readableLength === 0, "the request");
    await Promise.resolve();
    const closed = peer.connection.close();
    expect(await aborted.promise).toBeInstanceOf(ConnectionClosed);
    late.resolve("late");
    await closed;
    expect(peer.messages).toMatchObject([{ id: 1, error: { message: "the connection is being closed" } }]);
  });

  it("passes nothing more to the handlers, not even what has already arrived", async () => {
    const first = deferred();
    const seen: unknown[] = [];
    const peer = scene({
      notification: ({ params }) => {
        seen.push(params);
        return first.promise;
      },
      request: () => seen.push("request"),
    });
    peer.send({ method: "n", params: 1 }, { method: "n", params: 2 }, { id: 1, method: "a" });
    await peer.until(() => seen.length === 1, "the first").catch(() => undefined);
    await peer.connection.close();
    first.resolve();
    await first.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual([1]);
  });

  it("is noticed by a peer in the same process", async () => {
    const [a, b] = transportPair();
    const seen: unknown[] = [];
    const left = track(new Connection({ transport: a }));
    const right = track(
      new Connection({ transport: b, handlers: { notification: ({ params }) => void seen.push(params) } }),
    );
    for (let n = 0; n < 100; n += 1) void left.notify("n", n);
    const asked = right.request("a").catch((error: unknown) => error);
    await left.close();
    await right.closed;
    expect(seen).toHaveLength(100);
    expect(await asked).toBeInstanceOf(Error);
    await expect(right.request("b")).rejects.toMatchObject({ end: "eof" });
  });
});

function track(connection: Connection): Connection {
  onTestFinished(() => connection.close());
  return connection;
}
