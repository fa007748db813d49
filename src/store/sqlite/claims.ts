/** Taking a task: who could be taken, and taking one. Runs inside a transaction. */
import type { Busy, Candidate, ClaimedTask, TaskClaim } from "../../domain/index.ts";
import { prepareTaskAppend } from "../admission.ts";
import { grantLease, leaseOf } from "../lease.ts";
import { chosen, startOf } from "../task-facts.ts";
import { writeAppends } from "./appends.ts";
import type { Database, Row } from "./database.ts";
import { keepLease, readLease } from "./tables.ts";
import { readTask } from "./tasks.ts";

export function claim(db: Database, request: TaskClaim): ClaimedTask | undefined {
  const { owner, now, until, only } = request;
  const candidates = only === undefined ? firstOfEachLane(db, request) : oneCandidate(db, only, request);
  const id = chosen(request, candidates, candidates.length === 0 ? [] : busyTasks(db));
  const before = id === undefined ? undefined : readTask(db, id);
  if (before === undefined) return undefined;
  const lease = grantLease(readLease(db, before.id), { sessionId: before.id, owner, now, until });
  keepLease(db, lease);
  const [verdict] = writeAppends(db, [prepareTaskAppend(startOf(before, request, lease.generation))]);
  if (verdict === undefined || "refused" in verdict) throw verdict?.refused;
  return { state: readTask(db, before.id) as ClaimedTask["state"], lease: leaseOf(lease) as ClaimedTask["lease"] };
}

const NEXT_LANE = `
  select min(lane) from task indexed by task_waiting where waiting = 1 and blocked = 0 and lane > ?`;

const CANDIDATE = `select id, lane, priority, no, limits from task`;
/** Its time has come, and nobody else holds it. */
const FREE = `
  not_before <= ?2 and not exists (
    select 1 from lease where session_id = id and released = 0 and owner <> ?3 and until > ?2
  )`;
const FIRST = `
  ${CANDIDATE} indexed by task_waiting where waiting = 1 and blocked = 0 and lane = ?1 and ${FREE}
  order by priority desc, no limit 1`;
const ONE = `${CANDIDATE} where waiting = 1 and blocked = 0 and id = ?1 and ${FREE}`;
const BUSY = "select id, lane from task indexed by task_phase where removed = 0 and phase in ('preparing', 'running')";

/** From lane to lane by the index: how many wait in one costs nothing. */
function firstOfEachLane(db: Database, { now, owner }: TaskClaim): Candidate[] {
  const candidates: Candidate[] = [];
  for (let lane = ""; ;) {
    const next = db.get(NEXT_LANE, lane)?.[0];
    if (typeof next !== "string") return candidates;
    lane = next;
    candidates.push(...db.all(FIRST, lane, now, owner).map(candidateOf));
  }
}

function oneCandidate(db: Database, id: string, { now, owner }: TaskClaim): Candidate[] {
  return db.all(ONE, id, now, owner).map(candidateOf);
}

function busyTasks(db: Database): Busy[] {
  return db.all(BUSY).map(([id, lane]) => busyOf(id as string, lane as string));
}

function candidateOf([id, lane, priority, order, limits]: Row): Candidate {
  return {
    ...busyOf(id as string, lane as string),
    priority: priority as number,
    order: order as number,
    limits: JSON.parse(limits as string) as Candidate["limits"],
  };
}

function busyOf(id: string, lane: string): Busy {
  const [repository, agent, provider] = JSON.parse(lane) as [string, string, string];
  return { id, repository, agent, provider };
}
