/** Yields the events of one session with their positions, like the events of the feed. */
import type { FeedEvent, SessionEvent } from "../domain/index.ts";

/** `return()` ends the iteration even while `next()` waits for an event. */
export function withPositions(events: AsyncIterable<SessionEvent>): AsyncIterable<FeedEvent<SessionEvent>> {
  return {
    [Symbol.asyncIterator]() {
      const steps = events[Symbol.asyncIterator]();
      return {
        next: async () => {
          const step = await steps.next();
          return step.done === true ? DONE : { value: { position: step.value.seq, event: step.value } };
        },
        return: async () => {
          await steps.return?.();
          return DONE;
        },
      };
    },
  };
}

const DONE = { done: true, value: undefined } as const;
