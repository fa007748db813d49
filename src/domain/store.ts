/** The port of the event log: what a place that keeps sessions must do. The contract suite in `store/` says it as tests. */
import type { EventDraft, SessionEvent } from "./events.ts";
import type { EffectKey } from "./effects.ts";
import type { SessionStatus } from "./enums.ts";
import type { SessionSummary } from "./summary.ts";
import type { RequestKey } from "../stdx/request-key.ts";

export interface SessionStore extends AsyncDisposable {
  /**
   * Commits all of it or nothing, and resolves only when it is durable. The first append to a session starts with
   * `session.opened` and expects head 0. The same `id` again is a no-op that answers as the first time did.
   * Rejects with `append_conflict` (another writer moved the head), `lease_lost` (a newer lease exists),
   * `session_not_found`, or a `store_*` error.
   */
  append(append: Append): Promise<Appended>;
  /**
   * Appends after whatever the log holds by then, so that no other writer can be faster: for events that do not depend
   * on what came before, or on no more than the summary says. Durable and harmless to retry as `append`. Rejects with
   * `session_not_found`, with what `decide` throws, or with a `store_*` error.
   */
  appendAtHead(append: AppendAtHead): Promise<Appended>;

  /** A page of the log. Rejects with `session_not_found`. */
  read(query: ReadQuery): Promise<EventPage>;

  /**
   * Every event after the cursor, in order, without gap or double, whoever appends it on this machine; then it waits
   * for more, until the signal ends it. A slow reader reads later and costs nobody anything. Where the session is
   * deleted it fails with `session_not_found`, as soon as it waits or wants to read on.
   */
  follow(query: FollowQuery): AsyncIterable<SessionEvent>;

  summary(sessionId: string): Promise<SessionSummary | undefined>;
  /** Newest first. */
  list(query?: ListQuery): Promise<readonly SessionSummary[]>;

  /** Rejects with `session_in_use` while another owner's lease is valid, unless `supersede` names its generation. */
  acquireLease(request: LeaseRequest): Promise<Lease>;
  /** Rejects with `lease_lost`. */
  renewLease(lease: Lease, until: number): Promise<Lease>;
  /** A lease that is no longer current is left alone. */
  releaseLease(lease: Lease): Promise<void>;
  currentLease(sessionId: string): Promise<Lease | undefined>;

  /**
   * Forgets the session that the lease is of, and the lease: all of it or nothing, and the session is as if it had
   * never been. Blobs stay, for other sessions may have the same. Rejects with `session_not_found` or `lease_lost`.
   */
  delete(lease: Lease): Promise<void>;

  /** What is kept under an idempotency key. */
  keptRequest(key: string): Promise<KeptRequest | undefined>;
  /**
   * Keeps the response to a request, beside what `append` kept of it: see `stdx/request-key.ts`. Keys are forgotten
   * after a day, the oldest first if there are more than MAX_KEPT_REQUESTS. A key of another request is left alone.
   */
  keepResponse(request: RequestKey, response: string): Promise<void>;

  /** What is journalled of a turn that has not ended. */
  journal(sessionId: string, turnId: string): Promise<readonly JournalEntry[]>;

  /** Content-addressed: the same bytes have the same name and are kept once. */
  putBlob(bytes: Uint8Array): Promise<BlobRef>;
  getBlob(hash: string): Promise<Uint8Array | undefined>;
}

export interface Append {
  readonly sessionId: string;
  /** Makes a retry harmless. */
  readonly id: string;
  readonly expectedHead: number;
  /** The generation of the lease under which this is written; outsiders who only answer have none. */
  readonly fence?: number | undefined;
  readonly events: readonly EventDraft[];
  /** Committed together with the events, so that an effect's outcome and its traces agree. */
  readonly journal?: readonly JournalWrite[] | undefined;
}

export interface AppendAtHead {
  readonly sessionId: string;
  /** Makes a retry harmless: a second append of this id does not call `decide`. */
  readonly id: string;
  /**
   * Returns the events to append, or none. Called inside the commit, where the summary is current: it must be quick,
   * and may be called again if the commit fails. If it throws, nothing is appended.
   */
  readonly decide: (summary: SessionSummary) => readonly EventDraft[];
}

export interface Appended {
  readonly head: number;
  readonly repeated: boolean;
}

export interface ReadQuery {
  readonly sessionId: string;
  /** Exclusive. */
  readonly after?: number | undefined;
  /** Exclusive. */
  readonly before?: number | undefined;
  readonly order?: "oldest_first" | "newest_first" | undefined;
  /** At most MAX_PAGE; DEFAULT_PAGE if not said. A page of large events ends earlier: read on until its last is the head. */
  readonly limit?: number | undefined;
  /** A page ends before it holds more bytes of text than this, but holds at least one event. Default and maximum: 16 MiB. */
  readonly maxBytes?: number | undefined;
}

export interface EventPage {
  readonly events: readonly SessionEvent[];
  readonly head: number;
}

export const DEFAULT_PAGE = 1_000;
export const MAX_PAGE = 10_000;

export interface FollowQuery {
  readonly sessionId: string;
  readonly after: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ListQuery {
  readonly agent?: string | undefined;
  readonly cwd?: string | undefined;
  readonly parent?: string | undefined;
  readonly task?: string | undefined;
  /** Half a copy is listed only where `copying` is asked for. */
  readonly status?: SessionStatus | undefined;
  /** Sessions older than this id; for paging. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export interface LeaseRequest {
  readonly sessionId: string;
  readonly owner: string;
  /** Milliseconds since the epoch; the store has no clock of its own. */
  readonly now: number;
  readonly until: number;
  /** The generation of a lease whose owner is known to be dead. */
  readonly supersede?: number | undefined;
}

export interface Lease {
  readonly sessionId: string;
  readonly owner: string;
  /** Goes up with each new holder; a writer with an older one is refused. */
  readonly generation: number;
  readonly until: number;
}

export type JournalWrite =
  | { readonly op: "start"; readonly key: EffectKey }
  | { readonly op: "finish"; readonly key: EffectKey; readonly value: unknown }
  /** A turn that ended is never replayed. */
  | { readonly op: "forget"; readonly turnId: string };

export interface JournalEntry {
  readonly key: EffectKey;
  readonly finished: boolean;
  readonly value: unknown;
}

export const MAX_KEPT_REQUESTS = 10_000;
export const KEPT_REQUEST_MS = 24 * 60 * 60_000;

/** A request with an idempotency key, and what came of it. */
export interface KeptRequest extends RequestKey {
  /** The event that it made. */
  readonly made?: MadeEvent | undefined;
  /** Undefined if the process ended before it was kept. */
  readonly response?: string | undefined;
}

export interface MadeEvent {
  readonly log: "session" | "task";
  /** Of the session or task. */
  readonly id: string;
  readonly seq: number;
}

export interface BlobRef {
  /** `sha256:` and 64 hexadecimal digits. */
  readonly hash: string;
  readonly size: number;
}
