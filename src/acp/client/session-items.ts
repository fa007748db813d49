/** What a session's reader reads: updates, requests that no handler took, and the stop of each turn. */
import type { IncomingRequest } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";
import type { PeerError } from "../errors.ts";

/**
 * When an update came:
 * - `replay`: while the session was being loaded, so it is history. Kept whole, up to 64 MiB.
 * - `turn`: within a turn. Kept whole: the agent is made to wait for a reader that is behind.
 * - `between`: outside of any turn. That is what an agent says before the first prompt and after its response, and what
 *   comes late of a turn that was cancelled. Nobody may ever read it, so the last 1 MiB of it is kept.
 */
export type When = "replay" | "turn" | "between";

export interface UpdateItem {
  readonly kind: "update";
  readonly when: When;
  /** As it came, also where its kind is unknown. */
  readonly update: acp.SessionUpdate;
  readonly notification: acp.SessionNotification;
  /** The text of the whole message. */
  readonly line: string;
}

/** A request that no handler took; whoever reads it answers it, once. */
export interface RequestItem {
  readonly kind: "request";
  readonly request: IncomingRequest;
  /** Fires when an answer is of no use any more: the agent took the request back, or its turn was cancelled. */
  readonly signal: AbortSignal;
  respond(result: unknown): void;
  /** A `PeerError` is answered as it is. */
  fail(error: unknown): void;
}

/** The end of a turn. */
export interface StopItem {
  readonly kind: "stop";
  readonly response: acp.PromptResponse;
  /** The agent answered a cancelled prompt with this error. The protocol has `cancelled` for it, and so has `response`. */
  readonly error?: PeerError | undefined;
}

export type SessionItem = UpdateItem | RequestItem | StopItem;
