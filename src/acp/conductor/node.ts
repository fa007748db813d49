/** One place in the chain: its component, the connection to it once it runs, and what became of it. */
import { RookeryError, messageOf } from "../../domain/errors.ts";
import { Connection } from "../connection/connection.ts";
import { Verbatim, type ConnectionHandlers, type IncomingRequest } from "../connection/incoming.ts";
import { RPC, type ConnectionClosed } from "../errors.ts";
import { DIALECTS, type ProxyDialect } from "../proxy/dialect.ts";
import { directPort, successorPort, type Port } from "../proxy/port.ts";
import { withValue } from "../wire/scan.ts";
import type { Component, RunningComponent } from "./component.ts";

export interface NodeOptions {
  readonly component: Component;
  readonly handlers: ConnectionHandlers;
  /** Told once, when it ended without being closed from here. */
  readonly died: (error: ConnectionClosed) => void;
}

/** Both ways into a component: as who comes before it, and as who comes behind it. */
export interface Ports {
  readonly asPredecessor: Port;
  readonly asSuccessor: Port;
}

export class Node {
  readonly name: string;
  readonly #options: NodeOptions;
  #dialect: ProxyDialect;
  #starting: Promise<Ports> | undefined;
  #running:
    { readonly connection: Connection; readonly component: RunningComponent; readonly ports: Ports } | undefined;
  #closed = false;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.component.name;
    this.#dialect = options.component.dialect ?? "official";
  }

  /** Starts it if need be. Undefined while it is not there yet: then wait for `start`. */
  get ports(): Ports | undefined {
    return this.#running?.ports;
  }

  start(): Promise<Ports> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  speaks(dialect: ProxyDialect): void {
    this.#dialect = dialect;
  }

  /** Tells a proxy that it is one. Which dialect it speaks is found out by asking. */
  async initializeProxy(request: IncomingRequest): Promise<Verbatim> {
    const { asPredecessor } = await this.start();
    const { dialect } = this.#options.component;
    const tried: readonly ProxyDialect[] = dialect === undefined ? ["official", "rust"] : [dialect];
    let response: Verbatim | undefined;
    for (const candidate of tried) {
      const { initialize } = DIALECTS[candidate];
      this.#dialect = candidate;
      const line = withValue(request.line, "method", JSON.stringify(initialize)) ?? request.line;
      response = await asPredecessor.forward(
        { method: initialize, params: request.params, line },
        { signal: request.signal, apart: true },
      );
      if (response.error?.code !== RPC.methodNotFound) break;
    }
    if (response === undefined) throw new Error("no dialect was tried");
    return response;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#starting?.catch(() => undefined);
    await this.#running?.connection.close();
    await this.#running?.component[Symbol.asyncDispose]();
  }

  async #start(): Promise<Ports> {
    const { component, handlers, died } = this.#options;
    const running = await component.start().catch((cause: unknown) => {
      throw new RookeryError("agent_unavailable", `${this.name} could not be started: ${messageOf(cause)}`, { cause });
    });
    const { transport, exit } = running;
    const connection = new Connection({ transport, exit, peer: this.name, handlers });
    const asSuccessor = successorPort(connection, () => DIALECTS[this.#dialect].successor);
    const ports = { asPredecessor: directPort(connection), asSuccessor };
    this.#running = { connection, component: running, ports };
    void connection.inputEnded.then(() => {
      if (!this.#closed && connection.over !== undefined) died(connection.over);
    });
    if (this.#closed) await this.close();
    return ports;
  }
}
