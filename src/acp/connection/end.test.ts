import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { Connection, ConnectionClosed, streamTransport, type IncomingRequest, type PeerExit } from "../index.ts";
import { scene, slow } from "./test-scene.ts";

describe("when the peer sends no more", () => {
  it("what was buffered is delivered first, answers too, however long the handlers take", async () => {
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

  it("what was asked fails, each once, and so does what is asked afterwards", async () => {
    const peer = scene();
    const asked = [peer.connection.request("a"), peer.connection.request("b")].map((request) =>
      request.catch((error: unknown) => error),
    );
    peer.input.end();
    for (const error of await Promise.all(asked)) {
      expect(error).toBeInstanceOf(ConnectionClosed);
      expect(error).toMatchObject({ end: "eof", exit: undefined, message: "the peer ended the connection" });
    }
    await expect(peer.connection.request("c")).rejects.toBeInstanceOf(ConnectionClosed);
    await peer.connection.closed;
    await expect(peer.connection.notify("d")).rejects.toBeInstanceOf(ConnectionClosed);
  });

  it("what is in hand is still answered, what it tells on the way is sent, and then it is closed", async () => {
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

  it("what was queued is sent, however much it is", async () => {
    const output = slow();
    const input = new PassThrough();
    const connection = track(new Connection({ transport: streamTransport(input, output) }));
    for (let n = 0; n < 2_000; n += 1) void connection.notify("n", "x".repeat(1_000)).catch(() => undefined);
    input.end();
    await connection.closed;
    expect(output.lines()).toHaveLength(2_000);
  });

  it("a request in hand that waits for an answer of the peer is told that there will be none", async () => {
    const peer = scene({ request: () => peer.connection.request("a").catch((error: unknown) => String(error)) });
    peer.input.end('{"id":1,"method":"asks"}\n');
    await peer.connection.closed;
    expect(peer.messages[1]).toMatchObject({ id: 1, result: "ConnectionClosed: the peer ended the connection" });
  });

  it("that it reads no more either is noticed, although a handler that never ends has nothing to tell", async () => {
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

  it("while it reads and waits, what it is told beside its answer means nothing", async () => {
    const go = deferred();
    const peer = scene({ request: () => go.promise });
    peer.input.end('{"id":1,"method":"prompt"}\n');
    expect(await peer.call("$/cancel_request")).toMatchObject({ params: { requestId: null } });
    go.resolve();
    expect(await peer.answer(1)).toMatchObject({ id: 1 });
    await peer.connection.closed;
  });

  it("a handler that holds the connection and calls the peer is told", async () => {
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
  it("a request made after its output ended, but before its exit is known, fails with the exit too", async () => {
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

  it("what fails says how it ended and what it said last", async () => {
    const exit: PeerExit = { exitCode: 3, signal: null, stderr: "out of memory\n" };
    const peer = scene({}, { peer: "the agent", exit: () => Promise.resolve(exit) });
    const asked = peer.connection.request("a").catch((error: unknown) => error);
    peer.input.end();
    expect(await asked).toMatchObject({ end: "eof", exit });
    expect(String(await asked)).toBe("ConnectionClosed: the agent ended (exit code 3); it said last: out of memory");
    expect(peer.connection.over).toBe(await asked);
  });

  it("what it had asked is aborted, for nobody waits for it", async () => {
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

  it("it is closed although a handler does not care that it was aborted", async () => {
    const exit: PeerExit = { exitCode: 0, signal: null, stderr: "" };
    const peer = scene({ request: () => new Promise(() => undefined) }, { exit: () => Promise.resolve(exit) });
    peer.input.end('{"id":1,"method":"a"}\n');
    await peer.connection.closed;
  });

  it.each([
    ["cannot be found out", () => Promise.reject(new Error("no"))],
    ["is not known", () => Promise.resolve(undefined)],
  ])("what was asked fails although its exit %s", async (_how, exit) => {
    const peer = scene({}, { exit });
    const asked = peer.connection.request("a");
    peer.input.end();
    await expect(asked).rejects.toMatchObject({ end: "eof", exit: undefined });
    await peer.connection.closed;
  });

  it("nothing keeps the program alive once it is closed", async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const peer = scene({}, { exit: () => Promise.resolve(undefined) });
    peer.input.end();
    await peer.connection.closed;
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it("its death is told with its exit although writing to it fails first", async () => {
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

describe("when a stream breaks", () => {
  it("what comes in: what was asked fails with the cause", async () => {
    const peer = scene();
    const asked = peer.connection.request("a").catch((error: unknown) => error);
    peer.input.destroy(new Error("EIO"));
    expect(await asked).toMatchObject({ end: "broken", cause: expect.objectContaining({ message: "EIO" }) });
    expect(String(await asked)).toContain("EIO");
    await peer.connection.closed;
  });

  it("what comes in was over before the connection was made: what is asked fails", async () => {
    const input = new PassThrough();
    input.destroy();
    await once(input, "close");
    const connection = track(new Connection({ transport: streamTransport(input, new PassThrough()) }));
    await expect(connection.request("a")).rejects.toBeInstanceOf(ConnectionClosed);
  });

  it("what goes out: what was asked fails, after what still came in was handled", async () => {
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
