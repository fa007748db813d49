/** The port of the tasks' logs, and of the feed: everything in the order in which it was committed. */
import type { TaskPhase } from "../enums.ts";
import type { SessionEvent } from "../events.ts";
import type { Appended, FollowQuery, Lease, ReadQuery, SessionStore } from "../store.ts";
import type { TaskEvent, TaskEventDraft } from "./events.ts";
import type { TaskSpec } from "./spec.ts";
import type { TaskState } from "./state.ts";

/** Kept beside the sessions, in the same order and by the same rules. Leases are those of `SessionStore`, by the task's id. */
export interface TaskStore {
  /**
   * As `SessionStore.append`. The first append to a task is `task.created` alone and expects head 0; where there is a
   * task of that id it rejects with `append_conflict`. Rejects with `task_not_found`, `append_conflict`, `lease_lost`.
   */
  appendTask(append: TaskAppend): Promise<Appended>;
  /** As `SessionStore.appendAtHead`. Rejects with `task_not_found`. */
  appendTaskAtHead(append: TaskAppendAtHead): Promise<Appended>;
  /** A page of the log, oldest first. Rejects with `task_not_found`. */
  readTask(query: TaskRead): Promise<{ readonly events: readonly TaskEvent[]; readonly head: number }>;
  task(taskId: string): Promise<TaskState | undefined>;
  /** Newest first. */
  tasks(query?: TaskQuery): Promise<readonly TaskState[]>;
  /** How many there are in each phase, those that were removed left out. */
  countTasks(): Promise<Readonly<Record<TaskPhase, number>>>;
  /**
   * Looks at what could be taken, lets `choose` decide, and takes it: a lease for the owner, and `task.started` under it,
   * all in one commit that no other process can get in between. Undefined where nothing is chosen.
   */
  claimTask(claim: TaskClaim): Promise<ClaimedTask | undefined>;

  /**
   * Pages of events after the cursor as they were committed, of sessions and tasks alike, then it waits for more, until
   * the signal ends it. A position is a number that goes up with each event of the store and is never used twice; some
   * are missing where a session was deleted. Followers that are equally far may be given the same page: it is not to be
   * changed. Fails with `task_not_found`.
   */
  followFeed(query: FeedQuery): AsyncIterable<readonly FeedText[]>;
  /** Without waiting. Rejects with `task_not_found`. */
  readFeed(query: Omit<FeedQuery, "signal"> & Pick<ReadQuery, "limit" | "maxBytes">): Promise<FeedPage>;
  /**
   * As `SessionStore.follow`, in pages of JSON, for whoever passes it on: as much at a time as is there and a page holds.
   */
  followText(query: FollowQuery): AsyncIterable<readonly EventText[]>;
}

/** Where everything is kept. */
export interface Store extends SessionStore, TaskStore {}

export interface TaskAppend {
  readonly taskId: string;
  /** Makes a retry harmless. */
  readonly id: string;
  readonly expectedHead: number;
  readonly fence?: number | undefined;
  readonly events: readonly TaskEventDraft[];
}

export interface TaskAppendAtHead {
  readonly taskId: string;
  readonly id: string;
  /** As that of `AppendAtHead`. */
  readonly decide: (state: TaskState) => readonly TaskEventDraft[];
}

export interface TaskRead {
  readonly taskId: string;
  /** Exclusive. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export interface TaskQuery {
  readonly phases?: readonly TaskPhase[] | undefined;
  readonly repository?: string | undefined;
  readonly agent?: string | undefined;
  /** Has a merge been asked for that has not ended? */
  readonly merging?: boolean | undefined;
  /** Also those that were removed. */
  readonly removed?: boolean | undefined;
  /** Older than this task; for paging. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export interface TaskClaim {
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly until: number;
  /** Only this one, and whether or not others come before it. */
  readonly only?: string | undefined;
  /** Pure; may be called more than once. Answers the id of a candidate. */
  choose(candidates: readonly Candidate[], busy: readonly Busy[]): string | undefined;
}

/**
 * What is queued or parked, may start by now, needs nothing that is not done, and is held by nobody else: of all that
 * share repository, agent and provider only the first, by priority and age.
 */
export interface Candidate extends Busy {
  readonly priority: number;
  /** Goes up with each new task. */
  readonly order: number;
  readonly limits: TaskSpec["limits"];
}

/** What is being prepared or runs. */
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
  /** A position, exclusive. */
  readonly after: number;
  /** Only this task and its sessions: those that named it when it was there already. */
  readonly task?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A whole event, its session's id within it. */
export interface EventText {
  readonly seq: number;
  readonly text: string;
}

/** An event as JSON, for whoever passes it on. */
export interface FeedText {
  readonly position: number;
  readonly text: string;
}

export interface FeedPage {
  readonly events: readonly FeedText[];
  /** The last position there is. */
  readonly head: number;
}

export type LogEvent = SessionEvent | TaskEvent;

export interface FeedEvent {
  readonly position: number;
  readonly event: LogEvent;
}
