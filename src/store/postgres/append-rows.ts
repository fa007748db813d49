/** Converts the accepted appends of a group to the parameters of the SQL function `append_group`. */
import { createHash } from "node:crypto";
import type { SessionSummary, TaskState } from "../../domain/index.ts";
import type { JournalText, LogKind } from "../admission.ts";
import { BODY_SEPARATOR } from "../event-text.ts";
import { formatTaskLimits, hasOpenMerge, isClaimableTask, taskLane, taskNotBefore } from "../task-facts.ts";
import type { GrownLog } from "./append-plan.ts";
import { toStoredText } from "./stored-text.ts";

/** In the order of `APPEND_PARAMETERS`. `taskNumbers` has the tasks that sessions join. */
export function toAppendRows(grown: readonly GrownLog[], taskNumbers: ReadonlyMap<string, number>): unknown[] {
  const numbers = numberTasks(grown, taskNumbers);
  const sessions = grown.filter(({ before }) => before.kind === "session");
  const tasks = grown.filter(({ before }) => before.kind === "task");
  const accepted = grown.flatMap((log) => log.accepted.map((prepared) => ({ log, prepared })));
  const events = accepted.flatMap(({ log, prepared }) => prepared.events.map(({ seq }) => ({ no: log.no, seq })));
  return [
    toJson(sessions.map((log) => toSessionRow(log, sessionTask(log, numbers)))),
    toJson(tasks.map(toTaskRow)),
    `{${events.map(({ no }) => no).join()}}`,
    `{${events.map(({ seq }) => seq).join()}}`,
    accepted.flatMap(({ prepared }) => prepared.bodies).join(BODY_SEPARATOR),
    JSON.stringify(
      accepted.map(({ log, prepared }) => ({
        log: log.no,
        id: toStoredText(prepared.append.id),
        head: prepared.head,
      })),
    ),
    ...toJournalRows(grown),
    toRequestRows(grown),
    toJson(toFeedRows(grown, numbers)),
  ];
}

/** The numbers of tasks by their ids: the given ones, and those that the group writes. */
export function numberTasks(
  grown: readonly GrownLog[],
  taskNumbers: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const tasks = grown.filter(({ before }) => before.kind === "task");
  if (tasks.length === 0) return taskNumbers;
  return new Map([...taskNumbers, ...tasks.map(({ before, no }) => [before.id, -no] as const)]);
}

/** Null if the session belongs to no task, or the task did not exist when the session was opened. */
export function sessionTask({ before, after }: GrownLog, numbers: ReadonlyMap<string, number>): number | null {
  const { task } = after as SessionSummary;
  if (task === (before.state as SessionSummary | undefined)?.task) return before.task;
  return task === undefined ? null : (numbers.get(task) ?? null);
}

/** The tasks that sessions of the group are opened for and that have to be looked up. */
export function joinedTasks(grown: readonly GrownLog[]): string[] {
  const joined = grown
    .filter(({ before }) => before.kind === "session")
    .filter(
      ({ before, after }) => (after as SessionSummary).task !== (before.state as SessionSummary | undefined)?.task,
    )
    .flatMap(({ after }) => (after as SessionSummary).task ?? []);
  return Array.from(new Set(joined));
}

export function toRequestRow({ key, digest, at, made }: NonNullable<GrownLog["accepted"][number]["request"]>): object {
  const id = made === undefined ? null : toStoredText(made.id);
  return {
    key: toStoredText(key),
    digest: toStoredText(digest),
    at,
    log: made?.log ?? null,
    id,
    seq: made?.seq ?? null,
  };
}

export function toRequestRows(grown: readonly GrownLog[]): string | null {
  const requests = grown.flatMap(({ accepted }) => accepted.flatMap(({ request }) => request ?? []));
  return toJson(requests.map(toRequestRow));
}

/** Null for an empty list, so that the function skips its statements. */
export function toJson(rows: readonly object[]): string | null {
  return rows.length === 0 ? null : JSON.stringify(rows);
}

function toLogRow({ before, no, head, fence }: GrownLog): object {
  const id = toStoredText(before.id);
  return { no: Math.abs(no), id, created: before.state === undefined, expected: before.head, fence, head };
}

