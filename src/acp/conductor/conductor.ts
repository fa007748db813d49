/** Runs a chain, client → proxies → agent, and is to the client as one agent; or, within another chain, as one proxy. */
import { Connection } from "../connection/connection.ts";
import type { IncomingNotification, IncomingRequest, Noise } from "../connection/incoming.ts";
import { methodNotFound, peerError, requestCancelled, RPC, type ConnectionClosed } from "../errors.ts";
import type { McpPeer } from "../mcp/index.ts";
import { PROXY_DIALECTS, getProxyDialect, isProxyInitialize, type ProxyDialect } from "../proxy/proxy-dialect.ts";
import type { LinkOptions } from "../proxy/proxy-link.ts";
import { unwrapMessage, unwrapRequest, withMethod, type PassedMessage } from "../proxy/passed-message.ts";
import { directPort, successorPort, type Port } from "../proxy/port.ts";
import { passThrough, relay, type ProxyHandler } from "../proxy/relay.ts";
import type { Component } from "./component.ts";
import { ChainNode } from "./chain-node.ts";
import { AcpBridge } from "./mcp/acp-bridge.ts";

export interface ConductorOptions {
  readonly client: LinkOptions;
  /** From the client's end on. */
  readonly proxies: readonly Component[];
  /** Without it the conductor is a proxy in another's chain. */
  readonly agent?: Component | undefined;
  /** A component ended by itself. What went through it failed; the rest goes on. */
  readonly onDeath?: ((name: string, error: ConnectionClosed) => void) | undefined;
  /** Hears what a component writes that is no message, such as its log. */
  readonly onNoise?: ((name: string, noise: Noise) => void) | undefined;
  /** The command of the program through which an agent reaches a server that was declared over ACP, if in no other way. */
  readonly bridge?: readonly string[] | undefined;
}

/** Where a message is to go: a port that is there, or one that is being started. */
type PortTarget = Port | Promise<Port>;

/** How long a component that was told that nobody waits for it any more may take to say so. */
const CANCEL_WAIT_MS = 1_000;

export function openConductor(options: ConductorOptions): Conductor {
  return new Conductor(options);
}

export class Conductor implements AsyncDisposable {
  /** Resolves when the client is gone and every component with it. Never rejects. */
  readonly closed: Promise<void>;
  readonly #options: ConductorOptions;
  readonly #nodes: readonly ChainNode[];
  readonly #client: Connection;
  readonly #bridge: AcpBridge;
  readonly #toClient: Port;
  /** In another's chain: whoever comes behind it. */
  readonly #toSuccessor: Port;
  /** In another's chain: how the outer conductor is spoken to. */
  #outer: ProxyDialect = "official";
  #closing: Promise<void> | undefined;

