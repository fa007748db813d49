/** Validates appends. The rules are the same for every store and need only a few facts about the log. */
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

/** Limit for one append. Larger data belongs in blobs. */
export const MAX_APPEND_BYTES = 64 * 1024 * 1024;

export type LogKind = "session" | "task";

/** A validated and serialized append. Later changes to the caller's objects do not affect it. */
export interface PreparedAppend {
  readonly kind: LogKind;
  /** The id of the session or task. */
  readonly logId: string;
  readonly append: Pick<Append, "id" | "expectedHead" | "fence">;
  /** Session events or task events, according to `kind`. */
  readonly events: readonly LogEvent[];
  /** One JSON object per event, without the id of the log. */
  readonly bodies: readonly string[];
  readonly journal: readonly JournalText[];
  readonly bytes: number;
  /** The idempotent request that this append completes, if any. */
  readonly request: KeptRequest | undefined;
  /** The head of the log after this append. */
  readonly head: number;
}

/** A journal write with its value as JSON. An undefined value stays undefined, because JSON has no such value. */
export type JournalText =
  | { readonly op: "start"; readonly key: EffectKey }
  | { readonly op: "finish"; readonly key: EffectKey; readonly value: string | undefined }
  | { readonly op: "forget"; readonly turnId: string };

/** The state of a log that decides whether an append is accepted. */
export interface LogFacts {
  readonly head: number;
  /** The generation of the newest lease ever granted, even if it was released. */
  readonly generation: number | undefined;
}

/** Throws `input_invalid` if a draft is not a valid event, or `input_too_large` above 64 MB. */
export function prepareAppend(append: Append): PreparedAppend {
  const { sessionId, expectedHead } = append;
  const events: SessionEvent[] = [];
  for (const draft of append.events) {
    rejectInvalidDraft(draft, findDraftProblem(draft), `session ${sessionId}`);
    const seq = expectedHead + events.length + 1;
    // seq and sessionId come first: in Node 20, adding them after the spread is 15 times slower.
    const event: SessionEvent = { seq, sessionId, ...draft };
    event.seq = seq; // overrides the seq of a draft that is a copy of an event
    events.push(event);
  }
  return toPreparedAppend("session", sessionId, append, events, (append.journal ?? []).map(encodeJournalWrite));
}

export function prepareTaskAppend(append: TaskAppend): PreparedAppend {
  const { taskId, expectedHead } = append;
  const events = append.events.map((draft, index) => {
    rejectInvalidDraft(draft, findTaskDraftProblem(draft), `task ${taskId}`);
    const position = { seq: expectedHead + index + 1, taskId };
    return { ...draft, ...position };
  });
  return toPreparedAppend("task", taskId, append, events, []);
}

function rejectInvalidDraft({ type }: { readonly type: string }, problem: string | undefined, log: string): void {
  if (problem === undefined) return;
  throw new RookeryError("input_invalid", `invalid ${type} event for ${log}: ${problem}`);
}

/** Sequence numbers are known before the commit, because an append is only accepted at its expected head. */
function toPreparedAppend(
  kind: LogKind,
  logId: string,
  append: Append | TaskAppend,
  events: readonly LogEvent[],
  journal: readonly JournalText[],
): PreparedAppend {
  const { expectedHead } = append;
  const bodies: string[] = [];
  let bytes = journal.reduce((sum, write) => sum + (write.op === "finish" ? (write.value?.length ?? 0) : 0), 0);
  for (const draft of append.events) {
    const body = encodeEventBody(draft, expectedHead + bodies.length + 1);
    bodies.push(body);
    bytes += body.length;
  }
  if (bytes > MAX_APPEND_BYTES) {
    const size = `${Math.ceil(bytes / 1e6)} MB`;
    throw new RookeryError(
      "input_too_large",
      `an append to ${kind} ${logId} has ${size} and the limit is 64 MB: split it or use blobs`,
    );
  }
  const head = expectedHead + events.length;
  return { kind, logId, append, events, bodies, journal, bytes, request: findKeptRequest(kind, logId, events), head };
}

function findKeptRequest(log: LogKind, id: string, events: readonly LogEvent[]): KeptRequest | undefined {
  const found = requestOfEvents(events, id);
  const seq = found === undefined ? undefined : events[found.index]?.seq;
  return found === undefined || seq === undefined ? undefined : { ...found.request, made: { log, id, seq } };
}

/** The idempotent request that deletes this session. A deletion leaves no event, so the key is stored separately. */
export function toDeletionRequest(sessionId: string): KeptRequest | undefined {
  const found = requestOfEvents([{ type: "session.deleted" }], sessionId);
  return found && { ...found.request, made: { log: "session", id: sessionId, seq: 0 } };
}

/**
 * Throws `session_not_found`, `task_not_found`, `lease_lost` or `append_conflict` if the log does not accept the append.
 * The caller must check first whether the append id was already used.
 */
export function checkAppend(prepared: PreparedAppend, log: LogFacts | undefined): void {
  const { kind, logId } = prepared;
  const { expectedHead, fence } = prepared.append;
  const head = log?.head ?? 0;
  if (head === 0 && !startsLog(prepared)) {
    const { missing, first } = FIRST_APPEND_RULES[kind];
    throw new RookeryError(
      missing,
      `no ${kind} ${logId}: the first append to a ${kind} must ${first} and expect head 0`,
    );
  }
  if (fence !== undefined && fence !== log?.generation) {
    const newest = log?.generation === undefined ? "it has no lease" : `the current lease is ${log.generation}`;
    throw new RookeryError(
      "lease_lost",
      `lease ${fence} of ${kind} ${logId} is no longer valid (${newest}): stop writing and open the ${kind} again`,
    );
  }
  if (expectedHead !== head) {
    throw new RookeryError(
      "append_conflict",
      `${kind} ${logId} is at ${head}, not at ${expectedHead}: another writer appended first; read the new events and try again`,
    );
  }
  if (head > 0 && prepared.events.some(({ type }) => type === "task.created")) {
    throw new RookeryError("append_conflict", `task ${logId} already exists: use another id`);
  }
}

const FIRST_APPEND_RULES: Record<LogKind, { missing: ErrorCode; first: string }> = {
  session: { missing: "session_not_found", first: "start with session.opened" },
  task: { missing: "task_not_found", first: "hold task.created alone" },
};

function startsLog({ kind, append, events }: PreparedAppend): boolean {
  if (append.expectedHead !== 0) return false;
  if (kind === "session") return events[0]?.type === "session.opened";
  return events.length === 1 && events[0]?.type === "task.created";
}

/** If the draft has its own seq, the appended one wins, because JSON.parse uses the last of duplicate keys. */
function encodeEventBody(draft: { readonly type: string }, seq: number): string {
  return `${encodeJson(draft, draft.type).slice(0, -1)},"seq":${seq}}`;
}

function encodeJournalWrite(write: JournalWrite): JournalText {
  if (write.op !== "finish") return write;
  return { ...write, value: encodeJson(write.value, `the outcome of effect ${write.key.id}`) };
}

function encodeJson<T>(value: T, what: string): T extends object ? string : string | undefined;
function encodeJson(value: unknown, what: string): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new RookeryError("input_invalid", `${what} cannot be serialized as JSON: remove cycles and BigInt values`, {
      cause,
    });
  }
}
