import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { Connection, ConnectionClosed, streamTransport, type IncomingRequest, type PeerExit } from "../index.ts";
import { scene, slow } from "./test-scene.ts";

describe("when the peer sends no more", () => {
  it("delivers everything that was buffered first, including answers, however slow the handlers are", async () => {
    const seen: unknown[] = [];
    const first = deferred();
    const peer = scene({
      notification: async ({ params }) => {
        if (params === 0) await first.promise;
        seen.push(params);
      },
    });
    const asked = peer.connection.request("a").then((result) => seen.push(result));
    for (let n = 0; n < 50; n += 1) peer.send({ method: "n", params: n });
    peer.input.end('{"id":1,"result":"answer"}\n{"method":"n","params":"last, without a newline"}');
    await once(peer.input, "end");
    expect({ seen, over: peer.connection.over }).toEqual({ seen: [], over: undefined });
    first.resolve();
    await peer.connection.inputEnded;
    await asked;
    expect(seen).toEqual([...Array.from({ length: 50 }, (_, n) => n), "answer", "last, without a newline"]);
  });

  it("rejects each pending request once, and every later one", async () => {
    const peer = scene();
    const asked = [peer.connection.request("a"), peer.connection.request("b")].map((request) =>
      request.catch((error: unknown) => error),
    );
    peer.input.end();
    for (const error of await Promise.all(asked)) {
      expect(error).toBeInstanceOf(ConnectionClosed);
      expect(error).toMatchObject({ end: "eof", exit: undefined, message: "the peer closed the connection" });
    }
    await expect(peer.connection.request("c")).rejects.toBeInstanceOf(ConnectionClosed);
    await peer.connection.closed;
    await expect(peer.connection.notify("d")).rejects.toBeInstanceOf(ConnectionClosed);
  });

  it("still answers open requests, sends their notifications, and then closes", async () => {
    const go = deferred();
    const peer = scene({
      request: async ({ signal }) => {
        await go.promise;
        await peer.connection.notify("update", "on the way");
        return { aborted: signal.aborted };
      },
    });
    peer.input.end('{"id":1,"method":"prompt"}\n{"id":2,"method":"prompt"}\n');
    await peer.connection.inputEnded;
    expect(peer.ended).toBe(false);
    go.resolve();
    await peer.connection.closed;
    expect(peer.ended).toBe(true);
    expect(peer.messages.map(({ id, params, result }) => ({ id, params, result }))).toEqual([
      { params: "on the way" },
      { params: "on the way" },
      { id: 1, result: { aborted: false } },
      { id: 2, result: { aborted: false } },
    ]);
  });

  it("sends everything that was queued", async () => {
    const output = slow();
    const input = new PassThrough();
    const connection = track(new Connection({ transport: streamTransport(input, output) }));
    for (let n = 0; n < 2_000; n += 1) void connection.notify("n", "x".repeat(1_000)).catch(() => undefined);
    input.end();
    await connection.closed;
    expect(output.lines()).toHaveLength(2_000);
  });

  it("rejects a request that a handler of an open request sends to the peer", async () => {
    const peer = scene({ request: () => peer.connection.request("a").catch((error: unknown) => String(error)) });
    peer.input.end('{"id":1,"method":"asks"}\n');
    await peer.connection.closed;
    expect(peer.messages[1]).toMatchObject({ id: 1, result: "ConnectionClosed: the peer closed the connection" });
  });

  it("notices that the peer reads no more either, although a running handler sends nothing", async () => {
    const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error("EPIPE")) });
    const input = new PassThrough();
    const aborted = deferred();
    const handlers = {
      request: ({ signal }: IncomingRequest) => {
        signal.addEventListener("abort", () => aborted.resolve());
        return new Promise(() => undefined);
      },
    };
    const connection = track(new Connection({ transport: streamTransport(input, output), handlers }));
    input.end('{"id":1,"method":"prompt"}\n');
    await aborted.promise;
    await connection.closed;
  });

  it("sends only a probe without meaning to a peer that still waits for its answer", async () => {
    const go = deferred();
    const peer = scene({ request: () => go.promise });
    peer.input.end('{"id":1,"method":"prompt"}\n');
    expect(await peer.call("$/cancel_request")).toMatchObject({ params: { requestId: null } });
    go.resolve();
    expect(await peer.answer(1)).toMatchObject({ id: 1 });
    await peer.connection.closed;
  });

  it("rejects a request of a handler that blocks the connection", async () => {
    const peer = scene({
      notification: async () => {
        outcome.resolve(await peer.connection.request("a").catch((error: unknown) => error));
      },
    });
    const outcome = deferred<unknown>();
    peer.input.end('{"method":"n"}\n');
    expect(await outcome.promise).toMatchObject({ end: "eof" });
    await peer.connection.closed;
  });
});

