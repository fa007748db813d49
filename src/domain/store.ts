/**
 * The port of the store, which keeps session logs, leases, journals and blobs. The contract suite in `store/` tests
 * it.
 */
import type { EventDraft, SessionEvent } from "./events.ts";
import type { EffectKey } from "./effects.ts";
import type { SessionStatus } from "./enums.ts";
import type { SessionSummary } from "./summary.ts";
import type { RequestKey } from "../stdx/request-key.ts";

export interface SessionStore extends AsyncDisposable {
  /**
   * Resolves if the store answers and has the schema of this program. Does not retry. Rejects with a `store_*` error.
   */
  check(): Promise<void>;

  /**
   * Commits all events or none, and resolves when they are durable. The first append to a session starts with
   * `session.opened` and expects head 0. An append with a known `id` changes nothing and resolves with the first
   * result. Rejects with `append_conflict` (another writer moved the head), `lease_lost` (a newer lease exists),
   * `session_not_found`, or a `store_*` error.
   */
  append(append: Append): Promise<Appended>;
  /**
   * Appends at the current head, so that it cannot conflict with other writers: for events that depend on no more
   * than the summary. Durable and safe to retry like `append`. Rejects with `session_not_found`, with the error that
   * `decide` throws, or with a `store_*` error.
   */
  appendAtHead(append: AppendAtHead): Promise<Appended>;

  /** Reads a page of the log. Rejects with `session_not_found`. */
  read(query: ReadQuery): Promise<EventPage>;

  /**
   * Yields every event after the cursor, in order, without gaps or duplicates, from every process that has the store
   * open. Then waits for more until the signal fires. A slow reader does not slow down writers. Throws
   * `session_not_found` if the session is deleted.
   */
  follow(query: FollowQuery): AsyncIterable<SessionEvent>;

  /**
   * Yields the head of the log when it is larger than `after`, and then again whenever it has grown, by any process. A
   * slow consumer gets only the last head. Ends if the session does not exist or is deleted. Costs no query while the
   * log does not grow, and does not keep the process alive.
   */
  watchHead(query: FollowQuery): AsyncIterable<number>;

  summary(sessionId: string): Promise<SessionSummary | undefined>;
  /** Lists sessions, newest first. */
  list(query?: ListQuery): Promise<readonly SessionSummary[]>;
  /** Counts the sessions in each status. Reads every session, so call it rarely. */
  countSessions(): Promise<Readonly<Record<SessionStatus, number>>>;

  /**
   * Rejects with `session_in_use` while the lease of another owner is valid, unless `supersede` names its generation.
   */
  acquireLease(request: LeaseRequest): Promise<Lease>;
  /**
   * Renews many leases at once, even expired ones. Resolves with the renewed leases in the same order, and undefined for
   * each that is lost: superseded, released, or deleted with its session.
   */
  renewLeases(leases: readonly Lease[], until: number): Promise<readonly (Lease | undefined)[]>;
  /** Does nothing if the lease is not current anymore. */
  releaseLease(lease: Lease): Promise<void>;
  currentLease(sessionId: string): Promise<Lease | undefined>;

  /**
   * Deletes the lease and its session, completely or not at all. Blobs stay, because other sessions may use them.
   * Rejects with `session_not_found` or `lease_lost`.
   */
  delete(lease: Lease): Promise<void>;

  /** Returns the request with this idempotency key. */
  keptRequest(key: string): Promise<KeptRequest | undefined>;
  /**
   * Stores the response to a request, beside the data that `append` stored for it: see `stdx/request-key.ts`. Keys
   * expire after a day; beyond MAX_KEPT_REQUESTS, the oldest are deleted. Does nothing if the key belongs to another
   * request.
   */
  keepResponse(request: RequestKey, response: string): Promise<void>;

  /** Returns the journal of a turn that has not ended. */
  journal(sessionId: string, turnId: string): Promise<readonly JournalEntry[]>;

  /** Content-addressed: the same bytes have the same hash and are stored once. */
  putBlob(bytes: Uint8Array): Promise<BlobRef>;
  getBlob(hash: string): Promise<Uint8Array | undefined>;
}

export interface Append {
  readonly sessionId: string;
  /** The idempotency key of the append. */
  readonly id: string;
  readonly expectedHead: number;
  /** The generation of the writer's lease. Undefined for appends without a lease, such as answers. */
  readonly fence?: number | undefined;
  readonly events: readonly EventDraft[];
  /** Committed together with the events, so that an effect's outcome and its events agree. */
  readonly journal?: readonly JournalWrite[] | undefined;
}

export interface AppendAtHead {
  readonly sessionId: string;
  /** The idempotency key of the append. A retry does not call `decide`. */
  readonly id: string;
  /**
   * Returns the events to append, or none. Called inside the commit with the current summary: it must be fast, and
   * may be called again if the commit fails. If it throws, nothing is appended.
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
  /**
   * At most MAX_PAGE. Default: DEFAULT_PAGE. A page with large events may be shorter: read on until the last event is
   * the head.
   */
  readonly limit?: number | undefined;
  /** The maximum size of a page in bytes of text; it has at least one event. Default and maximum: 16 MiB. */
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
  /** Only sessions whose working directory is one of these, or is inside one of them. */
  readonly within?: readonly string[] | undefined;
  /** Excludes sessions of tasks, and sessions that an agent started. A fork was started by a person. */
  readonly startedBy?: "person" | undefined;
  /** Only sessions whose ID, with or without `ses_`, or whose short ID starts with this. See `shortId`. */
  readonly idPrefix?: string | undefined;
  readonly parent?: string | undefined;
  readonly task?: string | undefined;
  /** Incomplete copies are listed only for `copying`. */
  readonly status?: SessionStatus | undefined;
  /** Sessions older than this ID, for paging. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export interface LeaseRequest {
  readonly sessionId: string;
  readonly owner: string;
  /** Milliseconds since the epoch. The store has no clock. */
  readonly now: number;
  readonly until: number;
  /** The generation of a lease whose owner is dead. */
  readonly supersede?: number | undefined;
}

export interface Lease {
  readonly sessionId: string;
  readonly owner: string;
  /** Increases with each holder. The store refuses writers with an older one. */
  readonly generation: number;
  readonly until: number;
}

export type JournalWrite =
  | { readonly op: "start"; readonly key: EffectKey }
  | { readonly op: "finish"; readonly key: EffectKey; readonly value: unknown }
  /** A finished turn is never replayed. */
  | { readonly op: "forget"; readonly turnId: string };

export interface JournalEntry {
  readonly key: EffectKey;
  readonly finished: boolean;
  readonly value: unknown;
}

export const MAX_KEPT_REQUESTS = 10_000;
export const KEPT_REQUEST_MS = 24 * 60 * 60_000;

/** A request with an idempotency key, and its result. */
export interface KeptRequest extends RequestKey {
  /** The event that the request created. */
  readonly made?: MadeEvent | undefined;
  /** Undefined if the process ended before the response was stored. */
  readonly response?: string | undefined;
}

export interface MadeEvent {
  readonly log: "session" | "task";
  /** The ID of the session or task. */
  readonly id: string;
  readonly seq: number;
}

export interface BlobRef {
  /** `sha256:` and 64 hexadecimal digits. */
  readonly hash: string;
  readonly size: number;
}
