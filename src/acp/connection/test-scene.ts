/** A connection whose other end is the test, which writes raw lines and sees the raw output. */
import { PassThrough, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import {
  Connection,
  streamTransport,
  type ConnectionHandlers,
  type ConnectionOptions,
  type Noise,
  type RpcErrorObject,
} from "../index.ts";

interface SceneOptions extends Partial<Omit<ConnectionOptions, "transport" | "handlers">> {
  readonly maxMessageBytes?: number;
}

export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: RpcErrorObject;
}

const PATIENCE_MS = 20_000;

export class Scene {
  readonly connection: Connection;
  readonly input = new PassThrough();
  /** Every line that the connection wrote. */
  readonly lines: string[] = [];
  readonly noise: Noise[] = [];
  /** True when nothing more will be written. */
  ended = false;
  readonly #watchers = new Set<() => void>();

  constructor(handlers: ConnectionHandlers, { maxMessageBytes, ...options }: SceneOptions) {
    this.connection = new Connection({
      ...options,
      transport: streamTransport(this.input, this.#reader(), { maxMessageBytes }),
      handlers: { noise: (noise) => this.noise.push(noise), ...handlers },
    });
  }

  /** Sends everything in one chunk; a string is sent as it is. */
  send(...messages: (Message | string)[]): void {
    this.input.write(
      messages.map((message) => `${typeof message === "string" ? message : encode(message)}\n`).join(""),
    );
  }

  get messages(): Message[] {
    return this.lines.map((line) => JSON.parse(line) as Message);
  }

  /**
   * Sends a request and returns its answer. That proves that the connection still works and has handled everything
   * before.
   */
  async ask(method: string, params?: unknown): Promise<Message> {
    const id = `asked ${this.lines.length} ${method}`;
    this.send({ id, method, params });
    return this.answer(id);
  }

  answer(id: unknown): Promise<Message> {
    return this.#first((message) => message.id === id && message.method === undefined, `an answer to ${String(id)}`);
  }

  call(method: string): Promise<Message> {
    return this.#first((message) => message.method === method, `a call of ${method}`);
  }

  /** Checks the condition after each line and at the end. */
  async until(holds: () => boolean, what: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const look = (): void => (holds() ? resolve() : undefined);
        timer = setTimeout(() => reject(new Error(`waited ${PATIENCE_MS} ms for ${what}`)), PATIENCE_MS);
        this.#watchers.add(look);
        look();
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #first(wanted: (message: Message) => boolean, what: string): Promise<Message> {
    await this.until(() => this.messages.some(wanted), what);
    return this.messages.find(wanted) ?? {};
  }

  #reader(): Writable {
    let rest = "";
    const told = (): void => {
      for (const look of [...this.#watchers]) look();
    };
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        const lines = (rest + chunk.toString("utf8")).split("\n");
        rest = lines.pop() ?? "";
        this.lines.push(...lines);
        done();
        told();
      },
      final: (done) => {
        this.ended = true;
        done();
        told();
      },
    });
  }
}

/** The connection is closed when the test ends. */
export function scene(handlers: ConnectionHandlers = {}, options: SceneOptions = {}): Scene {
  const made = new Scene(handlers, options);
  onTestFinished(() => made.connection.close());
  return made;
}

function encode(message: Message): string {
  return JSON.stringify({ jsonrpc: "2.0", ...message });
}

/**
 * In-process streams need no clock: a count that stays the same for this many turns of the event loop stays for good.
 */
export async function quiet(count: () => number, turns = 300): Promise<void> {
  for (let before = -1; before !== count();) {
    before = count();
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
  }
}

/** Accepts one chunk per turn of the event loop. */
export function slow(): Writable & { lines(): string[] } {
  let text = "";
  const writable = new Writable({
    highWaterMark: 1_000,
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      setImmediate(done);
    },
  });
  return Object.assign(writable, { lines: () => text.split("\n").slice(0, -1) });
}
