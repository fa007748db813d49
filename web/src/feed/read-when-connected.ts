/** Reads from the server when the page is connected to it. */
import { createEffect, on } from "solid-js";
import type { Feed } from "./feed.ts";

interface ConnectedReading {
  readonly read: () => void;
  /** Whether the last run of `read` failed. */
  readonly hasFailed: () => boolean;
  /** Also reads at first and when events may have been missed. Default: true. */
  readonly isSnapshot?: boolean;
}

/** Until the owner is disposed. A reading that failed while the server was away is repeated when it is back. */
export function readWhenConnected(feed: Feed, { read, hasFailed, isSnapshot = true }: ConnectedReading): void {
  let log = 0;
  createEffect(
    on(feed.status, (status) => {
      const isOutdated = isSnapshot && status.log !== log;
      log = status.log;
      if (isOutdated || (status.state === "connected" && hasFailed())) read();
    }),
  );
}
