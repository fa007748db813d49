/**
 * The hand-written other end of every scenario: JSON lines on plain streams, so that no implementation tests itself.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { createInterface } from "node:readline";
import { PassThrough, type Readable, type Writable } from "node:stream";

/** The byte streams of the implementation under test. */
export interface Wire {
  readonly input: Readable;
  readonly output: Writable;
}

export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

type Answer = (request: Message) => Message;

const PATIENCE_MS = 60_000;

export class Peer {
  /** Every line that the implementation wrote, in order. */
  readonly received: Message[] = [];
  readonly wire: Wire;
  readonly #toSubject = new PassThrough();
  readonly #fromSubject = new PassThrough();
  readonly #answers: Readonly<Record<string, Answer>>;
  readonly #watchers = new Set<() => void>();

  /** Answers requests of these methods by itself; all others wait for the scenario. */
  constructor(answers: Readonly<Record<string, Answer>> = {}) {
    this.#answers = answers;
    this.wire = { input: this.#toSubject, output: this.#fromSubject };
    createInterface({ input: this.#fromSubject }).on("line", (line) => this.#take(JSON.parse(line) as Message));
  }

  /** Writes all lines in one chunk; a string is written as it is. */
  write(...lines: (Message | string)[]): void {
    this.#toSubject.write(lines.map((line) => `${typeof line === "string" ? line : encode(line)}\n`).join(""));
  }

  /** Writes the source as fast as the implementation reads it. */
  pour(source: Readable): void {
    source.pipe(this.#toSubject);
  }

  end(): void {
    this.#toSubject.end();
  }

  /** The first message with this method. */
  call(method: string): Promise<Message> {
    return this.#first((message) => message.method === method, `a call of ${method}`);
  }

  /** The response with this id. */
  response(id: number): Promise<Message> {
    return this.#first((message) => message.id === id && message.method === undefined, `a response to ${id}`);
  }

  async #first(wanted: (message: Message) => boolean, what: string): Promise<Message> {
    await this.until(() => this.received.some(wanted), what);
    return this.received.find(wanted) ?? {};
  }

  /** Checks the condition after each incoming line. */
  async until(holds: () => boolean, what: string): Promise<void> {
    if (holds()) return;
    await patiently(
      new Promise<void>((resolve) => {
        const look = () => {
          if (!holds()) return;
          this.#watchers.delete(look);
          resolve();
        };
        this.#watchers.add(look);
      }),
      what,
    );
  }

  #take(message: Message): void {
    this.received.push(message);
    const answer = this.#answers[message.method ?? ""];
    if (answer !== undefined) this.write({ id: message.id ?? null, ...answer(message) });
    for (const look of this.#watchers) look();
  }
}

/** An agent that answers `initialize`. */
export function agentPeer(answers: Readonly<Record<string, Answer>> = {}): Peer {
  return new Peer({
    initialize: () => ({ result: { protocolVersion: 1, agentCapabilities: {}, authMethods: [] } }),
    ...answers,
  });
}

/** A client that has initialized the agent on the other side of its wire. */
export async function clientPeer(serve: (wire: Wire) => void): Promise<Peer> {
  const peer = new Peer();
  serve(peer.wire);
  peer.write({ id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
  await peer.response(0);
  return peer;
}

/** A `session/update` of the session `s1` with a text of the agent. */
export function says(text: string): Message {
  return update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
}

export function update(body: Readonly<Record<string, unknown>>): Message {
  return { method: "session/update", params: { sessionId: "s1", update: body } };
}

export async function patiently<T>(wait: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${PATIENCE_MS} ms for ${what}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([wait, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks the condition on each turn of the event loop. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms for ${what}`);
    await turns(1);
  }
}

/** In-process streams need no clock: what has not happened after this many turns of the event loop will not happen. */
export async function turns(count = 200): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

function encode(message: Message): string {
  return JSON.stringify({ jsonrpc: "2.0", ...message });
}
