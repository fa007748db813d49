/** Shows each event of a log once: follows it, and at the end reads what came with the end. */

export interface WatchedLog<Event> {
  /** Events up to this position are not shown. */
  readonly after: number;
  position(event: Event): number;
  follow(signal: AbortSignal): AsyncIterable<Event>;
  /** Yields the recorded events after a position. */
  read(after: number): AsyncIterable<Event>;
  show(event: Event): Promise<void>;
}

/** Disposing shows the remaining events of the log and stops. It rejects if reading or showing fails. */
export function watchEvents<Event>(log: WatchedLog<Event>): AsyncDisposable {
  const stop = new AbortController();
  let shown = log.after;
  const showNext = async (event: Event): Promise<void> => {
    await log.show(event);
    shown = log.position(event);
  };
  const follow = async (): Promise<void> => {
    for await (const event of log.follow(stop.signal)) await showNext(event);
  };
  const following = follow();
  following.catch(() => undefined); // disposing rejects with it

  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
      for await (const event of log.read(shown)) await showNext(event);
    },
  };
}
