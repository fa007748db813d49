/**
 * Decides which sessions may be set up at the same time. Until the agent has named a session, its requests cannot be
 * told from those of another one, so only setups that answer requests in the same way run at once.
 */
import { SizedQueue } from "../buffer/sized-queue.ts";
import type { SessionHandlers } from "../session-handlers.ts";

/** Setups with equal keys run at once. */
export type SetupKey = readonly unknown[];

/** The key of sessions that a proxy sets up for its client, which answers their requests. */
export const CLIENT_SETUPS: SetupKey = ["client"];

/** The handlers that may have to answer a request before the agent has named the session. */
export function getSetupKey(handlers: SessionHandlers): SetupKey {
  const { permission, readTextFile, writeTextFile, terminal, elicitation, request } = handlers;
  return [permission, readTextFile, writeTextFile, terminal, elicitation, request];
}

interface WaitingSetup {
  readonly key: SetupKey;
  readonly start: () => void;
}

export class SetupQueue {
  #running: { readonly key: SetupKey; count: number } | undefined;
  readonly #waiting = new SizedQueue<WaitingSetup>();

  /**
   * Calls `start` at once if nothing runs or only setups with the same key, otherwise after the setups that came
   * before. `start` gets a function to call when the session is named or the setup has failed; a second call does
   * nothing.
   */
  enter(key: SetupKey, start: (leave: () => void) => void): void {
    const run = (): void => {
      let isLeft = false;
      start(() => {
        if (!isLeft) this.#leave();
        isLeft = true;
      });
    };
    if (this.#waiting.first !== undefined || !this.#admit(key)) this.#waiting.push({ key, start: run });
    else run();
  }

  #admit(key: SetupKey): boolean {
    if (this.#running === undefined) this.#running = { key, count: 1 };
    else if (isSameKey(this.#running.key, key)) this.#running.count += 1;
    else return false;
    return true;
  }

  #leave(): void {
    if (this.#running === undefined) return;
    this.#running.count -= 1;
    if (this.#running.count > 0) return;
    this.#running = undefined;
    for (let next = this.#waiting.first; next !== undefined && this.#admit(next.item.key); next = this.#waiting.first) {
      this.#waiting.shift();
      next.item.start();
    }
  }
}

function isSameKey(one: SetupKey, other: SetupKey): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at]);
}
