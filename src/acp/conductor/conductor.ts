/**
 * Runs a chain (client → proxies → agent) and acts as a single agent towards the client, or as a single proxy within
 * another chain.
 */
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
  /** Ordered from the client to the agent. */
  readonly proxies: readonly Component[];
  /** Without an agent the conductor is a proxy in another conductor's chain. */
  readonly agent?: Component | undefined;
  /** Called if a component exits by itself. Requests through it have failed; the rest of the chain continues. */
  readonly onDeath?: ((name: string, error: ConnectionClosed) => void) | undefined;
  /** Called for output of a component that is not a message, such as a log line. */
  readonly onNoise?: ((name: string, noise: Noise) => void) | undefined;
  /**
   * The command of the program that connects an agent on stdio to a server that was declared over ACP. Default: the one
   * of this package.
   */
  readonly bridge?: readonly string[] | undefined;
}

/** A port, or one that is being started. */
type PortTarget = Port | Promise<Port>;

/** How long a component may take to answer a cancelled request while it starts. */
const CANCEL_WAIT_MS = 1_000;

export function openConductor(options: ConductorOptions): Conductor {
  return new Conductor(options);
}

export class Conductor implements AsyncDisposable {
  /** Resolves when the client has disconnected and every component has exited. Never rejects. */
  readonly closed: Promise<void>;
  readonly #options: ConductorOptions;
  readonly #nodes: readonly ChainNode[];
  readonly #client: Connection;
  readonly #bridge: AcpBridge;
  readonly #toClient: Port;
  /** The component behind this chain, if it is part of another chain. */
  readonly #toSuccessor: Port;
  /** The dialect of the outer conductor, if this chain is part of another chain. */
  #outerDialect: ProxyDialect = "official";
  #closing: Promise<void> | undefined;

