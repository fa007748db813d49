/** Applies events of the feed to the summaries of sessions and the states of tasks. */
import type { SessionEvent } from "../../../src/domain/events.ts";
import { emptySummary, summarize, type SessionSummary } from "../../../src/domain/summary.ts";
import { buildTaskView } from "../../../src/domain/task/build-view.ts";
import type { TaskEvent } from "../../../src/domain/task/events.ts";
import { applyTask, type TaskState } from "../../../src/domain/task/state.ts";
import type { TaskView } from "../../../src/domain/task/view.ts";

type LogEvent = SessionEvent | TaskEvent;

export interface RosterChanges {
  /** Undefined for what was removed. */
  readonly sessions: ReadonlyMap<string, SessionSummary | undefined>;
  readonly tasks: ReadonlyMap<string, TaskView | undefined>;
}

export class RosterFold {
  readonly #sessions = new Map<string, SessionSummary>();
  readonly #tasks = new Map<string, TaskState>();
  readonly #changedSessions = new Set<string>();
  readonly #changedTasks = new Set<string>();
  /** A snapshot that is on its way may still have these. */
  readonly #deleted = new Set<string>();
  #held: LogEvent[] | undefined;
  #hasGap = false;

  /** Keeps events until `start`. */
  hold(): void {
    this.#held = [];
  }

  start(sessions: readonly SessionSummary[], tasks: readonly TaskState[]): void {
    for (const session of sessions) if (!this.#deleted.has(session.id)) this.#setSession(session);
    for (const task of tasks) this.#setTask(task);
    const held = this.#held ?? [];
    this.#held = undefined;
    this.add(held);
  }

  /** Whether an event was left out because the events before it are unknown. Only a new snapshot can show it. */
  get hasGap(): boolean {
    return this.#hasGap;
  }

  hasSession(id: string): boolean {
    return this.#sessions.has(id);
  }

  hasTask(id: string): boolean {
    return this.#tasks.has(id);
  }

  add(events: readonly LogEvent[]): void {
    if (this.#held !== undefined) return void this.#held.push(...events);
    for (const event of events) {
      if ("sessionId" in event && !("taskId" in event)) this.#addSessionEvent(event);
      else this.#addTaskEvent(event);
    }
  }

  removeSession(id: string): void {
    this.#held = this.#held?.filter((event) => !("sessionId" in event) || event.sessionId !== id);
    if (this.#held !== undefined) this.#deleted.add(id);
    if (this.#sessions.delete(id)) this.#changedSessions.add(id);
  }

  /** The running time of these tasks changes without an event. */
  markRunningTasks(): void {
    for (const { id, runningSince } of this.#tasks.values()) if (runningSince !== undefined) this.#changedTasks.add(id);
  }

  /** What changed since the last call. */
  takeChanges(now: number): RosterChanges {
    for (const id of this.#changedSessions) {
      const task = this.#sessions.get(id)?.task;
      if (task !== undefined) this.#markTask(task); // a task shows the status and usage of its sessions
    }
    const sessions = new Map([...this.#changedSessions].map((id) => [id, this.#sessions.get(id)]));
    const tasks = new Map([...this.#changedTasks].map((id) => [id, this.#viewOf(id, now)]));
    this.#changedSessions.clear();
    this.#changedTasks.clear();
    return { sessions, tasks };
  }

  #viewOf(id: string, now: number): TaskView | undefined {
    const state = this.#tasks.get(id);
    if (state === undefined || state.removed) return undefined;
    const findSession = (each: string): SessionSummary | undefined => this.#sessions.get(each);
    const findTask = (each: string): TaskState | undefined => this.#tasks.get(each);
    return buildTaskView(state, { findSession, findTask, now });
  }

  #addSessionEvent(event: SessionEvent): void {
    const before = this.#sessions.get(event.sessionId) ?? emptySummary(event.sessionId);
    if (this.#isNext(event.seq, before.head)) this.#setSession(summarize(before, [event]));
  }

  #addTaskEvent(event: TaskEvent): void {
    const before = this.#tasks.get(event.taskId);
    if (this.#isNext(event.seq, before?.head ?? 0)) this.#setTask(applyTask(before, event));
  }

  /** False for an event that the snapshot has, and for one that follows events which the snapshot does not list. */
  #isNext(seq: number, head: number): boolean {
    if (seq > head + 1) this.#hasGap = true;
    return seq === head + 1;
  }

  #setSession(session: SessionSummary): void {
    this.#sessions.set(session.id, session);
    this.#changedSessions.add(session.id);
  }

  #setTask(task: TaskState): void {
    this.#tasks.set(task.id, task);
    this.#markTask(task.id);
  }

  /** Also marks the queued tasks that need it, because they show its status. */
  #markTask(id: string): void {
    this.#changedTasks.add(id);
    for (const other of this.#tasks.values()) {
      if (other.phase === "queued" && other.spec.needs.includes(id)) this.#changedTasks.add(other.id);
    }
  }
}
