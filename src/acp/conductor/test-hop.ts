/** One hop of a chain under a test's eyes: every message, what was asked and not answered, and a place to hold a message up. */
import { deferred, type Deferred } from "../../stdx/index.ts";
import type { Transport, TransportSink } from "../index.ts";
import { pause, type Random } from "../../programs/test-fuzz.ts";

export interface HopMessage {
  readonly kind: "request" | "notification" | "response";
  /** Of what is in the envelope, where it is in one; of a response, what it answers. */
  readonly method: string;
  /** `out` is away from whoever stands on the transport that was wrapped. */
  readonly direction: Direction;
}

type Direction = "out" | "in";
type Json = Record<string, unknown>;

interface Gate {
  readonly matches: (message: HopMessage) => boolean;
  readonly reached: Deferred<void>;
}

/** What goes one way, and what was asked that way. */
class Lane {
  readonly waiting: string[] = [];
  readonly asked = new Map<unknown, string>();
  /** Every id that was ever asked under, as the other side knows it. */
  readonly ids = new Set<unknown>();
  gate: Gate | undefined;
  closed = false;
  /** Where lines take their time. */
  last = Promise.resolve();
}

const CANCEL = "$/cancel_request";

/**
 * Gives every id another spelling on its way, so that no two hops have one in common: an id of another hop in a
 * `$/cancel_request` cannot be taken for one of this.
 */
export class Hop {
  readonly name: string;
  readonly messages: HopMessage[] = [];
  /** What nobody may do. */
  readonly problems: string[] = [];
  readonly #lanes: Readonly<Record<Direction, Lane>> = { out: new Lane(), in: new Lane() };
  #transport: Transport | undefined;
  #sink: TransportSink | undefined;
  #random: Random | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** From now on each line takes its time, and none overtakes another. */
  dawdle(random: Random): void {
    this.#random = random;
  }

  /** Requests that were not answered, in either direction. */
  get open(): string[] {
    return [...this.#lanes.out.asked.values(), ...this.#lanes.in.asked.values()].map(
      (method) => `${this.name}: ${method}`,
    );
  }

  /** The first message from now on that matches waits, and whatever goes the same way waits behind it. */
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

  /** A message as if the other side had said it. */
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
