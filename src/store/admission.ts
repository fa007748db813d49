/** Which appends a store takes: the same answer for every store, from a few facts about the log. */
import {
  RookeryError,
  findDraftProblem,
  findTaskDraftProblem,
  type Append,
  type EffectKey,
  type ErrorCode,
  type JournalWrite,
  type KeptRequest,
  type LogEvent,
  type SessionEvent,
  type TaskAppend,
} from "../domain/index.ts";

import { requestOfEvents } from "../stdx/request-key.ts";

/** The most one append may hold; more belongs in blobs. */
export const MAX_APPEND_BYTES = 64 * 1024 * 1024;

export type LogKind = "session" | "task";

/** An append turned into text when it was made, so that what the caller changes afterwards changes nothing. */
export interface Admissible {
  readonly kind: LogKind;
  /** Of the session or the task. */
  readonly logId: string;
  readonly append: Pick<Append, "id" | "expectedHead" | "fence">;
  /** All of them of the log's own kind. */
  readonly events: readonly LogEvent[];
  /** One JSON object per event, without the log's id. */
  readonly bodies: readonly string[];
  readonly journal: readonly JournalText[];
  readonly bytes: number;
  /** The request with an idempotency key that this append completes. */
  readonly request: KeptRequest | undefined;
  /** The head once this append is in. */
  readonly head: number;
}

/** A journal write with its value as JSON; undefined, which JSON lacks, stays undefined. */
export type JournalText =
  | { readonly op: "start"; readonly key: EffectKey }
  | { readonly op: "finish"; readonly key: EffectKey; readonly value: string | undefined }
  | { readonly op: "forget"; readonly turnId: string };

/** What is known of a log when an append arrives. */
export interface LogFacts {
  readonly head: number;
  /** The newest lease that was ever granted, released or not. */
  readonly generation: number | undefined;
}

/** Throws `input_invalid` if a draft is not a valid event, and `input_too_large`. */
export function prepareAppend(append: Append): Admissible {
  const { sessionId, expectedHead } = append;
  const events: SessionEvent[] = [];
  for (const draft of append.events) {
    refuseInvalid(draft, findDraftProblem(draft), `session ${sessionId}`);
    const seq = expectedHead + events.length + 1;
    // In this order: V8 of Node 20 takes fifteen times as long to add them behind the draft's.
    const event: SessionEvent = { seq, sessionId, ...draft };
    event.seq = seq; // a draft that was an event before brings another
    events.push(event);
  }
  return admissible("session", sessionId, append, events, (append.journal ?? []).map(journalText));
}

export function prepareTaskAppend(append: TaskAppend): Admissible {
  const { taskId, expectedHead } = append;
  const events = append.events.map((draft, index) => {
    refuseInvalid(draft, findTaskDraftProblem(draft), `task ${taskId}`);
    const place = { seq: expectedHead + index + 1, taskId };
    return { ...draft, ...place };
  });
  return admissible("task", taskId, append, events, []);
}

function refuseInvalid({ type }: { readonly type: string }, problem: string | undefined, log: string): void {
  if (problem === undefined) return;
  throw new RookeryError("input_invalid", `${log} does not take this ${type} event: ${problem}`);
}

/** The order is known before the commit, because an append is taken only at the head it expects. */
function admissible(
  kind: LogKind,
  logId: string,
  append: Append | TaskAppend,
  events: readonly LogEvent[],
  journal: readonly JournalText[],
): Admissible {
  const { expectedHead } = append;
  const bodies: string[] = [];
  let bytes = journal.reduce((sum, write) => sum + (write.op === "finish" ? (write.value?.length ?? 0) : 0), 0);
  for (const draft of append.events) {
    const body = bodyOf(draft, expectedHead + bodies.length + 1);
    bodies.push(body);
    bytes += body.length;
  }
  if (bytes > MAX_APPEND_BYTES) {
    const size = `${Math.ceil(bytes / 1e6)} MB in one append`;
    throw new RookeryError("input_too_large", `${size} to ${kind} ${logId}: at most 64 MB fit; split it or use blobs`);
  }
  const head = expectedHead + events.length;
  return { kind, logId, append, events, bodies, journal, bytes, request: requestOf(kind, logId, events), head };
}

function requestOf(log: LogKind, id: string, events: readonly LogEvent[]): KeptRequest | undefined {
  const found = requestOfEvents(events, id);
  const seq = found === undefined ? undefined : events[found.index]?.seq;
  return found === undefined || seq === undefined ? undefined : { ...found.request, made: { log, id, seq } };
}

/** The request with an idempotency key that deletes this session, which leaves no event that could say so. */
export function requestOfDeletion(sessionId: string): KeptRequest | undefined {
  const found = requestOfEvents([{ type: "session.deleted" }], sessionId);
  return found && { ...found.request, made: { log: "session", id: sessionId, seq: 0 } };
}

/** Throws why the append is refused. Whether its id was seen before is asked first, and elsewhere. */
export function admit(admissible: Admissible, log: LogFacts | undefined): void {
  const { kind, logId } = admissible;
  const { expectedHead, fence } = admissible.append;
  const head = log?.head ?? 0;
  if (head === 0 && !begins(admissible)) {
    const { missing, first } = BEGINNINGS[kind];
    throw new RookeryError(missing, `no ${kind} ${logId}: the first append to a ${kind} ${first} and expects head 0`);
  }
  if (fence !== undefined && fence !== log?.generation) {
    const newest = log?.generation === undefined ? "it has none" : `the newest is ${log.generation}`;
    throw new RookeryError(
      "lease_lost",
      `lease ${fence} of ${kind} ${logId} is not current, ${newest}: stop writing and open the ${kind} again`,
    );
  }
  if (expectedHead !== head) {
    throw new RookeryError(
      "append_conflict",
      `${kind} ${logId} is at ${head}, not at ${expectedHead}: another writer was faster; read on and try again`,
    );
  }
  if (head > 0 && admissible.events.some(({ type }) => type === "task.created")) {
    throw new RookeryError("append_conflict", `there is a task ${logId} already: it is not created twice`);
  }
}

const BEGINNINGS: Record<LogKind, { missing: ErrorCode; first: string }> = {
  session: { missing: "session_not_found", first: "starts with session.opened" },
  task: { missing: "task_not_found", first: "is task.created alone" },
};

function begins({ kind, append, events }: Admissible): boolean {
  if (append.expectedHead !== 0) return false;
  if (kind === "session") return events[0]?.type === "session.opened";
  return events.length === 1 && events[0]?.type === "task.created";
}

/** Where the draft names a seq of its own, the last one in the text counts, as JSON.parse has it. */
function bodyOf(draft: { readonly type: string }, seq: number): string {
  return `${jsonOf(draft, draft.type).slice(0, -1)},"seq":${seq}}`;
}

function journalText(write: JournalWrite): JournalText {
  if (write.op !== "finish") return write;
  return { ...write, value: jsonOf(write.value, `the outcome of effect ${write.key.id}`) };
}

function jsonOf<T>(value: T, what: string): T extends object ? string : string | undefined;
function jsonOf(value: unknown, what: string): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new RookeryError("input_invalid", `${what} cannot be written as JSON`, { cause });
  }
}
