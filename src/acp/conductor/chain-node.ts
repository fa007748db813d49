/** One position in the chain: its component, the connection to it, and its state. */
import { raceCancellation } from "../cancellation.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError, messageOf } from "../../domain/errors.ts";
import { Connection } from "../connection/connection.ts";
import type { ConnectionHandlers, IncomingRequest, Verbatim } from "../connection/incoming.ts";
import { RPC, type ConnectionClosed } from "../errors.ts";
import { PROXY_DIALECTS, type ProxyDialect } from "../proxy/proxy-dialect.ts";
import { withMethod } from "../proxy/passed-message.ts";
import { directPort, successorPort, type Port } from "../proxy/port.ts";
import type { Component, RunningComponent } from "./component.ts";

export interface ChainNodeOptions {
  readonly component: Component;
  readonly handlers: ConnectionHandlers;
  /** Called once if the component exits without being closed by the conductor. */
  readonly onExit: (error: ConnectionClosed) => void;
}

/** Both ways into a component: as its predecessor and as its successor. */
export interface ComponentPorts {
  readonly asPredecessor: Port;
  readonly asSuccessor: Port;
}

interface StartedComponent {
  readonly connection: Connection;
  readonly component: RunningComponent;
  readonly ports: ComponentPorts;
}

/** How long `close` waits for a component that is still starting. */
const START_WAIT_MS = 2_000;

export class ChainNode {
  readonly name: string;
  readonly #options: ChainNodeOptions;
  readonly #stopping = new AbortController();
  /** The dialect of the last `initialize` request. */
  #dialect: ProxyDialect;
  #isDialectKnown: boolean;
  #starting: Promise<ComponentPorts> | undefined;
  #running: StartedComponent | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ChainNodeOptions) {
    this.#options = options;
    this.name = options.component.name;
    this.#dialect = options.component.dialect ?? "official";
    this.#isDialectKnown = options.component.dialect !== undefined;
  }

  /** Undefined until the component runs; then use `start`. */
  get ports(): ComponentPorts | undefined {
    return this.#running?.ports;
  }

  /** Starts the component once. Rejects with `agent_unavailable`, and stops waiting when the signal fires. */
  start(signal?: AbortSignal): Promise<ComponentPorts> {
    this.#starting ??= this.#start();
    return signal === undefined ? this.#starting : raceCancellation(this.#starting, signal);
  }

  /** Initializes a proxy. Tries both dialects if the dialect is unknown. */
  async initializeProxy(request: IncomingRequest): Promise<Verbatim> {
    const { asPredecessor } = await this.start(request.signal);
    const dialects: readonly ProxyDialect[] = this.#isDialectKnown ? [this.#dialect] : ["official", "rust"];
    const refusals: string[] = [];
    for (const candidate of dialects) {
      this.#dialect = candidate;
      const initializeRequest = withMethod(request, PROXY_DIALECTS[candidate].initialize);
      const response = await asPredecessor.forward(initializeRequest, { signal: request.signal, apart: true });
      if (response.error?.code !== RPC.methodNotFound) {
        this.#isDialectKnown = true;
        return response;
      }
      refusals.push(`${initializeRequest.method} was refused (${response.error.message})`);
    }
    throw new RookeryError("agent_unavailable", `${this.name} is not a proxy: ${refusals.join(", ")}`);
  }

  /** Resolves when the component has stopped. A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #start(): Promise<ComponentPorts> {
    const { component, handlers } = this.#options;
    const unavailable = (why: string, cause?: unknown): RookeryError =>
      new RookeryError("agent_unavailable", `${this.name} could not be started: ${why}`, { cause });
    const { signal } = this.#stopping;
    if (signal.aborted) throw unavailable("the chain is being closed");
    const running = await component.start({ signal }).catch((cause: unknown) => {
      throw unavailable(messageOf(cause), cause);
    });
    if (signal.aborted) {
      await running[Symbol.asyncDispose]();
      throw unavailable("the chain is being closed");
    }
    const { transport, exit } = running;
    const connection = new Connection({ transport, exit, peer: this.name, handlers });
    const asSuccessor = successorPort(connection, () => PROXY_DIALECTS[this.#dialect].successor);
    const ports = { asPredecessor: directPort(connection), asSuccessor };
    this.#running = { connection, component: running, ports };
    void connection.inputEnded.then(() => this.#handleEnd(connection));
    return ports;
  }

  #handleEnd({ over }: Connection): void {
    if (this.#closing === undefined && over !== undefined) this.#options.onExit(over);
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    const started = this.#starting?.catch(() => undefined);
    await Promise.race([started, sleep(START_WAIT_MS, undefined, { ref: false })]);
    await this.#running?.connection.close();
    await this.#running?.component[Symbol.asyncDispose]();
  }
}
