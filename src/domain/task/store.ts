/** The port of task logs and of the feed, which has the events of all logs in commit order. */
import type { TaskPhase } from "../enums.ts";
import type { SessionEvent } from "../events.ts";
import type { Appended, FollowQuery, Lease, ReadQuery, SessionStore } from "../store.ts";
import type { WorkerStore } from "../worker.ts";
import type { TaskEvent, TaskEventDraft } from "./events.ts";
import type { TaskPlacement } from "./placement.ts";
import type { TaskSpec } from "./spec.ts";
import type { TaskState } from "./state.ts";

/** Stores tasks beside sessions, with the same guarantees. Leases are those of `SessionStore`, by task ID. */
export interface TaskStore {
  /**
   * Like `SessionStore.append`. The first append to a task is only `task.created` and expects head 0; if the task
   * exists, it rejects with `append_conflict`. Rejects with `task_not_found`, `append_conflict` or `lease_lost`.
   */
  appendTask(append: TaskAppend): Promise<Appended>;
  /** Like `SessionStore.appendAtHead`. Rejects with `task_not_found`. */
  appendTaskAtHead(append: TaskAppendAtHead): Promise<Appended>;
  /** Reads a page of the log, oldest events first. Rejects with `task_not_found`. */
  readTask(query: TaskRead): Promise<{ readonly events: readonly TaskEvent[]; readonly head: number }>;
  /** Like `SessionStore.watchHead`. */
  watchTaskHead(query: TaskFollowQuery): AsyncIterable<number>;
  /**
   * Yields at once, and then whenever the log of a task may have grown, by any process. Several changes may be
   * combined. Does not keep the process alive.
   */
  watchTasks(query?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<undefined>;
  task(taskId: string): Promise<TaskState | undefined>;
  /** Lists tasks, newest first unless the query says otherwise. */
  tasks(query?: TaskQuery): Promise<readonly TaskState[]>;
  /** Counts the tasks in each phase, without removed ones. */
  countTasks(): Promise<Readonly<Record<TaskPhase, number>>>;
  /**
   * Lists the tasks that a process must hold: those that are being prepared, are running, or have an open merge.
   * Excludes removed tasks. At most MAX_PAGE.
   */
  heldTasks(): Promise<readonly HeldTask[]>;
  /**
   * Claims a task: `choose` selects one of the candidates, and the store acquires its lease and appends
   * `task.started` in the same commit. Resolves with undefined if nothing is chosen.
   */
  claimTask(claim: TaskClaim): Promise<ClaimedTask | undefined>;

  /**
   * Yields pages of events of all sessions and tasks after the cursor, in commit order, then waits for more until the
   * signal fires. Positions increase and are never reused; some are missing if a session was deleted. Followers at
   * the same position may get the same page, so do not change it. Throws `task_not_found`.
   */
  followFeed(query: FeedQuery): AsyncIterable<readonly FeedText[]>;
  /** Like `followFeed`, without waiting. Rejects with `task_not_found`. */
  readFeed(query: Omit<FeedQuery, "signal"> & Pick<ReadQuery, "limit" | "maxBytes">): Promise<FeedPage>;
  /** Like `SessionStore.follow`, but yields pages of JSON text, for callers that pass it on. */
  followText(query: FollowQuery): AsyncIterable<readonly EventText[]>;
}

/** The store of sessions, tasks and worker records. */
export interface Store extends SessionStore, TaskStore, WorkerStore {}

export interface TaskAppend {
  readonly taskId: string;
  /** The idempotency key of the append. */
  readonly id: string;
  readonly expectedHead: number;
  readonly fence?: number | undefined;
  readonly events: readonly TaskEventDraft[];
}

export interface TaskAppendAtHead {
  readonly taskId: string;
  readonly id: string;
  /** Like `decide` of `AppendAtHead`. */
  readonly decide: (state: TaskState) => readonly TaskEventDraft[];
}

export interface TaskRead {
  readonly taskId: string;
  /** Exclusive. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export interface TaskFollowQuery {
  readonly taskId: string;
  readonly after: number;
  readonly signal?: AbortSignal | undefined;
}

export interface TaskQuery {
  readonly phases?: readonly TaskPhase[] | undefined;
  readonly repository?: string | undefined;
  readonly agent?: string | undefined;
  /** Only tasks whose ID starts with this. */
  readonly idPrefix?: string | undefined;
  /** Only tasks with a merge that has not ended. */
  readonly merging?: boolean | undefined;
  /** Includes removed tasks. */
  readonly removed?: boolean | undefined;
  /** By creation. Default: `newest_first`. */
  readonly order?: "oldest_first" | "newest_first" | undefined;
  /** Tasks older than this one, for paging. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export interface HeldTask {
  readonly id: string;
  readonly phase: TaskPhase;
  /** Undefined if no process holds it. An expired lease is listed: the store has no clock. */
  readonly lease: Lease | undefined;
}

export interface TaskClaim {
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly until: number;
  /** Claims only this task, even if others come first. */
  readonly only?: string | undefined;
  /** The host of the claiming process, for `task.started`. */
  readonly host?: string | undefined;
  /** Tasks that are not offered. */
  readonly skip?: readonly string[] | undefined;
  /** Called with the state of the chosen task. If it returns false, the claim chooses again without that task. */
  readonly accepts?: ((state: TaskState) => boolean) | undefined;
  /** Must be pure; may be called more than once. Returns the ID of a candidate. */
  choose(candidates: readonly Candidate[], busy: readonly Busy[]): string | undefined;
}

/**
 * A queued or parked task that may start now, whose dependencies are done and that no process holds. Only the first,
 * by priority and age, of all tasks with the same repository, agent, provider and placement.
 */
export interface Candidate extends Busy {
  /** Undefined if the task can run anywhere. */
  readonly placement?: TaskPlacement | undefined;
  readonly priority: number;
  /** Increases with each new task. */
  readonly order: number;
  readonly limits: TaskSpec["limits"];
}

/** A task that is being prepared or running. */
export interface Busy {
  readonly id: string;
  readonly repository: string;
  readonly agent: string;
  readonly provider: string;
}

export interface ClaimedTask {
  readonly state: TaskState;
  readonly lease: Lease;
}

export interface FeedQuery {
  /** A position in the feed, exclusive. */
  readonly after: number;
  /** Only events of this task, and of sessions that were opened for it after its creation. */
  readonly task?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A whole event as JSON, including its session ID. */
export interface EventText {
  readonly seq: number;
  readonly text: string;
}

/** An event of the feed as JSON. */
export interface FeedText {
  readonly position: number;
  readonly text: string;
}

export interface FeedPage {
  readonly events: readonly FeedText[];
  /** The last position of the feed. */
  readonly head: number;
}

export type LogEvent = SessionEvent | TaskEvent;

/** What `follow` yields, for a session, a task or everything. */
export interface FeedEvent<Event extends LogEvent = LogEvent> {
  /** The cursor to pass as `after`: the `seq` of the event if one session is followed, otherwise its place in the feed. */
  readonly position: number;
  readonly event: Event;
}
