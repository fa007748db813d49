/**
 * Builds spans from the events that this process has committed. Reads the log only for what it has not seen: the start
 * of a turn or task that another process started. Nothing waits for it.
 */
import type { EventDraft, EventOf, SessionEvent, Store, TaskEvent, TaskEventDraft } from "../domain/index.ts";
import { traceIdOf, type Span } from "./span.ts";
import { SessionTrace } from "./trace-session.ts";
import { TaskTrace } from "./trace-task.ts";

export interface LogTracerOptions {
  readonly store: Pick<Store, "read" | "readTask" | "summary">;
  /** Whether spans contain prompts, replies, arguments and results. */
  readonly content: boolean;
  onSpan(span: Span): void;
  /** Called if the log could not be read. The spans of this session or task are incomplete. */
  onFailure(): void;
}

/** Sessions and tasks that are kept. The ones that were used least recently are read again when they continue. */
const MAX_LOGS = 10_000;
/** How far back the start of a turn is searched. */
const MAX_PAGES = 10;
const PAGE = 1_000;

/** Events that are not needed for spans and are not even queued. */
const IGNORED: ReadonlySet<string> = new Set([
  "tool.updated",
  "output.text",
  "agent.raw",
  "plan.updated",
  "mcp.status",
]);

type SeenEvent = EventDraft & { readonly seq: number };

export class LogTracer {
  readonly #options: LogTracerOptions;
  readonly #sessions = new Map<string, SessionTrace>();
  readonly #tasks = new Map<string, TaskTrace>();
  /** The last work of each log. Events of one log are handled in order. */
  readonly #tails = new Map<string, Promise<void>>();

  constructor(options: LogTracerOptions) {
    this.#options = options;
  }