/** The row of a session that the function creates, with its number and the number of its task. */
export function toNewSessionRow(no: number, summary: SessionSummary, task: number | null): object {
  return toSessionRow(toNewLog("session", no, summary), task);
}

/** The row of a task that the function creates, with its number. */
export function toNewTaskRow(no: number, state: TaskState): object {
  return toTaskRow(toNewLog("task", -no, state));
}

function toNewLog(kind: LogKind, no: number, after: SessionSummary | TaskState): GrownLog {
  const { id, head } = after;
  const before = { kind, id, no, head: 0, state: undefined, task: null, fresh: undefined };
  return { before, no, head, fence: undefined, accepted: [], after };
}

export function toSessionRow(log: GrownLog, task: number | null): object {
  const summary = log.after as SessionSummary;
  const { agent, cwd, parent, status } = summary;
  return {
    ...toLogRow(log),
    agent: toStoredText(agent),
    cwd: toStoredText(cwd),
    parent: parent === undefined ? null : toStoredText(parent),
    status,
    by_person: summary.task === undefined && summary.depth === undefined,
    task,
    summary: JSON.stringify(summary),
    moved: log.before.state !== undefined && task !== log.before.task,
    whose: feedWhose(log.no, task),
  };
}

export function toTaskRow(log: GrownLog): object {
  const state = log.after as TaskState;
  const { spec, phase, removed } = state;
  return {
    ...toLogRow(log),
    phase,
    not_before: taskNotBefore(state),
    waiting: isClaimableTask(state),
    merging: hasOpenMerge(state),
    removed,
    state: JSON.stringify(state),
    ...(log.before.state === undefined && {
      repository: toStoredText(spec.repository),
      agent: toStoredText(spec.agent),
      provider: toStoredText(spec.provider),
      lane: createHash("sha256").update(taskLane(spec)).digest("base64"), // paths are too long for an index
      priority: spec.priority,
      limits: formatTaskLimits(spec),
      needs: spec.needs.map(toStoredText),
    }),
  };
}

function feedWhose(no: number, task: number | null): number {
  return task === null ? no : -task;
}

export interface FeedRow {
  /** The position after the last one of the feed. */
  readonly upto: number;
  readonly log: number;
  readonly whose: number;
  readonly head: number;
  readonly events: number;
}

export function toFeedRows(grown: readonly GrownLog[], numbers: ReadonlyMap<string, number>): FeedRow[] {
  let upto = 0;
  return grown
    .filter(({ before, head }) => head > before.head)
    .map((log) => {
      const { before, no, head } = log;
      const events = head - before.head;
      upto += events;
      const task = before.kind === "session" ? sessionTask(log, numbers) : null;
      return { upto, log: no, whose: feedWhose(no, task), head, events };
    });
}

interface JournalRow {
  readonly log: number;
  readonly turn: string;
  readonly step: number;
  readonly kind: string;
  readonly id: string;
  finished: boolean;
  value: string | null;
}

/**
 * The parameters of forgotten turns and of written entries. Reduces the writes of a group to one per entry; turns are
 * forgotten before entries are written.
 */
export function toJournalRows(grown: readonly GrownLog[]): [forgotten: string | null, written: string | null] {
  const forgotten: { log: number; turn: string }[] = [];
  const rows = new Map<string, JournalRow>();
  for (const { no, accepted } of grown) {
    for (const write of accepted.flatMap(({ journal }) => journal)) {
      if (write.op === "forget") {
        const turn = toStoredText(write.turnId);
        forgotten.push({ log: no, turn });
        for (const [key, row] of rows) if (row.log === no && row.turn === turn) rows.delete(key);
      } else {
        addJournalRow(rows, no, write);
      }
    }
  }
  return [toJson(forgotten), toJson([...rows.values()])];
}

function addJournalRow(
  rows: Map<string, JournalRow>,
  log: number,
  write: Exclude<JournalText, { op: "forget" }>,
): void {
  const { turnId, step, kind, id } = write.key;
  const key = JSON.stringify([log, turnId, step, kind, id]);
  const started = { log, turn: toStoredText(turnId), step, kind, id: toStoredText(id), finished: false, value: null };
  const row: JournalRow = rows.get(key) ?? started;
  if (write.op === "finish") {
    row.finished = true;
    row.value = write.value ?? null;
  }
  rows.set(key, row);
}
