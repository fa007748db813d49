/** A client that only knows messages: it sends what the test says and records what it receives. */
import { setImmediate as tick } from "node:timers/promises";
import type { RpcErrorObject, Transport } from "../index.ts";

export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: RpcErrorObject;
}

export class LineClient {
  readonly messages: Message[] = [];
  ended = false;
  readonly #transport: Transport;
  readonly #onMessage: (message: Message, client: LineClient) => void;
  readonly #watchers = new Set<() => void>();
  #ids = 0;

  /** Calls `onMessage` for each message. */
  constructor(transport: Transport, onMessage: (message: Message, client: LineClient) => void = () => undefined) {
    this.#transport = transport;
    this.#onMessage = onMessage;
    transport.start({
      line: (line) => this.#take(JSON.parse(line) as Message),
      oversize: () => undefined,
      ended: () => {
        this.ended = true;
        this.#wake();
      },
      drained: () => undefined,
      writeFailed: () => undefined,
    });
  }

  send(message: Message): void {
    this.#transport.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Returns the id of the request. */
  ask(method: string, params: unknown = {}): string {
    const id = `client ${(this.#ids += 1)}`;
    this.send({ id, method, params });
    return id;
  }

  /** Returns the whole response, a result or an error. */
  request(method: string, params?: unknown): Promise<Message> {
    return this.answerTo(this.ask(method, params));
  }

  answerTo(id: string): Promise<Message> {
    return this.first((message) => message.id === id && message.method === undefined, `an answer to ${id}`);
  }

  answersTo(id: string): Message[] {
    return this.messages.filter((message) => message.id === id && message.method === undefined);
  }

  called(method: string): Promise<Message> {
    return this.first((message) => message.method === method, `a call of ${method}`);
  }

  async newSession(params: object = {}): Promise<string> {
    const { result, error } = await this.request("session/new", { cwd: "/project", mcpServers: [], ...params });
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return (result as { sessionId: string }).sessionId;
  }

  prompt(sessionId: string, text = "Go"): string {
    return this.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** The text that the agent sent. */
  get text(): string {
    return this.messages
      .filter(({ method }) => method === "session/update")
      .map(({ params }) => (params as { update: { content?: { text?: string } } }).update.content?.text ?? "")
      .join("|");
  }

  /** Also finds a message that arrived before the call. */
  async first(wanted: (message: Message) => boolean, what: string): Promise<Message> {
    for (;;) {
      const found = this.messages.find(wanted);
      if (found !== undefined) return found;
      if (this.ended) throw new Error(`${what} will not come: the connection ended after ${this.#last()}`);
      await this.#next(what);
    }
  }

  /** Resolves when the connection ends. */
  async over(): Promise<void> {
    while (!this.ended) await this.#next("the end of the connection");
  }

  /** Sends no more. */
  end(): Promise<void> {
    return this.#transport.end();
  }

  /** Disconnects as if the process were killed. */
  destroy(): void {
    this.#transport.destroy();
  }

  #take(message: Message): void {
    this.messages.push(message);
    this.#onMessage(message, this);
    this.#wake();
  }

  async #next(what: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let woken: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        woken = resolve;
        this.#watchers.add(resolve);
        timer = setTimeout(() => reject(new Error(`${what} did not come; the last was ${this.#last()}`)), PATIENCE_MS);
      });
    } finally {
      clearTimeout(timer);
      if (woken !== undefined) this.#watchers.delete(woken);
    }
  }

  #last(): string {
    return JSON.stringify(this.messages.at(-1)) ?? "nothing";
  }

  #wake(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}

const PATIENCE_MS = 15_000;

/** Waits enough turns of the event loop for everything in progress within this process. */
export async function settle(turns = 40): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await tick();
}
