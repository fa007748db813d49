/** Runs a chain, client → proxies → agent, and is to the client as one agent; or, within another chain, as one proxy. */
import { Connection } from "../connection/connection.ts";
import type { IncomingNotification, IncomingRequest } from "../connection/incoming.ts";
import { invalidParams, methodNotFound, type ConnectionClosed } from "../errors.ts";
import { DIALECTS, dialectOf, type ProxyDialect } from "../proxy/dialect.ts";
import type { LinkOptions } from "../proxy/link.ts";
import { unwrapped, type Passing } from "../proxy/message.ts";
import { directPort, successorPort, type Port } from "../proxy/port.ts";
import { passThrough } from "../proxy/relay.ts";
import type { Component } from "./component.ts";
import { Node } from "./node.ts";

export interface ConductorOptions {
  readonly client: LinkOptions;
  /** From the client's end on. */
  readonly proxies: readonly Component[];
  /** Without it the conductor is a proxy in another's chain. */
  readonly agent?: Component | undefined;
  /** A component ended by itself. What went through it failed; the rest goes on. */
  readonly onDeath?: ((name: string, error: ConnectionClosed) => void) | undefined;
}

/** Where a message is to go: a port that is there, or one that is being started. */
type Target = Port | Promise<Port>;

export function openConductor(options: ConductorOptions): Conductor {
  return new Conductor(options);
}

export class Conductor implements AsyncDisposable {
  /** Resolves when the client is gone and every component with it. */
  readonly closed: Promise<void>;
  readonly #options: ConductorOptions;
  readonly #nodes: readonly Node[];
  readonly #client: Connection;
  /** In another's chain: how the outer conductor is spoken to. */
  #outer: ProxyDialect = "official";
  #closing: Promise<void> | undefined;

  constructor(options: ConductorOptions) {
    this.#options = options;
    const components = [...options.proxies, ...(options.agent === undefined ? [] : [options.agent])];
    this.#nodes = components.map((component, place) => this.#node(component, place));
    this.#client = new Connection({
      peer: "the client",
      ...options.client,
      malformed: "answer",
      handlers: {
        request: (request) => this.#requestedByClient(request),
        notification: (notification) => this.#notifiedByClient(notification),
      },
    });
    this.closed = this.#client.inputEnded.then(() => this.close());
  }

  close(cause?: unknown): Promise<void> {
    this.#closing ??= (async () => {
      for (const node of this.#nodes) await node.close();
      await this.#client.close(cause);
    })();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #node(component: Component, place: number): Node {
    const node: Node = new Node({
      component,
      handlers: {
        request: (request) => {
          const dialect = this.#envelopeOf(request, place);
          if (dialect === undefined) return this.#pass(request, this.#before(place));
          node.speaks(dialect);
          return this.#down(inner(request), place + 1);
        },
        notification: (notification) => {
          const dialect = this.#envelopeOf(notification, place);
          if (dialect === undefined) return this.#tell(notification, this.#before(place));
          node.speaks(dialect);
          const message = unwrapped(notification);
          return message === undefined ? undefined : this.#tell(message, this.#at(place + 1));
        },
      },
      died: (error) => this.#died(place, error),
    });
    return node;
  }

  /** Only who has a successor speaks to it; from the agent it is an extension like any other. */
  #envelopeOf({ method }: IncomingNotification, place: number): ProxyDialect | undefined {
    const dialect = this.#isProxy(place) ? dialectOf(method) : undefined;
    return dialect !== undefined && method === DIALECTS[dialect].successor ? dialect : undefined;
  }

  #isProxy(place: number): boolean {
    return place < this.#nodes.length - 1 || this.#options.agent === undefined;
  }

  #requestedByClient(request: IncomingRequest): unknown {
    const dialect = this.#options.agent === undefined ? dialectOf(request.method) : undefined;
    if (dialect === undefined) return this.#down(request, 0);
    this.#outer = dialect;
    if (request.method === DIALECTS[dialect].initialize) return this.#down({ ...request, method: "initialize" }, 0);
    return this.#pass(inner(request), this.#before(this.#nodes.length));
  }

  #notifiedByClient(notification: IncomingNotification): void | Promise<void> {
    const dialect = this.#options.agent === undefined ? dialectOf(notification.method) : undefined;
    if (dialect === undefined) return this.#tell(notification, this.#at(0));
    const message = unwrapped(notification);
    return message === undefined ? undefined : this.#tell(message, this.#before(this.#nodes.length));
  }

  /** Towards the agent, to the component at that place. */
  #down(request: IncomingRequest, place: number): unknown {
    const node = this.#nodes[place];
    if (request.method !== "initialize" || node === undefined || !this.#isProxy(place)) {
      return this.#pass(request, this.#at(place));
    }
    const answer = node.initializeProxy(request);
    request.hold(node.start().catch(() => undefined)); // what follows finds it running
    return answer;
  }

  /** Who comes before that place hears it as from his successor. */
  #before(place: number): Target {
    const node = this.#nodes[place - 1];
    if (node === undefined) return directPort(this.#client);
    return node.ports?.asSuccessor ?? node.start().then(({ asSuccessor }) => asSuccessor);
  }

  #at(place: number): Target {
    const node = this.#nodes[place];
    if (node !== undefined) return node.ports?.asPredecessor ?? node.start().then(({ asPredecessor }) => asPredecessor);
    if (this.#options.agent !== undefined) throw methodNotFound(DIALECTS.official.successor);
    return successorPort(this.#client, () => DIALECTS[this.#outer].successor);
  }

  #pass(request: IncomingRequest, to: Target): unknown {
    if (!(to instanceof Promise)) return passThrough(request, to);
    request.hold(to.catch(() => undefined));
    return to.then((port) => passThrough(request, port));
  }

  #tell(message: Passing, to: Target): void | Promise<void> {
    return to instanceof Promise ? to.then((port) => port.passOn(message)) : to.passOn(message);
  }

  /** What is behind a dead component can be reached by nobody, so it is closed; what is before it goes on. */
  #died(place: number, error: ConnectionClosed): void {
    this.#options.onDeath?.(this.#nodes[place]?.name ?? "", error);
    for (const node of this.#nodes.slice(place)) void node.close();
  }
}

function inner(request: IncomingRequest): IncomingRequest {
  const message = unwrapped(request);
  if (message === undefined) throw invalidParams(`${request.method} holds no message`);
  return message;
}
