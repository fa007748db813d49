/** The items that a session's reader gets: updates, requests without a handler, and the stop of each turn. */
import type { IncomingRequest } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";
import type { PeerError } from "../errors.ts";

/**
 * When an update arrived:
 * - `replay`: while the session was being loaded. All of it is kept, up to 64 MiB.
 * - `turn`: within a turn. All of it is kept: a slow reader makes the agent wait.
 * - `between`: outside of any turn. This includes updates before the first prompt, after a response, and late updates
 *   of a cancelled turn. Possibly nobody reads them, so only the last 1 MiB is kept.
 */
export type When = "replay" | "turn" | "between";

export interface UpdateItem {
  readonly kind: "update";
  readonly when: When;
  /** As it came, even if its kind is unknown. */
  readonly update: acp.SessionUpdate;
  readonly notification: acp.SessionNotification;
  /** The text of the whole message. */
  readonly line: string;
}

/** A request without a handler. The reader answers it, once. */
export interface RequestItem {
  readonly kind: "request";
  readonly request: IncomingRequest;
  /** Fires when nobody needs the answer: the agent cancelled the request, or its turn was cancelled. */
  readonly signal: AbortSignal;
  respond(result: unknown): void;
  /** A `PeerError` is sent as it is. */
  fail(error: unknown): void;
}

/** The end of a turn. */
export interface StopItem {
  readonly kind: "stop";
  readonly response: acp.PromptResponse;
  /** Set if the agent answered a cancelled prompt with an error. `response` then has the stop reason `cancelled`. */
  readonly error?: PeerError | undefined;
}

export type SessionItem = UpdateItem | RequestItem | StopItem;