  constructor(options: ConductorOptions) {
    this.#options = options;
    const components = [...options.proxies, ...(options.agent === undefined ? [] : [options.agent])];
    this.#nodes = components.map((component, place) => this.#createNode(component, place));
    this.#bridge = new AcpBridge(this.#createAgentPredecessor(), options.bridge);
    this.#client = new Connection({
      peer: "the client",
      ...options.client,
      malformed: "answer",
      handlers: {
        request: (request) => this.#handleClientRequest(request),
        notification: (notification) => this.#handleClientNotification(notification),
      },
    });
    this.#toClient = directPort(this.#client);
    this.#toSuccessor = successorPort(this.#client, () => PROXY_DIALECTS[this.#outerDialect].successor);
    this.closed = this.#client.closed.then(() => this.close()).catch(() => undefined); // `close` reports the error
  }

  /** Fails pending requests. Rejects if a component could not be stopped. A second call waits for the first. */
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
    if (failures.length > 0) throw new AggregateError(failures, "some components could not be stopped");
  }

  #createNode(component: Component, place: number): ChainNode {
    return new ChainNode({
      component,
      handlers: {
        request: (request) => {
          if (!isProxyMethod(request)) return this.#passRequest(request, this.#getPredecessorPort(place));
          if (!this.#isProxy(place)) throw methodNotFound(request.method);
          return this.#sendTowardsAgent(unwrapRequest(request), place + 1);
        },
        notification: (notification) => {
          if (!isProxyMethod(notification))
            return this.#passNotification(notification, this.#getPredecessorPort(place));
          if (!this.#isProxy(place)) return undefined;
          return this.#notifyTowardsAgent(unwrapMessage(notification), place + 1);
        },
        noise: (noise) => this.#options.onNoise?.(component.name, noise),
      },
      onExit: (error) => this.#handleExit(place, error),
    });
  }

  #isProxy(place: number): boolean {
    return place < this.#nodes.length - 1 || this.#options.agent === undefined;
  }

  #handleClientRequest(request: IncomingRequest): unknown {
    const { method } = request;
    const dialect = this.#options.agent === undefined ? getProxyDialect(method) : undefined;
    const introduces = method === "initialize" || isProxyInitialize(method);
    if (introduces) answerWhenCancelled(request);
    if (method === "initialize" && this.#options.agent === undefined) throw noAgent();
    if (dialect === undefined) return this.#sendTowardsAgent(request, 0);
    this.#outerDialect = dialect;
    if (introduces) return this.#sendTowardsAgent(withMethod(request, "initialize"), 0);
    return this.#passRequest(unwrapRequest(request), this.#getPredecessorPort(this.#nodes.length));
  }

  #handleClientNotification(notification: IncomingNotification): void | Promise<void> {
    const dialect = this.#options.agent === undefined ? getProxyDialect(notification.method) : undefined;
    if (dialect === undefined) return this.#notifyTowardsAgent(notification, 0);
    return this.#passNotification(unwrapMessage(notification), this.#getPredecessorPort(this.#nodes.length));
  }

  /** Passes a request towards the agent, to the component at this position. */
  #sendTowardsAgent(request: IncomingRequest, place: number): unknown {
    if (isProxyMethod(request)) throw methodNotFound(request.method);
    if (!this.#isProxy(place)) return this.#sendToAgent(request, place);
    const node = this.#nodes[place];
    if (request.method !== "initialize" || node === undefined) {
      return this.#passRequest(request, this.#getPort(place, request.signal));
    }
    request.hold(node.start(request.signal).catch(() => undefined)); // messages that follow find it running
    return node.initializeProxy(request);
  }

  #sendToAgent(request: IncomingRequest, place: number): unknown {
    if (this.#bridge.handles(request)) return this.#bridge.request(request);
    return this.#passRequest(request, this.#getPort(place, request.signal), this.#bridge.handler(request));
  }

  #notifyTowardsAgent(message: PassedMessage | undefined, place: number): void | Promise<void> {
    if (message === undefined || isProxyMethod(message)) return undefined;
    if (!this.#isProxy(place) && this.#bridge.handles(message)) return this.#bridge.notification(message);
    return this.#passNotification(message, this.#getPort(place));
  }

  #createAgentPredecessor(): McpPeer {
    const before = async (): Promise<Port> => this.#getPredecessorPort(this.#nodes.length - 1);
    return {
      request: async (...args) => (await before()).request(...args),
      notify: async (...args) => (await before()).notify(...args),
    };
  }

  /** The component before this position; it gets the message as one from its successor. */
  #getPredecessorPort(place: number): PortTarget {
    const node = this.#nodes[place - 1];
    if (node === undefined) return this.#toClient;
    return node.ports?.asSuccessor ?? node.start().then(({ asSuccessor }) => asSuccessor);
  }

  #getPort(place: number, signal?: AbortSignal): PortTarget {
    const node = this.#nodes[place];
    if (node === undefined) return this.#toSuccessor;
    return node.ports?.asPredecessor ?? node.start(signal).then(({ asPredecessor }) => asPredecessor);
  }

  #passRequest(request: IncomingRequest, to: PortTarget, handler?: ProxyHandler): unknown {
    const pass = (port: Port): unknown => {
      if (handler === undefined) return passThrough(request, port).done;
      const { sent, done } = relay(request, port, handler);
      if (sent !== undefined) request.hold(sent);
      return done;
    };
    if (!(to instanceof Promise)) return pass(to);
    request.hold(to.catch(() => undefined));
    return to.then(pass);
  }

  #passNotification(message: PassedMessage | undefined, to: PortTarget): void | Promise<void> {
    if (message === undefined) return undefined;
    return to instanceof Promise ? to.then((port) => port.passOn(message)) : to.passOn(message);
  }

  /** Components behind a stopped one are unreachable, so they are closed. Those before it continue. */
  #handleExit(place: number, error: ConnectionClosed): void {
    for (const node of this.#nodes.slice(place)) node.close().catch(() => undefined); // our own `close` reports the error
    this.#options.onDeath?.(this.#nodes[place]?.name ?? "", error);
  }
}

/**
 * Only the conductor may send these to a component. A proxy that passes unknown methods on would otherwise relay them.
 */
function isProxyMethod({ method }: PassedMessage): boolean {
  return getProxyDialect(method) !== undefined;
}

/** Answers a cancelled request even if the component hangs while it starts. */
function answerWhenCancelled(request: IncomingRequest): void {
  const { signal } = request;
  signal.addEventListener("abort", () => setTimeout(() => request.fail(requestCancelled()), CANCEL_WAIT_MS), {
    once: true,
  });
}

function noAgent(): Error {
  const message = "this is a chain of proxies without an agent: initialize it with proxy/initialize";
  return peerError(RPC.invalidRequest, message);
}
