/** Copies the readable content of a damaged database into a new store with ordinary appends, and verifies the copy. */
import { createHash } from "node:crypto";
import {
  isRookeryError,
  isStoreErrorCode,
  messageOf,
  newId,
  RookeryError,
  type EventDraft,
  type SessionSummary,
  type Store,
  type TaskEventDraft,
  type TaskState,
} from "../../domain/index.ts";
import type { LogKind } from "../admission.ts";
import { decodeText, textColumn } from "./columns.ts";
import { findBlobs, LostPositions } from "./damage.ts";
import type { Database } from "./database.ts";
import { attemptRead, findLogs, readEvents, readLogRow, type FoundEvent, type FoundLog } from "./damaged-reads.ts";
import { readJournal } from "./tables.ts";

export interface SalvageResult {
  readonly logs: readonly SavedLog[];
  /** The hashes of the saved blobs. */
  readonly blobs: readonly string[];
  /** A description of each lost item. */
  readonly lost: readonly string[];
}

export interface SavedLog {
  readonly kind: LogKind;
  readonly id: string;
  readonly head: number;
  /** A SHA-256 digest of the events, in order. */
  readonly digest: string;
}

type Draft = EventDraft | TaskEventDraft;

/**
 * Copies events with their sequence numbers, the journals of unfinished turns, and blobs. Does not copy leases, because
 * no process uses the file. Rejects with a `store_*` error if the new store cannot be written.
 */
export async function salvage(db: Database, store: Store): Promise<SalvageResult> {
  const lost: string[] = [];
  const logs: SavedLog[] = [];
  const taken = new Set<string>();
  for (const kind of ["task", "session"] as const) {
    // tasks come first, because a session looks up its task when it is written
    for (const [no, indexedId] of findLogs(db, kind)) {
      const log = readLogRow(db, kind, no, indexedId);
      const id = log.id === undefined || taken.has(log.id) ? replacementId(log) : log.id;
      taken.add(id);
      const saved = await salvageLog(db, store, log, id, lost);
      if (saved !== undefined) logs.push(saved);
      if (saved !== undefined && id !== log.id) lost.push(`the id of ${kind} number ${no}: its new id is ${id}`);
    }
  }
  return { logs, blobs: await salvageBlobs(db, store, lost), lost };
}

/** Rejects with `store_corrupt` if the new store does not return exactly the saved content. */
export async function verifySalvaged(store: Store, { logs, blobs }: SalvageResult): Promise<void> {
  for (const { kind, id, head, digest } of logs) {
    const record = kind === "session" ? await store.summary(id) : await store.task(id);
    const hash = createHash("sha256");
    let last = 0;
    while (last < head) {
      const query = { after: last, limit: 1_000 };
      const { events } = await (kind === "session"
        ? store.read({ sessionId: id, ...query })
        : store.readTask({ taskId: id, ...query }));
      if (events.length === 0) break;
      for (const event of events) {
        const {
          seq,
          sessionId: _,
          taskId: __,
          ...draft
        } = event as { seq: number; sessionId?: string; taskId?: string };
        hash.update(JSON.stringify(draft));
        last = seq;
      }
    }
    if (record?.head !== head || last !== head || hash.digest("hex") !== digest)
      throw toVerificationError(`${kind} ${id}`);
  }
  for (const hash of blobs) if ((await store.getBlob(hash)) === undefined) throw toVerificationError(`blob ${hash}`);
}

function toVerificationError(what: string): RookeryError {
  const message = `${what} differs in the new file from what was written: check the disk, then try again`;
  return new RookeryError("store_corrupt", `${message}; the original file is unchanged`);
}

function replacementId({ kind, no }: FoundLog): string {
  return kind === "session" ? newId("ses") : `recovered-${no}-${Date.now().toString(36)}`;
}

