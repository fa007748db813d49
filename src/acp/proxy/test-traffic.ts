/** Raw peers that exchange random messages through a proxy and record what they send and receive. */
import { PassThrough } from "node:stream";
import { setImmediate as tick } from "node:timers/promises";
import { chunks, type Random } from "../../programs/test-fuzz.ts";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A message without its id, which every hop replaces. */
export interface RecordedMessage {
  readonly kind: "request" | "notification" | "response";
  readonly method?: string | undefined;
  readonly value: unknown;
}

export class RawPeer {
  readonly output = new PassThrough();
  readonly sent: RecordedMessage[] = [];
  readonly seen: RecordedMessage[] = [];
  /** Incoming requests without an answer yet. */
  readonly owed: { readonly id: number | string; readonly method: string; readonly params: unknown }[] = [];
  readonly #random: Random;
  readonly #name: string;
  #ids = 0;
  #unwritten = "";
  #answers = 0;

  constructor(name: string, input: PassThrough, random: Random) {
    this.#name = name;
    this.#random = random;
    let rest = "";
    input.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line) as Message);
    });
  }

  get unanswered(): number {
    return this.#ids - this.#answers;
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params });
    this.sent.push({ kind: "notification", method, value: params });
  }

  request(method: string, params: unknown): void {
    this.#ids += 1;
    const id = this.#random.chance(0.5) ? this.#ids : `${this.#name}-${this.#ids}`;
    this.#send({ id, method, params });
    this.sent.push({ kind: "request", method, value: params });
  }

  /** Answers a random open request. */
  answer(result: (request: { method: string; params: unknown }) => unknown): boolean {
    const [request] = this.owed.splice(this.#random.below(this.owed.length), 1);
    if (request === undefined) return false;
    const value = result(request);
    const isError = this.#random.chance(0.2) && request.method !== "session/new";
    this.#send(
      isError
        ? { id: request.id, error: { code: -32001, message: "no", extra: value } }
        : { id: request.id, result: value },
    );
    this.sent.push({ kind: "response", value: isError ? { code: -32001, message: "no", extra: value } : value });
    return true;
  }

  /** Answers the oldest request of this method that `isWanted` accepts. */
  answerTo(method: string, value: unknown, isWanted: (params: unknown) => boolean = () => true): void {
    const index = this.owed.findIndex((request) => request.method === method && isWanted(request.params));
    const [request] = index === -1 ? [] : this.owed.splice(index, 1);
    if (request === undefined) throw new Error(`nobody asked for ${method}`);
    this.#send({ id: request.id, result: value });
    this.sent.push({ kind: "response", value });
  }

  /** Writes everything sent since the last call, in random pieces. */
  async flush(): Promise<void> {
    const bytes = Buffer.from(this.#unwritten);
    this.#unwritten = "";
    for (const piece of chunks(bytes, this.#random)) {
      this.output.write(piece);
      if (this.#random.chance(0.2)) await tick();
    }
  }

  #send(message: Message): void {
    this.#unwritten += `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
  }

  #take(message: Message): void {
    const { id, method, params } = message;
    if (method === undefined) {
      this.#answers += 1;
      this.seen.push({ kind: "response", value: message.error ?? message.result });
    } else if (id === undefined) {
      this.seen.push({ kind: "notification", method, value: params });
    } else {
      this.owed.push({ id, method, params });
      this.seen.push({ kind: "request", method, value: params });
    }
  }
}

/** Waits for a condition, one turn of the event loop at a time. */
export async function until(what: string, done: () => boolean, most = 5_000): Promise<void> {
  for (let turns = 0; !done(); turns += 1) {
    if (turns > most) throw new Error(`this never came: ${what}`);
    await tick();
  }
}
