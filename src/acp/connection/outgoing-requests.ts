/** What was asked of the peer and is not answered yet. */
import type { RequestId } from "../wire/message.ts";
import type { Verbatim } from "./incoming.ts";

export interface OutgoingRequest {
  readonly method: string;
  /** Called in wire order, before the answer is given; what it returns holds the next message up. */
  readonly onResponse: ((response: Verbatim) => void | Promise<void>) | undefined;
  readonly apart: boolean;
  /** Told that an answer is there, whatever it is. */
  readonly answered: (() => void) | undefined;
}

export interface SettledRequest {
  readonly held: Promise<unknown> | undefined;
  readonly isPassedOn: boolean;
}

interface PendingRequest extends OutgoingRequest {
  readonly settle: (answer: Verbatim | Error) => void;
}

export class OutgoingRequests {
  readonly #pending = new Map<RequestId, PendingRequest>();
  #lastId = 0;

  nextId(): number {
    return (this.#lastId += 1);
  }

  add(id: number, question: OutgoingRequest): Promise<Verbatim> {
    return new Promise((resolve, reject) => {
      const settle = (answer: Verbatim | Error): void => (answer instanceof Error ? reject(answer) : resolve(answer));
      this.#pending.set(id, { ...question, settle });
    });
  }

  getMethod(id: RequestId): string | undefined {
    return this.#pending.get(id)?.method;
  }

  /**
   * Undefined where nothing was asked under that id; else what the next message waits for, and whether all who have to
   * hear of it before the next message have: a proxy has passed it on, and nobody else waits.
   */
  settle(id: RequestId, answer: Verbatim | Error): SettledRequest | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    pending.answered?.();
    const held = answer instanceof Error ? undefined : callOnResponse(() => pending.onResponse?.(answer));
    pending.settle(answer);
    return { held, isPassedOn: pending.apart && pending.onResponse !== undefined };
  }

  failAll(error: Error): void {
    for (const id of [...this.#pending.keys()]) this.settle(id, error);
  }
}

function callOnResponse(onResponse: () => void | Promise<void>): Promise<unknown> | undefined {
  try {
    const done = onResponse();
    return done instanceof Promise ? done.catch(() => undefined) : undefined;
  } catch {
    return undefined; // whoever asked is told by the request itself
  }
}
