/** Prints the transcript of a task and follows it, even if the server is lost. */
import type { LoggedEvent } from "../service.ts";
import { sleepUnlessAborted } from "./change-signal.ts";
import type { TaskFeed } from "./task-feed.ts";

export interface FollowedTranscript {
  readonly id: string;
  readonly feed: TaskFeed;
  readonly signal: AbortSignal;
  readonly show: (logged: LoggedEvent) => void;
  /** Called once if earlier events are not shown. */
  readonly onOmitted: () => void;
}

/** A longer log is shown from here. */
const MAX_SHOWN_EVENTS = 2_000;
const RETRY_MS = 1_000;

/** Resolves after `signal` has aborted. Rejects if the log cannot be read at first. */
export async function followTranscript({ id, feed, signal, show, onOmitted }: FollowedTranscript): Promise<void> {
  let last: LoggedEvent[] = [];
  let isOmitted = false;
  for await (const logged of feed.service.history(id, 0)) {
    if (signal.aborted) return;
    if (logged.event.type === "agent.raw") continue;
    last.push(logged);
    if (last.length < 2 * MAX_SHOWN_EVENTS) continue;
    last = last.slice(-MAX_SHOWN_EVENTS);
    isOmitted = true;
  }
  if (isOmitted) onOmitted();
  for (const logged of last) show(logged);
  let after = last.at(-1)?.position ?? 0;
  while (!signal.aborted) {
    try {
      const until = AbortSignal.any([signal, feed.lost]);
      for await (const logged of feed.service.tasks.follow({ task: id, after, signal: until })) {
        if (signal.aborted) return;
        after = logged.position;
        if (logged.event.type !== "agent.raw") show(logged);
      }
    } catch {
      // the feed reports that the server is lost
    }
    await sleepUnlessAborted(RETRY_MS, signal);
  }
}