describe("when the peer was a process", () => {
  it("fails a request made between the end of output and the exit with the exit too", async () => {
    const exit: PeerExit = { exitCode: null, signal: "SIGKILL", stderr: "" };
    const asksForExit = deferred();
    const known = deferred<PeerExit>();
    const options = {
      peer: "the agent",
      exit: () => {
        asksForExit.resolve();
        return known.promise;
      },
    };
    const peer = scene({}, options);
    peer.input.end();
    await asksForExit.promise;
    const asked = peer.connection.request("a").catch((error: unknown) => error);
    known.resolve(exit);
    expect(await asked).toMatchObject({ end: "eof", exit, message: "the agent ended (signal SIGKILL)" });
    expect(peer.messages).toEqual([]);
    await expect(peer.connection.request("b")).rejects.toMatchObject({ exit });
  });

  it("reports its exit code and its last output", async () => {
    const exit: PeerExit = { exitCode: 3, signal: null, stderr: "out of memory\n" };
    const peer = scene({}, { peer: "the agent", exit: () => Promise.resolve(exit) });
    const asked = peer.connection.request("a").catch((error: unknown) => error);
    peer.input.end();
    expect(await asked).toMatchObject({ end: "eof", exit });
    expect(String(await asked)).toBe("ConnectionClosed: the agent ended (exit code 3); its last output: out of memory");
    expect(peer.connection.over).toBe(await asked);
  });

  it("aborts its open requests, because nobody waits for them", async () => {
    const exit: PeerExit = { exitCode: null, signal: "SIGKILL", stderr: "" };
    const reason = deferred<unknown>();
    const peer = scene(
      {
        request: ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason as Error));
            signal.addEventListener("abort", () => reason.resolve(signal.reason));
          }),
      },
      { exit: () => Promise.resolve(exit) },
    );
    peer.input.end('{"id":1,"method":"a"}\n');
    expect(await reason.promise).toMatchObject({ exit });
    await peer.connection.closed;
  });

  it("closes although a handler ignores the abort", async () => {
    const exit: PeerExit = { exitCode: 0, signal: null, stderr: "" };
    const peer = scene({ request: () => new Promise(() => undefined) }, { exit: () => Promise.resolve(exit) });
    peer.input.end('{"id":1,"method":"a"}\n');
    await peer.connection.closed;
  });

  it.each([
    ["cannot be determined", () => Promise.reject(new Error("no"))],
    ["is unknown", () => Promise.resolve(undefined)],
  ])("rejects pending requests although its exit %s", async (_how, exit) => {
    const peer = scene({}, { exit });
    const asked = peer.connection.request("a");
    peer.input.end();
    await expect(asked).rejects.toMatchObject({ end: "eof", exit: undefined });
    await peer.connection.closed;
  });

  it("keeps no timer alive after it is closed", async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const peer = scene({}, { exit: () => Promise.resolve(undefined) });
    peer.input.end();
    await peer.connection.closed;
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it("reports its exit although a write fails first", async () => {
    const child = spawn(process.execPath, ["-e", "process.stderr.write('bye'); process.exit(7)"], { stdio: "pipe" });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const exited = once(child, "close").then(
      ([exitCode, signal]: unknown[]) => ({ exitCode, signal, stderr }) as PeerExit,
    );
    const connection = track(
      new Connection({ transport: streamTransport(child.stdout, child.stdin), exit: () => exited }),
    );
    const asked = Promise.all(
      Array.from({ length: 50 }, () => connection.request("a", "x".repeat(10_000)).catch((error: unknown) => error)),
    );
    for (const error of await asked) expect(error).toMatchObject({ exit: { exitCode: 7, stderr: "bye" } });
    await connection.closed;
  });
});

describe("when a stream fails", () => {
  it("rejects pending requests with the cause if it is the input", async () => {
    const peer = scene();
    const asked = peer.connection.request("a").catch((error: unknown) => error);
    peer.input.destroy(new Error("EIO"));
    expect(await asked).toMatchObject({ end: "broken", cause: expect.objectContaining({ message: "EIO" }) });
    expect(String(await asked)).toContain("EIO");
    await peer.connection.closed;
  });

  it("rejects requests if the input was closed before the connection was made", async () => {
    const input = new PassThrough();
    input.destroy();
    await once(input, "close");
    const connection = track(new Connection({ transport: streamTransport(input, new PassThrough()) }));
    await expect(connection.request("a")).rejects.toBeInstanceOf(ConnectionClosed);
  });

  it("rejects pending requests after handling the rest of the input if it is the output", async () => {
    const breaking = async (cause: Error | undefined): Promise<unknown> => {
      const [input, output, seen] = [new PassThrough(), new PassThrough(), deferred<unknown>()];
      const handlers = { notification: ({ params }: { params: unknown }) => seen.resolve(params) };
      const connection = track(new Connection({ transport: streamTransport(input, output), handlers }));
      const asked = connection.request("a").catch((error: unknown) => error);
      output.destroy(cause);
      input.write('{"method":"n","params":"last words"}\n');
      expect(await seen.promise).toBe("last words");
      const error = await asked;
      await connection.closed;
      return error;
    };
    const [broken, closed] = await Promise.all([breaking(new Error("EPIPE")), breaking(undefined)]);
    expect(broken).toMatchObject({ end: "broken", cause: expect.objectContaining({ message: "EPIPE" }) });
    expect(closed).toMatchObject({ end: "broken", message: expect.stringContaining("the stream was closed") });
  });
});

function track(connection: Connection): Connection {
  onTestFinished(() => connection.close());
  return connection;
}
