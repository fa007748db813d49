/** Taking a task: who could be taken, and taking one. Runs inside a transaction. */
import {
  isRookeryError,
  type Busy,
  type Candidate,
  type ClaimedTask,
  type TaskClaim,
  type TaskState,
} from "../../domain/index.ts";
import { prepareTaskAppend } from "../admission.ts";
import { grantLease, leaseOf } from "../lease.ts";
import { chosen, startOf } from "../task-facts.ts";
import { writeAppends } from "./appends.ts";
import { decodeJson, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Cell, Database, Row } from "./database.ts";
import { isFields } from "./records.ts";
import { keepLease, readLease } from "./tables.ts";
import { readTask } from "./tasks.ts";

export function claim(db: Database, request: TaskClaim): ClaimedTask | undefined {
  const { owner, now, until } = request;
  const before = choose(db, request);
  if (before === undefined) return undefined;
  const lease = grantLease(readLease(db, before.id), { sessionId: before.id, owner, now, until });
  keepLease(db, lease);
  const [verdict] = writeAppends(db, [prepareTaskAppend(startOf(before, request, lease.generation))]);
  if (verdict === undefined || "refused" in verdict) throw verdict?.refused;
  return { state: readTask(db, before.id) as ClaimedTask["state"], lease: leaseOf(lease) as ClaimedTask["lease"] };
}

/** A task whose state or lease is damaged is passed over, so that others are not held up by it. */
function choose(db: Database, request: TaskClaim): TaskState | undefined {
  const { only } = request;
  const damaged = new Set<string>();
  for (;;) {
    const candidates = only === undefined ? firstOfEachLane(db, request, damaged) : oneCandidate(db, only, request);
    const id = chosen(request, candidates, candidates.length === 0 ? [] : busyTasks(db));
    if (id === undefined) return undefined;
    try {
      readLease(db, id);
      return readTask(db, id);
    } catch (error) {
      if (only !== undefined || !isRookeryError(error, "log_corrupt")) throw error;
      damaged.add(id);
    }
  }
}

const NEXT_LANE = `
  select ${textColumn("min(lane)")} from task indexed by task_waiting
  where waiting = 1 and blocked = 0 and lane > cast(? as text)`;

const CANDIDATE = `
  select ${textColumn("id")}, ${textColumn("lane")}, ${numberColumn("priority")}, no, ${textColumn("limits")} from task`;
/** Its time has come, and nobody else holds it. */
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

/** From lane to lane by the index: how many wait in one costs nothing. */
function firstOfEachLane(db: Database, request: TaskClaim, damaged: ReadonlySet<string>): Candidate[] {
  const candidates: Candidate[] = [];
  for (let lane: Uint8Array = new Uint8Array(0); ;) {
    const next = db.get(NEXT_LANE, lane)?.[0];
    if (!(next instanceof Uint8Array) || isSameLane(next, lane)) return candidates;
    lane = next;
    candidates.push(...firstOfLane(db, lane, request, damaged));
  }
}

/** A lane that is no text in the file is found again and again. */
function isSameLane(next: Uint8Array, lane: Uint8Array): boolean {
  return Buffer.compare(next, lane) === 0;
}

function firstOfLane(
  db: Database,
  lane: Uint8Array,
  { now, owner }: TaskClaim,
  damaged: ReadonlySet<string>,
): Candidate[] {
  for (let offset = 0; ; offset += 1) {
    const row = db.get(FIRST, lane, now, owner, offset);
    if (row === undefined) return [];
    const candidate = candidateOf(row);
    if (candidate !== undefined && !damaged.has(candidate.id)) return [candidate];
  }
}

function oneCandidate(db: Database, id: string, { now, owner }: TaskClaim): Candidate[] {
  return db.all(ONE, id, now, owner).flatMap((row) => candidateOf(row) ?? []);
}

function busyTasks(db: Database): Busy[] {
  return db.all(BUSY).flatMap(([id, lane]) => busyOf(id, lane) ?? []);
}

/** Undefined if the row is damaged. */
function candidateOf([id, lane, priorityCell, no, limitsCell]: Row): Candidate | undefined {
  const busy = busyOf(id, lane);
  const [priority, order] = [decodeNumber(priorityCell), decodeNumber(no)];
  const limits = decodeJson(limitsCell, isFields) as Candidate["limits"] | undefined;
  if (busy === undefined || priority === undefined || order === undefined || limits === undefined) return undefined;
  return { ...busy, priority, order, limits };
}

function busyOf(idCell: Cell | undefined, laneCell: Cell | undefined): Busy | undefined {
  const id = decodeText(idCell);
  const lane = decodeJson(laneCell, isLane);
  return id === undefined || lane === undefined
    ? undefined
    : { id, repository: lane[0], agent: lane[1], provider: lane[2] };
}

function isLane(value: unknown): value is readonly [repository: string, agent: string, provider: string] {
  return Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === "string");
}