  constructor(options: ConductorOptions) {
    this.#options = options;
    const components = [...options.proxies, ...(options.agent === undefined ? [] : [options.agent])];
    this.#nodes = components.map((component, place) => this.#node(component, place));
    this.#bridge = new AcpBridge(this.#beforeAgent(), options.bridge);
    this.#client = new Connection({
      peer: "the client",
      ...options.client,
      malformed: "answer",
      handlers: {
        request: (request) => this.#requestedByClient(request),
        notification: (notification) => this.#notifiedByClient(notification),
      },
    });
    this.#toClient = directPort(this.#client);
    this.#toSuccessor = successorPort(this.#client, () => PROXY_DIALECTS[this.#outer].successor);
    this.closed = this.#client.closed.then(() => this.close()).catch(() => undefined); // told by `close`
  }

  /** Fails what is under way. Rejects where a component could not be ended. A second call waits for the first. */
  close(cause?: unknown): Promise<void> {
    this.#closing ??= this.#close(cause);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(cause: unknown): Promise<void> {
    const components = await Promise.allSettled(this.#nodes.map((node) => node.close()));
    const [bridge] = await Promise.allSettled([this.#bridge[Symbol.asyncDispose]()]);
    await this.#client.close(cause);
    const failures = [...components, bridge].flatMap((end) =>
      end.status === "rejected" ? [end.reason as unknown] : [],
    );
    if (failures.length > 0) throw new AggregateError(failures, "not every component could be ended");
  }

  #node(component: Component, place: number): ChainNode {
    return new ChainNode({
      component,
      handlers: {
        request: (request) => {
          if (!isProxyMethod(request)) return this.#pass(request, this.#before(place));
          if (!this.#isProxy(place)) throw methodNotFound(request.method);
          return this.#down(unwrapRequest(request), place + 1);
        },
        notification: (notification) => {
          if (!isProxyMethod(notification)) return this.#tell(notification, this.#before(place));
          if (!this.#isProxy(place)) return undefined;
          return this.#tellDown(unwrapMessage(notification), place + 1);
        },
        noise: (noise) => this.#options.onNoise?.(component.name, noise),
      },
      onExit: (error) => this.#died(place, error),
    });
  }

  #isProxy(place: number): boolean {
    return place < this.#nodes.length - 1 || this.#options.agent === undefined;
  }

  #requestedByClient(request: IncomingRequest): unknown {
    const { method } = request;
    const dialect = this.#options.agent === undefined ? getProxyDialect(method) : undefined;
    const introduces = method === "initialize" || isProxyInitialize(method);
    if (introduces) answerWhenCancelled(request);
    if (method === "initialize" && this.#options.agent === undefined) throw noAgent();
    if (dialect === undefined) return this.#down(request, 0);
    this.#outer = dialect;
    if (introduces) return this.#down(withMethod(request, "initialize"), 0);
    return this.#pass(unwrapRequest(request), this.#before(this.#nodes.length));
  }

  #notifiedByClient(notification: IncomingNotification): void | Promise<void> {
    const dialect = this.#options.agent === undefined ? getProxyDialect(notification.method) : undefined;
    if (dialect === undefined) return this.#tellDown(notification, 0);
    return this.#tell(unwrapMessage(notification), this.#before(this.#nodes.length));
  }

  /** Towards the agent, to the component at that place. */
  #down(request: IncomingRequest, place: number): unknown {
    if (isProxyMethod(request)) throw methodNotFound(request.method);
    if (!this.#isProxy(place)) return this.#toAgent(request, place);
    const node = this.#nodes[place];
    if (request.method !== "initialize" || node === undefined) {
      return this.#pass(request, this.#at(place, request.signal));
    }
    request.hold(node.start(request.signal).catch(() => undefined)); // what follows finds it running
    return node.initializeProxy(request);
  }

  #toAgent(request: IncomingRequest, place: number): unknown {
    if (this.#bridge.handles(request)) return this.#bridge.request(request);
    return this.#pass(request, this.#at(place, request.signal), this.#bridge.handler(request));
  }

  #tellDown(message: PassedMessage | undefined, place: number): void | Promise<void> {
    if (message === undefined || isProxyMethod(message)) return undefined;
    if (!this.#isProxy(place) && this.#bridge.handles(message)) return this.#bridge.notification(message);
    return this.#tell(message, this.#at(place));
  }

  #beforeAgent(): McpPeer {
    const before = async (): Promise<Port> => this.#before(this.#nodes.length - 1);
    return {
      request: async (...asked) => (await before()).request(...asked),
      notify: async (...told) => (await before()).notify(...told),
    };
  }

  /** Who comes before that place hears it as from his successor. */
  #before(place: number): PortTarget {
    const node = this.#nodes[place - 1];
    if (node === undefined) return this.#toClient;
    return node.ports?.asSuccessor ?? node.start().then(({ asSuccessor }) => asSuccessor);
  }

  #at(place: number, signal?: AbortSignal): PortTarget {
    const node = this.#nodes[place];
    if (node === undefined) return this.#toSuccessor;
    return node.ports?.asPredecessor ?? node.start(signal).then(({ asPredecessor }) => asPredecessor);
  }

  #pass(request: IncomingRequest, to: PortTarget, handler?: ProxyHandler): unknown {
    const pass = (port: Port): unknown =>
      handler === undefined ? passThrough(request, port) : relay(request, port, handler);
    if (!(to instanceof Promise)) return pass(to);
    request.hold(to.catch(() => undefined));
    return to.then(pass);
  }

  #tell(message: PassedMessage | undefined, to: PortTarget): void | Promise<void> {
    if (message === undefined) return undefined;
    return to instanceof Promise ? to.then((port) => port.passOn(message)) : to.passOn(message);
  }

  /** What is behind a dead component can be reached by nobody, so it is closed; what is before it goes on. */
  #died(place: number, error: ConnectionClosed): void {
    for (const node of this.#nodes.slice(place)) node.close().catch(() => undefined); // told by our own `close`
    this.#options.onDeath?.(this.#nodes[place]?.name ?? "", error);
  }
}

/**
 * Only the conductor tells a component that it is a proxy, and what its successor says. A proxy that passes on what it
 * does not know would do so too.
 */
function isProxyMethod({ method }: PassedMessage): boolean {
  return getProxyDialect(method) !== undefined;
}

/** A component that hangs while it starts would leave whoever gives up waiting, too. */
function answerWhenCancelled(request: IncomingRequest): void {
  const { signal } = request;
  signal.addEventListener("abort", () => setTimeout(() => request.fail(requestCancelled()), CANCEL_WAIT_MS), {
    once: true,
  });
}

function noAgent(): Error {
  const message = "this is a chain of proxies without an agent: it is initialized with proxy/initialize";
  return peerError(RPC.invalidRequest, message);
}
