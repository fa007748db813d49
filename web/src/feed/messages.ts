/** The messages between the pages and the worker that follows the log for all of them. */
import type { FeedEvent } from "../../../src/client/index.ts";

/** A page joins with its key. It leaves when it is hidden for good. */
export type PageMessage = { readonly type: "join"; readonly key: string } | { readonly type: "leave" };

export type FeedMessage =
  | { readonly type: "status"; readonly status: FeedStatus }
  | { readonly type: "events"; readonly events: readonly FeedEvent[] }
  | { readonly type: "deleted"; readonly sessionId: string };

/**
 * `connecting` until the feed has a position, `connected`, `disconnected` while it tries again, `signed_out` if the
 * server refuses the key. `log` changes if events may have been missed: snapshots that were read under another
 * number are out of date.
 */
export interface FeedStatus {
  readonly state: "connecting" | "connected" | "disconnected" | "signed_out";
  readonly log: number;
  readonly reason?: string | undefined;
}
