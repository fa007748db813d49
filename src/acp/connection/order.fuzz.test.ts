import { expect, it } from "vitest";
import {
  Connection,
  PeerError,
  RPC,
  streamTransport,
  type IncomingNotification,
  type IncomingRequest,
  type RequestOptions,
} from "../index.ts";
import { Random, fuzz, pause, shredder } from "../../programs/test-fuzz.ts";
import { OrderLog } from "./test-order.ts";
import { quiet } from "./test-scene.ts";

interface Params {
  readonly key: string;
  /** The number of calls that led to this one. */
  readonly depth: number;
  readonly text: unknown;
}

/** The probabilities of one case. */
interface CaseOptions {
  /** Handlers call the peer and wait for the answer. */
  readonly calls: number;
  readonly throws: number;
  readonly cancels: number;
  readonly messages: number;
  readonly readBytes: number;
}

const DEEPEST = 2;
const CASES = 300;

it("loses, duplicates and reorders nothing, for any chunks and any handlers", async () => {
  await fuzz(CASES, async (random) => {
    const manners: CaseOptions = {
      calls: random.pick(0, 0.1, 0.5),
      throws: random.pick(0, 0.2),
      cancels: random.pick(0, 0.3),
      messages: 1 + random.below(25),
      readBytes: random.pick(1, 1_000, 1_000_000),
    };
    const [left, right] = connected(random, manners);
    const patient = random.chance(0.7);
    const driven = Promise.all([left.drive(), right.drive()]);
    if (patient) await driven.then(() => quiet(() => left.log.wire.length + right.log.wire.length));
    else await pause(random);
    await left.close();
    await right.connection.closed;
    await driven;
    expect({
      left: left.log.faults({ complete: patient }),
      right: right.log.faults({ complete: true }),
      wrong: [...left.wrong, ...right.wrong],
    }).toEqual({ left: [], right: [], wrong: [] });
  });
}, 600_000);

class Side {
  readonly connection: Connection;
  readonly log = new OrderLog();
  /** Unexpected answers. */
  readonly wrong: string[] = [];
  readonly #name: string;
  readonly #random: Random;
  readonly #manners: CaseOptions;
  readonly #keys = new Map<unknown, string>();
  readonly #waiting: Promise<void>[] = [];
  #peer: Side | undefined;
  #count = 0;
  #closing = false;

  constructor(name: string, random: Random, manners: CaseOptions, streams: Parameters<typeof streamTransport>) {
    this.#name = name;
    this.#random = random;
    this.#manners = manners;
    this.connection = new Connection({
      transport: streamTransport(...streams),
      readBytes: manners.readBytes,
      trace: (direction, line) => (direction === "out" ? this.#sent(line) : undefined),
      handlers: {
        notification: (notification) => this.#notified(notification),
        request: (request) => this.#requested(request),
        noise: ({ kind, text }) => void this.wrong.push(`noise: ${kind} ${text}`),
      },
    });
  }

  meet(peer: Side): void {
    this.#peer = peer;
  }

  /** Sends notifications and requests at its own pace, and waits for the answers. */
  async drive(): Promise<void> {
    for (let left = this.#manners.messages; left > 0 && !this.#closing; left -= 1) {
      if (this.#random.chance(0.5)) this.#tell(0);
      else this.#waiting.push(this.#ask(0, { apart: true }));
      if (this.#random.chance(0.4)) await pause(this.#random);
    }
    while (this.#waiting.length > 0) await this.#waiting.pop();
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.connection.close();
  }

  #sent(line: string): void {
    const { id, method, params } = JSON.parse(line) as { id?: unknown; method?: string; params?: Params };
    if (method === "$/cancel_request") return;
    if (id !== undefined && method !== undefined) this.#keys.set(id, params?.key ?? "");
    this.#peer?.log.wire.push(
      method === undefined ? `answer to ${this.#peer.#keys.get(id) ?? "nothing"}` : (params?.key ?? ""),
    );
  }

  #params(depth: number): Params {
    this.#count += 1;
    return { key: `${this.#name}${this.#count}`, depth, text: this.#random.value() };
  }

  #tell(depth: number): void {
    this.connection.notify("n", this.#params(depth)).catch((error: unknown) => {
      if (!this.#over) this.wrong.push(`a notification was refused: ${String(error)}`);
    });
  }

  async #ask(depth: number, options: RequestOptions): Promise<void> {
    const random = this.#random;
    const params = this.#params(depth);
    const key = `answer to ${params.key}`;
    const seenFirst = random.chance(0.4);
    const abort = random.chance(this.#manners.cancels) ? new AbortController() : undefined;
    if (options.apart !== true) this.log.calls(key);
    const asked = this.connection.request("r", params, {
      ...options,
      ...(seenFirst && { onResponse: () => this.#act(key, depth) }),
      ...(abort && { signal: abort.signal }),
    });
    if (abort !== undefined) {
      this.#peer?.log.cancelled.add(params.key);
      void pause(random).then(() => abort.abort());
    }
    const outcome = await asked.catch((error: unknown) => error);
    if (!seenFirst && (outcome instanceof PeerError || !(outcome instanceof Error))) this.log.starts(key);
    this.log.answered(key);
    if (!isExpected(outcome, params.key, abort !== undefined) && !this.#over) {
      this.wrong.push(`${params.key} was answered with ${String(outcome)}`);
    }
  }

  /** Runs random steps and records when they start and end. */
  async #act(key: string, depth: number): Promise<void> {
    this.log.starts(key);
    try {
      await this.#steps(depth);
    } finally {
      this.log.ends(key);
    }
  }

  async #steps(depth: number): Promise<void> {
    for (let steps = this.#random.below(3); steps > 0; steps -= 1) {
      await pause(this.#random);
      if (this.#random.chance(0.2) && depth < DEEPEST) this.#tell(depth + 1);
      if (this.#random.chance(this.#manners.calls) && depth < DEEPEST) await this.#ask(depth + 1, {});
    }
    if (this.#random.chance(this.#manners.throws)) throw new Error("thrown");
  }

  #notified({ params }: IncomingNotification): void | Promise<void> {
    const { key, depth } = params as Params;
    if (this.#random.chance(0.7)) return this.#act(key, depth);
    this.log.starts(key);
  }

  async #requested(request: IncomingRequest): Promise<unknown> {
    const { key, depth } = request.params as Params;
    if (this.#random.chance(0.3)) {
      const held = this.#act(key, depth);
      request.hold(held);
      if (this.#random.chance(0.5)) await held;
      else await held.catch(() => undefined);
      return { key };
    }
    this.log.starts(key);
    if (this.#random.chance(0.2)) request.respond({ key });
    await this.#steps(depth);
    return { key };
  }

  get #over(): boolean {
    return this.#closing || this.connection.over !== undefined || this.#peer?.connection.over !== undefined;
  }
}

function isExpected(outcome: unknown, key: string, cancelled: boolean): boolean {
  if (!(outcome instanceof PeerError)) return (outcome as { key?: unknown } | null)?.key === key;
  return outcome.message === "thrown" || (cancelled && outcome.code === RPC.cancelled);
}

function connected(random: Random, manners: CaseOptions): [Side, Side] {
  const [there, back] = [shredder(new Random(random.below(2 ** 31))), shredder(new Random(random.below(2 ** 31)))];
  const left = new Side("l", new Random(random.below(2 ** 31)), manners, [back, there]);
  const right = new Side("r", new Random(random.below(2 ** 31)), manners, [there, back]);
  left.meet(right);
  right.meet(left);
  return [left, right];
}