async function salvageLog(
  db: Database,
  store: Store,
  log: FoundLog,
  id: string,
  lost: string[],
): Promise<SavedLog | undefined> {
  const { kind } = log;
  const positions = new LostPositions();
  const hash = createHash("sha256");
  let head = 0;
  let previous: Draft | undefined;
  const write = async (drafts: readonly Draft[]) => {
    await appendDrafts(store, kind, id, head, drafts);
    for (const draft of drafts) hash.update(JSON.stringify(draft));
    head += drafts.length;
  };
  try {
    for (const page of readEvents(db, log)) {
      const drafts: Draft[] = [];
      for (const event of page) {
        const draft =
          event.seq === 1
            ? restoreFirstDraft(log, event)
            : (event.draft ?? toLostEventNotice(kind, event.seq, previous));
        if (draft !== event.draft) positions.add(event.seq);
        if (draft === undefined) break;
        drafts.push(draft);
        previous = draft;
      }
      if (drafts.length === 0) break;
      if (head === 0 && kind === "task") await write(drafts.splice(0, 1)); // the first append of a task holds task.created alone
      if (drafts.length > 0) await write(drafts);
    }
  } catch (error) {
    if (isRookeryError(error) && isStoreErrorCode(error.code)) throw error;
    lost.push(`${kind} ${id}, event ${head + 1} and later: ${messageOf(error)}`);
  }
  if (head === 0) {
    lost.push(`${kind} ${id}: its first event and its ${kind === "session" ? "summary" : "state"} are damaged`);
    return undefined;
  }
  if (positions.count > 0) lost.push(`${String(positions)} of ${kind} ${id}`);
  if (kind === "session") await salvageJournal(db, store, log, id, head, lost);
  return { kind, id, head, digest: hash.digest("hex") };
}

async function appendDrafts(store: Store, kind: LogKind, id: string, head: number, drafts: readonly Draft[]) {
  const append = { id: `repair-${head}`, expectedHead: head };
  if (kind === "session") await store.append({ ...append, sessionId: id, events: drafts as EventDraft[] });
  else await store.appendTask({ ...append, taskId: id, events: drafts as TaskEventDraft[] });
}

/** Rebuilds a lost first event from the row. Undefined if the row is damaged too. */
function restoreFirstDraft({ kind, record }: FoundLog, { draft }: FoundEvent): Draft | undefined {
  if (draft?.type === (kind === "session" ? "session.opened" : "task.created")) return draft;
  if (record === undefined) return undefined;
  if (kind === "task") {
    const { createdAt, spec } = record as TaskState;
    return { type: "task.created", at: createdAt, spec };
  }
  const { createdAt, agent, backend, cwd, model, title, parent, depth, task } = record as SessionSummary;
  const known = { model, title, parent, depth, task };
  const optional = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  return { type: "session.opened", at: createdAt, agent, backend, cwd, permissions: "ask", ...optional };
}

function toLostEventNotice(kind: LogKind, seq: number, previous: Draft | undefined): Draft {
  const message = `event ${seq} was damaged in the database and could not be recovered`;
  const notice = { type: "notice" as const, level: "error" as const, code: "event_lost", message };
  const at = previous?.at ?? new Date().toISOString();
  if (kind === "task") return { at, ...notice };
  return { at, agent: (previous as EventDraft | undefined)?.agent ?? "", ...notice };
}

/** Without its journal, an unfinished turn could run its effects again. */
async function salvageJournal(db: Database, store: Store, log: FoundLog, id: string, head: number, lost: string[]) {
  const sql = `select distinct ${textColumn("turn")} from journal where session = ?`;
  const turns = attemptRead(() => db.all(sql, log.no));
  if (turns === undefined) lost.push(`the journal of session ${id}`);
  for (const [cell] of turns?.value ?? []) {
    const turn = decodeText(cell);
    const entries = turn === undefined ? undefined : attemptRead(() => readJournal(db, log.id ?? "", turn))?.value;
    if (entries === undefined || entries.length === 0) {
      lost.push(`the journal of turn ${turn ?? "unknown"} of session ${id}: its effects may run again`);
      continue;
    }
    const journal = entries.map(({ key, finished, value }) => {
      const kept = { ...key, sessionId: id };
      return finished ? { op: "finish" as const, key: kept, value } : { op: "start" as const, key: kept };
    });
    await store.append({ sessionId: id, id: `repair-journal-${turn}`, expectedHead: head, events: [], journal });
  }
}

async function salvageBlobs(db: Database, store: Store, lost: string[]): Promise<string[]> {
  const hashes: string[] = [];
  for (const { hash, bytes, isWhole } of findBlobs(db)) {
    if (!isWhole) lost.push(`blob ${hash ?? "without a hash"}`);
    if (bytes !== undefined) hashes.push((await store.putBlob(bytes)).hash); // restores a damaged hash
  }
  return hashes;
}
