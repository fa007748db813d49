/** Claims tasks: finds candidates and grants a lease on one. Runs inside a transaction. */
import {
  isRookeryError,
  type Busy,
  type Candidate,
  type ClaimedTask,
  type TaskClaim,
  type TaskState,
} from "../../domain/index.ts";
import { prepareTaskAppend } from "../admission.ts";
import { grantLease, toLease } from "../lease.ts";
import { isObjectValue } from "../stored-shapes.ts";
import { chooseCandidate, toCandidateLimits, toStartAppend } from "../task-facts.ts";
import { writeAppends } from "./appends.ts";
import { decodeJson, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Cell, Database, Row } from "./database.ts";
import { writeLease, readLease } from "./tables.ts";
import { readTask } from "./tasks.ts";

/** Undefined if there is no candidate or the claim chooses none. */
export function claimNextTask(db: Database, request: TaskClaim): ClaimedTask | undefined {
  const { owner, now, until } = request;
  const task = chooseReadableTask(db, request);
  if (task === undefined) return undefined;
  const lease = grantLease(readLease(db, task.id), { sessionId: task.id, owner, now, until });
  writeLease(db, lease);
  const [verdict] = writeAppends(db, [prepareTaskAppend(toStartAppend(task, request, lease.generation))]);
  if (verdict === undefined || "refused" in verdict) throw verdict?.refused;
  return { state: readTask(db, task.id) as ClaimedTask["state"], lease: toLease(lease) as ClaimedTask["lease"] };
}

/** Skips tasks whose state or lease is damaged, and tasks that the claim does not accept: they do not block others. */
function chooseReadableTask(db: Database, request: TaskClaim): TaskState | undefined {
  const { only, accepts, skip = [] } = request;
  const skipped = new Set(skip);
  for (;;) {
    const candidates =
      only === undefined
        ? firstOfEachLane(db, request, skipped)
        : oneCandidate(db, only, request).filter((candidate) => !skipped.has(candidate.id));
    const id = chooseCandidate(request, candidates, candidates.length === 0 ? [] : busyTasks(db));
    if (id === undefined) return undefined;
    try {
      readLease(db, id);
      const state = readTask(db, id);
      if (state === undefined || (accepts?.(state) ?? true)) return state;
    } catch (error) {
      if (only !== undefined || !isRookeryError(error, "log_corrupt")) throw error;
    }
    skipped.add(id);
  }
}

const NEXT_LANE_SQL = `
  select ${textColumn("min(lane)")} from task indexed by task_waiting
  where waiting = 1 and blocked = 0 and lane > cast(? as text)`;

const CANDIDATE = `
  select ${textColumn("id")}, ${textColumn("lane")}, ${numberColumn("priority")}, no, ${textColumn("limits")} from task`;
/** The task can start now, and no other owner holds its lease. */
const FREE = `
  not_before <= ?2 and not exists (
    select 1 from lease where session_id = id and released = 0 and owner <> ?3 and until > ?2
  )`;
const FIRST = `
  ${CANDIDATE} indexed by task_waiting where waiting = 1 and blocked = 0 and lane = cast(?1 as text) and ${FREE}
  order by priority desc, no limit 1 offset ?4`;
const ONE = `${CANDIDATE} where waiting = 1 and blocked = 0 and id = ?1 and ${FREE}`;
const BUSY = `
  select ${textColumn("id")}, ${textColumn("lane")} from task indexed by task_phase
  where removed = 0 and phase in ('preparing', 'running')`;

/** Jumps from lane to lane with the index, so the cost does not depend on the length of the lanes. */
function firstOfEachLane(db: Database, request: TaskClaim, skipped: ReadonlySet<string>): Candidate[] {
  const candidates: Candidate[] = [];
  for (let lane: Uint8Array = new Uint8Array(0); ;) {
    const next = db.get(NEXT_LANE_SQL, lane)?.[0];
    if (!(next instanceof Uint8Array) || isSameLane(next, lane)) return candidates;
    lane = next;
    candidates.push(...firstOfLane(db, lane, request, skipped));
  }
}

/** If the lane column is damaged and not text, the query returns the same lane forever. */
function isSameLane(next: Uint8Array, lane: Uint8Array): boolean {
  return Buffer.compare(next, lane) === 0;
}

function firstOfLane(
  db: Database,
  lane: Uint8Array,
  { now, owner }: TaskClaim,
  skipped: ReadonlySet<string>,
): Candidate[] {
  for (let offset = 0; ; offset += 1) {
    const row = db.get(FIRST, lane, now, owner, offset);
    if (row === undefined) return [];
    const candidate = decodeCandidate(row);
    if (candidate !== undefined && !skipped.has(candidate.id)) return [candidate];
  }
}

function oneCandidate(db: Database, id: string, { now, owner }: TaskClaim): Candidate[] {
  return db.all(ONE, id, now, owner).flatMap((row) => decodeCandidate(row) ?? []);
}

function busyTasks(db: Database): Busy[] {
  return db.all(BUSY).flatMap(([id, lane]) => decodeBusyTask(id, lane) ?? []);
}

/** Undefined if the row is damaged. */
function decodeCandidate([id, lane, priorityCell, no, limitsCell]: Row): Candidate | undefined {
  const busy = decodeBusyTask(id, lane);
  const [priority, order] = [decodeNumber(priorityCell), decodeNumber(no)];
  const limits = decodeJson(limitsCell, isObjectValue) as Candidate["limits"] | undefined;
  if (busy === undefined || priority === undefined || order === undefined || limits === undefined) return undefined;
  return { ...busy, priority, order, ...toCandidateLimits(limits) };
}

function decodeBusyTask(idCell: Cell | undefined, laneCell: Cell | undefined): Busy | undefined {
  const id = decodeText(idCell);
  const lane = decodeJson(laneCell, isLane);
  return id === undefined || lane === undefined
    ? undefined
    : { id, repository: lane[0], agent: lane[1], provider: lane[2] };
}

type Lane = readonly [repository: string, agent: string, provider: string, placement?: string];

function isLane(value: unknown): value is Lane {
  return (
    Array.isArray(value) &&
    (value.length === 3 || value.length === 4) &&
    value.every((part) => typeof part === "string")
  );
}
