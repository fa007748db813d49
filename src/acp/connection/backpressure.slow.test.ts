import { PassThrough, Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { deferred } from "../../stdx/index.ts";
import {
  Connection,
  ConnectionClosed,
  PeerNotReading,
  streamTransport,
  transportPair,
  type ConnectionOptions,
} from "../index.ts";
import { heldMemory } from "../../programs/test-memory.ts";
import { quiet } from "./test-scene.ts";

const MB = 1024 * 1024;
const UPDATE = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","n":`;

describe("a handler that blocks", () => {
  it("stops a source of a million updates and gets all of them in order when it continues", async () => {
    const [stalls, goesOn] = [deferred(), deferred()];
    const flood = new Flood(1_000_000, (n) => `${UPDATE}${n}}}\n`);
    let handled = 0;
    let wrong = 0;
    const connection = connect(flood.source, sink(), {
      handlers: {
        notification({ params }) {
          if ((params as { n: number }).n !== handled) wrong += 1;
          handled += 1;
          if (handled !== 1_000) return undefined;
          stalls.resolve();
          return goesOn.promise;
        },
      },
    });
    await stalls.promise;
    await flood.still();
    expect(handled).toBe(1_000);
    expect(flood.bytes).toBeLessThan(1.5 * MB);
    goesOn.resolve();
    await connection.inputEnded;
    expect({ handled, wrong }).toEqual({ handled: 1_000_000, wrong: 0 });
  });

  it("buffers no more than the configured limit", async () => {
    const flood = new Flood(100_000, (n) => `${UPDATE}${n}}}\n`);
    connect(flood.source, sink(), {
      readBytes: 100_000,
      handlers: { notification: () => new Promise(() => undefined) },
    });
    await flood.still();
    expect(flood.bytes).toBeLessThan(400_000);
  });

  it("stops a peer that sends a million tiny lines before they fill the memory", async () => {
    const flood = new Flood(1_000_000, (n) => (n === 0 ? '{"method":"a"}\n' : "1\n"));
    const before = heldMemory();
    connect(flood.source, sink(), { handlers: { notification: () => new Promise(() => undefined) } });
    await flood.still();
    expect(heldMemory() - before).toBeLessThan(16 * MB);
  });

  it("stops the source if it is a request handler that holds the queue", async () => {
    const flood = new Flood(100_000, (n) => (n === 0 ? '{"id":1,"method":"a"}\n' : `${UPDATE}${n}}}\n`));
    connect(flood.source, sink(), {
      handlers: {
        request: (request) => request.hold(new Promise(() => undefined)),
        notification: () => expect.unreachable(),
      },
    });
    await flood.still();
    expect(flood.bytes).toBeLessThan(1.5 * MB);
  });

  it("stops the source if it passes messages on to a peer that does not read", async () => {
    const flood = new Flood(200_000, (n) => `${UPDATE}${n}}}\n`);
    const stuck = new Stuck();
    const onward = connect(new PassThrough(), stuck);
    connect(flood.source, sink(), { handlers: { notification: ({ line }) => onward.passOn(line) } });
    await flood.still();
    expect(flood.bytes).toBeLessThan(2 * MB);
    stuck.destroy();
  });

  it("stops a peer in the same process", async () => {
    const [a, b] = transportPair();
    const left = track(new Connection({ transport: a }));
    track(new Connection({ transport: b, handlers: { notification: () => new Promise(() => undefined) } }));
    let sent = 0;
    const sending = (async () => {
      for (; sent < 100_000; sent += 1) await left.notify("session/update", { text: "x".repeat(100) });
    })();
    void sending.catch(() => undefined); // it is closed at the end of the test
    await quiet(() => sent);
    expect(sent * 100).toBeLessThan(3 * MB);
  });
});

describe("a peer that does not read", () => {
  it("makes the sender wait until it reads again", async () => {
    const stuck = new Stuck();
    const connection = connect(new PassThrough(), stuck);
    let sent = 0;
    const sending = (async () => {
      for (; sent < 3_000; sent += 1) await connection.notify("session/update", { n: sent, text: "x".repeat(1_000) });
    })();
    await quiet(() => sent);
    expect(sent).toBeLessThan(1_000);
    stuck.read();
    await sending;
    await connection.close();
    const numbers = stuck.lines().map((line) => (JSON.parse(line) as { params: { n: number } }).params.n);
    expect(numbers).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
  });

  it("fails messages above the limit and keeps no more than that", async () => {
    const stuck = new Stuck();
    const connection = connect(new PassThrough(), stuck, { writeBytes: MB });
    await connection.notify("n"); // from here on the transport accepts no more
    let taken = 1;
    const refused: unknown[] = [];
    for (let n = 0; n < 3_000; n += 1) {
      try {
        void connection.passOn(`{"method":"n","params":"${"x".repeat(1_000)}"}`);
        taken += 1;
      } catch (error) {
        refused.push(error);
      }
    }
    expect(refused.length).toBeGreaterThan(1_900);
    expect(refused[0]).toBeInstanceOf(PeerNotReading);
    await expect(connection.request("a")).rejects.toBeInstanceOf(PeerNotReading);
    stuck.read();
    await connection.ready();
    await connection.close();
    expect(stuck.lines()).toHaveLength(taken);
  });

  it.each([
    ["sends requests", {}, (n: number) => `{"id":${n},"method":"a"}\n`],
    ["sends requests of unknown methods", {}, (n: number) => `{"id":${n},"method":"none"}\n`],
    ["reuses one request id", {}, () => '{"id":1,"method":"never"}\n'],
    ["sends lines that are not JSON to a peer that answers them", { malformed: "answer" }, () => "nonsense\n"],
    [
      "sends messages that are too large",
      {},
      (n: number) => `{"id":${n},"method":"a","params":"${"x".repeat(2_000)}"}\n`,
    ],
  ] as const)("is disconnected when it endlessly %s", async (_how, options, line) => {
    const flood = new Flood(50_000, line);
    const stuck = new Stuck();
    const transport = streamTransport(flood.source, stuck, { maxMessageBytes: 1_000 });
    const connection = track(
      new Connection({
        transport,
        writeBytes: MB,
        handlers: {
          request: ({ method }) => {
            if (method === "none") throw new Error("there is no such thing");
            return method === "never" ? new Promise(() => undefined) : "x".repeat(100);
          },
        },
        ...options,
      }),
    );
    const before = heldMemory();
    const asked = connection.request("a").catch((error: unknown) => error);
    expect(await asked).toBeInstanceOf(ConnectionClosed);
    expect(await asked).toMatchObject({ end: "closed", cause: expect.any(PeerNotReading) });
    expect(heldMemory() - before).toBeLessThan(8 * MB);
    stuck.destroy(); // otherwise closing waits for it
    await connection.closed;
  });

  it("does not prevent closing", async () => {
    const connection = connect(new PassThrough(), new Stuck());
    void connection.notify("n", "x".repeat(MB)).catch(() => undefined);
    await connection.close();
    expect(connection.over).toMatchObject({ end: "closed" });
  });
});

/** More lines than anybody should hold, generated on demand. */
class Flood {
  bytes = 0;
  readonly source: Readable;

  constructor(count: number, line: (n: number) => string) {
    this.source = Readable.from(this.#chunks(count, line), { objectMode: false, highWaterMark: 1 });
  }

  /** One chunk per turn of the event loop, like a pipe. */
  async *#chunks(count: number, line: (n: number) => string): AsyncGenerator<Buffer> {
    for (let n = 0; n < count;) {
      let text = "";
      while (n < count && text.length < 32_000) text += line(n++);
      this.bytes += text.length;
      yield Buffer.from(text);
      await nextTurn();
    }
  }

  /** Resolves when nobody reads anymore. */
  still(): Promise<void> {
    return quiet(() => this.bytes);
  }
}

/** Accepts nothing until `read` is called. */
class Stuck extends Writable {
  #text = "";
  #reads = false;
  #done: (() => void) | undefined;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#text += chunk.toString();
    if (this.#reads) setImmediate(done);
    else this.#done = done;
  }

  read(): void {
    this.#reads = true;
    this.#done?.();
  }

  lines(): string[] {
    return this.#text.split("\n").slice(0, -1);
  }
}

function connect(input: Readable, output: Writable, options: Partial<ConnectionOptions> = {}): Connection {
  return track(new Connection({ transport: streamTransport(input, output), ...options }));
}

function track(connection: Connection): Connection {
  onTestFinished(() => connection.close());
  return connection;
}

function sink(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
