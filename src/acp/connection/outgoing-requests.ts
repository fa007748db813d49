/** Requests to the peer that have no answer yet. */
import type { RequestId } from "../wire/message.ts";
import type { Verbatim } from "./incoming.ts";

export interface OutgoingRequest {
  readonly method: string;
  /** Called in wire order before the answer is delivered. The returned promise blocks the next message. */
  readonly onResponse: ((response: Verbatim) => void | Promise<void>) | undefined;
  readonly apart: boolean;
  /** Called when an answer of any kind has arrived. */
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
   * Undefined if no request has this id. Otherwise `held` is what the next message waits for, and `isPassedOn` is true
   * if a proxy has already passed the answer on, so nobody else has to see it before the next message.
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
    return undefined; // the request itself reports the error
  }
}
