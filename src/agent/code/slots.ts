/** How many programs may run in this process at once; the others wait for their turn, in order. */
import { deferred, type Deferred } from "../../stdx/index.ts";

/** A thread each, with its memory. */
const MOST_AT_ONCE = 16;

let taken = 0;
const waiting: Deferred<void>[] = [];

/** Resolves with how to give it back. Rejects with the signal's reason. */
export async function takeSlot(signal: AbortSignal): Promise<Disposable> {
  signal.throwIfAborted();
  if (taken >= MOST_AT_ONCE) await turnOf(signal);
  else taken += 1;
  let isGiven = false;
  return {
    [Symbol.dispose]: () => {
      if (isGiven) return;
      isGiven = true;
      const next = waiting.shift();
      if (next === undefined) taken -= 1;
      else next.resolve(); // it has this one now
    },
  };
}

async function turnOf(signal: AbortSignal): Promise<void> {
  const place = deferred();
  const leave = (): void => {
    const at = waiting.indexOf(place);
    if (at === -1) return;
    waiting.splice(at, 1);
    place.reject(signal.reason);
  };
  waiting.push(place);
  signal.addEventListener("abort", leave, { once: true });
  try {
    await place.promise;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
