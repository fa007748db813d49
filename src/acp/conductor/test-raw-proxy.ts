/** A proxy written by hand, message by message, in one dialect of the proxy protocol. It passes everything on. */
import { transportPair, type Component, type ProxyDialect, type Transport } from "../index.ts";
import type { Message } from "./test-line-client.ts";

type Params = { readonly method?: string; readonly params?: unknown } | undefined;

const PREFIX: Readonly<Record<ProxyDialect, string>> = { official: "proxy", rust: "_proxy" };

export class RawProxy {
  /** Everything that it received. */
  readonly messages: Message[] = [];
  readonly #transport: Transport;
  readonly #prefix: string;
  readonly #asked = new Map<unknown, (answer: Message) => void>();
  #ids = 0;

  constructor(transport: Transport, dialect: ProxyDialect) {
    this.#transport = transport;
    this.#prefix = PREFIX[dialect];
    transport.start({
      line: (line) => this.#take(JSON.parse(line) as Message),
      oversize: () => undefined,
      ended: () => transport.destroy(),
      drained: () => undefined,
      writeFailed: () => undefined,
    });
  }

  get methods(): string[] {
    return this.messages.flatMap(({ method }) => method ?? []);
  }

  send(message: Message): void {
    this.#transport.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  leave(): void {
    this.#transport.destroy();
  }

  /** Returns the whole answer. */
  ask(method: string, params?: unknown): Promise<Message> {
    const id = `raw ${(this.#ids += 1)}`;
    const answer = new Promise<Message>((resolve) => this.#asked.set(id, resolve));
    this.send({ id, method, ...(params !== undefined && { params }) });
    return answer;
  }

  #take(message: Message): void {
    this.messages.push(message);
    const { id, method, params } = message;
    if (method === undefined) return this.#asked.get(id)?.(message);
    if (method === "$/cancel_request") return;
    const [onwards, inner] = this.#onwards(method, params);
    if (id === undefined) return this.send({ method: onwards, params: inner });
    void this.ask(onwards, inner).then(({ result, error }) => this.send({ id, ...(error ? { error } : { result }) }));
  }

  /** Unwraps envelopes for the client, and wraps everything else, including unknown methods. */
  #onwards(method: string, params: unknown): [string, unknown] {
    const successor = `${this.#prefix}/successor`;
    if (method === successor) return [(params as Params)?.method ?? "", (params as Params)?.params];
    const told = method === `${this.#prefix}/initialize` ? "initialize" : method;
    return [successor, { method: told, ...(params !== undefined && { params }) }];
  }
}

export interface RawComponent {
  readonly component: Component;
  /** Available after the start. */
  readonly proxy: () => RawProxy;
}

export function rawComponent(name: string, dialect: ProxyDialect): RawComponent {
  let proxy: RawProxy | undefined;
  return {
    component: {
      name,
      start() {
        const [near, far] = transportPair();
        proxy = new RawProxy(far, dialect);
        return Promise.resolve({ transport: near, [Symbol.asyncDispose]: () => Promise.resolve() });
      },
    },
    proxy() {
      if (proxy === undefined) throw new Error(`${name} was not started`);
      return proxy;
    },
  };
}