  get openTurns(): number {
    return Array.from(this.#sessions.values()).filter(({ isTurnOpen }) => isTurnOpen).length;
  }

  /** Call it after a commit. `before` is the head before the events. */
  addSessionEvents(sessionId: string, before: number, events: readonly EventDraft[]): void {
    const known = this.#tails.has(sessionId) ? undefined : this.#sessions.get(sessionId);
    if (known !== undefined && events.every(({ type }) => type.endsWith(".delta"))) {
      for (const event of events) known.apply(event); // most events: without a copy and a promise
      return;
    }
    const seen = events.map((event, index) => ({ ...event, seq: before + index + 1 }));
    const wanted = seen.filter(({ type }) => !IGNORED.has(type));
    if (wanted.length === 0) return;
    this.#enqueue(sessionId, () => this.#traceSession(sessionId, wanted));
  }

  addTaskEvents(taskId: string, before: number, events: readonly TaskEventDraft[]): void {
    const seen = events.map((event, index): TaskEvent => ({ ...event, seq: before + index + 1, taskId }));
    this.#enqueue(taskId, () => this.#traceTask(taskId, seen));
  }

  /** Call it when this process has claimed a task: the store has appended `task.started`. */
  addClaim(taskId: string, head: number): void {
    this.#enqueue(taskId, async () => {
      await this.#taskTrace(taskId, { through: head });
    });
  }

  /** Call it when this process no longer drives the session or runs the task. */
  forget(logId: string): void {
    this.#enqueue(logId, () => {
      this.#sessions.delete(logId);
      this.#tasks.delete(logId);
      return Promise.resolve();
    });
  }

  /** Resolves when everything so far is handled. */
  async settled(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }

  #enqueue(logId: string, work: () => Promise<void>): void {
    const next = (this.#tails.get(logId) ?? Promise.resolve())
      .then(work)
      .catch(() => this.#options.onFailure())
      .finally(() => {
        if (this.#tails.get(logId) === next) this.#tails.delete(logId);
      });
    this.#tails.set(logId, next);
  }

  async #traceSession(sessionId: string, events: readonly SeenEvent[]): Promise<void> {
    const [first] = events;
    if (first === undefined) return;
    const trace = this.#sessions.get(sessionId) ?? (await this.#openSession(sessionId, first));
    if (trace === undefined) return;
    keepRecent(this.#sessions, sessionId, trace);
    for (const event of events) await this.#applyToSession(sessionId, trace, event);
  }

  async #applyToSession(sessionId: string, trace: SessionTrace, event: SeenEvent): Promise<void> {
    if (event.type === "turn.started") {
      trace.startTurn(event as EventOf<"turn.started">, await this.#parentOfTurn(trace));
    } else {
      for (const span of trace.apply(event)) this.#options.onSpan(span);
    }
  }

  /** Undefined if the session was deleted meanwhile. */
  async #openSession(sessionId: string, first: SeenEvent): Promise<SessionTrace | undefined> {
    const { content, store } = this.#options;
    if (first.type === "session.opened" && first.seq === 1) {
      const { backend, model, task, parent, depth } = first;
      const traceId = await this.#findTraceId({ id: sessionId, task, parent, depth });
      const startedBy = depth === undefined ? undefined : parent;
      return new SessionTrace({ sessionId, traceId, task, startedBy, agent: first.agent, backend, model, content });
    }
    const summary = await store.summary(sessionId);
    if (summary === undefined) return undefined;
    const { agent, backend, model, task, parent, depth } = summary;
    const traceId = await this.#findTraceId(summary);
    const startedBy = depth === undefined ? undefined : parent;
    const trace = new SessionTrace({ sessionId, traceId, task, startedBy, agent, backend, model, content });
    if (first.type !== "turn.started" && first.turnId !== undefined) {
      for (const event of await this.#readRunningTurn(sessionId, first)) {
        if (event.type === "turn.started") trace.startTurn(event, await this.#parentOfTurn(trace));
        else trace.apply(event); // the process that wrote it has exported it
      }
    }
    return trace;
  }

  /** The events of the turn before `next`, in order. Empty if its start is too far away. */
  async #readRunningTurn(sessionId: string, { seq, turnId }: SeenEvent): Promise<SessionEvent[]> {
    const found: SessionEvent[] = [];
    let before = seq;
    for (let page = 0; page < MAX_PAGES && before > 1; page += 1) {
      const { events } = await this.#options.store.read({ sessionId, before, order: "newest_first", limit: PAGE });
      for (const event of events) {
        before = event.seq;
        if (event.turnId !== turnId) continue;
        found.push(event);
        if (event.type === "turn.started") return found.reverse();
      }
      if (events.length === 0) break;
    }
    return [];
  }

  /** Sub-agents are in the trace of the session that started them. Forks have their own. */
  async #findTraceId(session: {
    readonly id: string;
    readonly task?: string | undefined;
    readonly parent?: string | undefined;
    readonly depth?: number | undefined;
  }): Promise<string> {
    if (session.task !== undefined) return traceIdOf(session.task);
    if (session.parent === undefined || session.depth === undefined) return traceIdOf(session.id);
    const known = this.#sessions.get(session.parent);
    if (known !== undefined) return known.traceId;
    const parent = await this.#options.store.summary(session.parent);
    return parent === undefined ? traceIdOf(session.id) : this.#findTraceId(parent);
  }

  async #parentOfTurn({ sessionId, task, startedBy }: SessionTrace): Promise<string | undefined> {
    if (startedBy !== undefined) {
      await this.#tails.get(startedBy); // it has recorded the call that started this session
      return this.#sessions.get(startedBy)?.parentOfChild(sessionId);
    }
    if (task === undefined) return undefined;
    await this.#tails.get(task);
    const trace = this.#tasks.get(task) ?? (await this.#taskTrace(task, { through: Infinity }));
    return trace.parentOfTurn(sessionId);
  }

  async #traceTask(taskId: string, events: readonly TaskEvent[]): Promise<void> {
    const [first] = events;
    if (first === undefined) return;
    const trace = await this.#taskTrace(taskId, { through: first.seq - 1 });
    for (const event of events) for (const span of trace.apply(event)) this.#options.onSpan(span);
  }

  /** Reads the events that are missing up to `through`. The process that wrote them has exported their spans. */
  async #taskTrace(taskId: string, { through }: { readonly through: number }): Promise<TaskTrace> {
    const trace = this.#tasks.get(taskId) ?? new TaskTrace(taskId);
    keepRecent(this.#tasks, taskId, trace);
    for (let page = 0; page < MAX_PAGES && trace.head < through; page += 1) {
      const { events, head } = await this.#options.store.readTask({ taskId, after: trace.head, limit: PAGE });
      for (const event of events) if (event.seq <= through) trace.apply(event);
      if (events.length === 0 || trace.head >= head) break;
    }
    return trace;
  }
}

function keepRecent<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next().value;
  if (map.size > MAX_LOGS && oldest !== undefined) map.delete(oldest);
}
