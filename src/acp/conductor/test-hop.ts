/** Observes one hop of a chain: records every message and open request, and can hold a message. */
import { deferred, type Deferred } from "../../stdx/index.ts";
import type { Transport, TransportSink } from "../index.ts";
import { pause, type Random } from "../../programs/test-fuzz.ts";

export interface HopMessage {
  readonly kind: "request" | "notification" | "response";
  /** The inner method if the message is in an envelope; for a response, the method that it answers. */
  readonly method: string;
  /** `out` leads away from the owner of the wrapped transport. */
  readonly direction: Direction;
}

type Direction = "out" | "in";
type Json = Record<string, unknown>;

interface Gate {
  readonly matches: (message: HopMessage) => boolean;
  readonly reached: Deferred<void>;
}

/** The traffic in one direction, and the requests sent that way. */
class Lane {
  readonly waiting: string[] = [];
  readonly asked = new Map<unknown, string>();
  /** Every id that was ever used, as the other side knows it. */
  readonly ids = new Set<unknown>();
  gate: Gate | undefined;
  closed = false;
  /** Chains the delayed lines. */
  last = Promise.resolve();
}

const CANCEL = "$/cancel_request";

/** Rewrites every id, so that no two hops share one and an id of another hop in a `$/cancel_request` is detected. */
export class Hop {
  readonly name: string;
  readonly messages: HopMessage[] = [];
  /** Violations of the protocol. */
  readonly problems: string[] = [];
  readonly #lanes: Readonly<Record<Direction, Lane>> = { out: new Lane(), in: new Lane() };
  #transport: Transport | undefined;
  #sink: TransportSink | undefined;
  #random: Random | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Delays each line from now on, without reordering. */
  dawdle(random: Random): void {
    this.#random = random;
  }

  /** Unanswered requests in both directions. */
  get open(): string[] {
    return [...this.#lanes.out.asked.values(), ...this.#lanes.in.asked.values()].map(
      (method) => `${this.name}: ${method}`,
    );
  }

  /** Holds the first matching message from now on, and everything behind it in the same direction. */
  hold(matches: (message: HopMessage) => boolean): { readonly reached: Promise<void>; readonly release: () => void } {
    const gate: Gate = { matches, reached: deferred() };
    for (const lane of Object.values(this.#lanes)) lane.gate = gate;
    return {
      reached: gate.reached.promise,
      release: () => {
        for (const direction of ["out", "in"] as const) {
          const lane = this.#lanes[direction];
          lane.gate = undefined;
          lane.closed = false;
          for (const line of lane.waiting.splice(0)) this.#pass(direction, line);
        }
      },
    };
  }

  /** Injects a message as if the other side had sent it. */
  inject(message: Json): void {
    this.#arrive("in", JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  wrap(transport: Transport): Transport {
    this.#transport = transport;
    return {
      ...bound(transport),
      start: (sink) => {
        this.#sink = sink;
        transport.start({
          line: (line) => this.#arrive("in", line),
          oversize: (...oversize) => sink.oversize(...oversize),
          ended: (error) => sink.ended(error),
          drained: () => sink.drained(),
          writeFailed: (error) => sink.writeFailed(error),
        });
      },
      write: (text) => {
        for (const line of text.split("\n")) if (line !== "") this.#arrive("out", line);
        return true;
      },
    };
  }

  #arrive(direction: Direction, line: string): void {
    const lane = this.#lanes[direction];
    const [what, renamed] = this.#look(direction, JSON.parse(line) as Json);
    this.messages.push(what);
    if (!lane.closed && lane.gate?.matches(what) === true) {
      lane.closed = true;
      lane.gate.reached.resolve();
      for (const other of Object.values(this.#lanes)) other.gate = undefined;
    }
    if (lane.closed) lane.waiting.push(renamed);
    else this.#pass(direction, renamed);
  }

  #pass(direction: Direction, line: string): void {
    const random = this.#random;
    if (random === undefined) return this.#deliver(direction, line);
    const lane = this.#lanes[direction];
    lane.last = lane.last.then(() => pause(random)).then(() => this.#deliver(direction, line));
  }

  #deliver(direction: Direction, line: string): void {
    if (direction === "in") this.#sink?.line(line);
    else this.#transport?.write(`${line}\n`);
  }

  #look(direction: Direction, message: Json): [HopMessage, string] {
    const lane = this.#lanes[direction];
    const spelling = (id: unknown): string => `${this.name} ${direction} ${JSON.stringify(id)}`;
    const { id, method, params } = message;
    if (typeof method !== "string") return this.#answer(direction, message);
    const inner = (params as { method?: unknown } | undefined)?.method;
    const told = method.endsWith("proxy/successor") && typeof inner === "string" ? inner : method;
    if (id === undefined) {
      if (told === CANCEL && told !== method) this.problems.push(`${this.name}: a cancel was sent in an envelope`);
      if (method !== CANCEL) return [{ kind: "notification", method: told, direction }, JSON.stringify(message)];
      const { requestId } = params as { requestId: unknown };
      if (!lane.ids.has(requestId)) {
        this.problems.push(`${this.name}: ${JSON.stringify(requestId)} was cancelled and is no id of this hop`);
      }
      const cancel = { ...message, params: { ...(params as Json), requestId: spelling(requestId) } };
      return [{ kind: "notification", method, direction }, JSON.stringify(cancel)];
    }
    if (lane.asked.has(id)) this.problems.push(`${this.name}: the id ${JSON.stringify(id)} is used twice at once`);
    lane.asked.set(id, told);
    lane.ids.add(id);
    return [{ kind: "request", method: told, direction }, JSON.stringify({ ...message, id: spelling(id) })];
  }

  #answer(direction: Direction, message: Json): [HopMessage, string] {
    const asking = direction === "out" ? "in" : "out";
    const lane = this.#lanes[asking];
    const text = String(message["id"]);
    const id: unknown = text.startsWith(`${this.name} ${asking} `)
      ? JSON.parse(text.slice(`${this.name} ${asking} `.length))
      : undefined;
    const method = lane.asked.get(id);
    if (method === undefined) this.problems.push(`${this.name}: an answer to nothing: ${JSON.stringify(message)}`);
    lane.asked.delete(id);
    return [{ kind: "response", method: method ?? "", direction }, JSON.stringify({ ...message, id })];
  }
}

function bound(transport: Transport): Pick<Transport, "pause" | "resume" | "end" | "destroy"> {
  return {
    pause: () => transport.pause(),
    resume: () => transport.resume(),
    end: () => transport.end(),
    destroy: () => transport.destroy(),
  };
}
