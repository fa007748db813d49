/**
 * Claims tasks without a lock during the choice: reads the candidates and the running tasks, chooses, and then claims
 * with one function that fails if the running tasks, the lease or the task have changed. Then it chooses again.
 */
import {
  isRookeryError,
  type Busy,
  type Candidate,
  type ClaimedTask,
  type LeaseRequest,
  type TaskClaim,
  type TaskState,
} from "../../domain/index.ts";
import { prepareTaskAppend } from "../admission.ts";
import { grantLease, toLease, type StoredLease } from "../lease.ts";
import { isObjectValue } from "../stored-shapes.ts";
import { chooseCandidate, isClaimableTask, toCandidateLimits, toStartAppend } from "../task-facts.ts";
import { planAppends } from "./append-plan.ts";
import { toAppendRows } from "./append-rows.ts";
import type { PostgresConnection } from "./connection.ts";
import { isConnectionLost } from "./errors.ts";
import { APPEND_PARAMETERS } from "./functions/append.ts";
import { IS_BLOCKED } from "./functions/claim.ts";
import { knownLeaseValues, repeatWhileStale, toStoredLease } from "./leases.ts";
import { logKey, type KnownLog } from "./log-facts.ts";
import { parseTaskState, tryParse } from "./stored-json.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

/** `startedAt`: the time of the event, by the clock of this machine. The times of the claim are those of the database. */
export interface DatabaseClaim extends TaskClaim {
  readonly startedAt: number;
}

/** Undefined if there is no candidate or the claim chooses none. */
export async function claimTaskIn(
  connection: PostgresConnection,
  claim: DatabaseClaim,
): Promise<ClaimedTask | undefined> {
  const skip = new Set(claim.skip);
  return repeatWhileStale(connection.where, async () => {
    const { task, busy } = await chooseTask(connection, claim, skip);
    if (task === undefined) return { done: undefined };
    if (!isClaimableTask(task.state)) return undefined; // claimed meanwhile
    const claimed = await tryClaim(connection, { claim, busy, ...task });
    return claimed && { done: claimed };
  });
}

interface TaskInClaim {
  readonly no: number;
  readonly state: TaskState;
  readonly lease: StoredLease | undefined;
}

/** Chooses until the claim accepts the task. Adds the others to `skip`, and those whose state or limits are damaged. */
async function chooseTask(
  connection: PostgresConnection,
  claim: TaskClaim,
  skip: Set<string>,
): Promise<{ readonly task: TaskInClaim | undefined; readonly busy: readonly Busy[] }> {
  for (;;) {
    const { candidates, damaged, busy } = await selectCandidates(connection, claim, skip);
    if (damaged.length > 0) {
      for (const id of damaged) skip.add(id); // the next of its lane is read instead
      continue;
    }
    const id = chooseCandidate(claim, candidates, candidates.length === 0 ? [] : busy);
    const task = id === undefined ? undefined : await selectReadableTask(connection, id, claim);
    if (id === undefined || (task !== undefined && (claim.accepts?.(task.state) ?? true))) return { task, busy };
    skip.add(id);
  }
}

/** Undefined if the choice is stale. */
async function tryClaim(
  connection: PostgresConnection,
  choice: TaskInClaim & { readonly claim: DatabaseClaim; readonly busy: readonly Busy[] },
): Promise<ClaimedTask | undefined> {
  const { claim, busy, no, state, lease: current } = choice;
  const { owner, now, until } = claim;
  const lease = tryGrantLease(current, { sessionId: state.id, owner, now, until });
  if (lease === undefined) return undefined;
  const prepared = prepareTaskAppend(toStartAppend(state, { ...claim, now: claim.startedAt }, lease.generation));
  const known: KnownLog = {
    kind: "task",
    id: state.id,
    no: -no,
    head: state.head,
    state,
    task: null,
    fresh: { generation: lease.generation, knownHeads: new Map() },
  };
  const { results, grown } = planAppends([prepared], new Map([[logKey("task", state.id), known]]));
  const [result] = results;
  if (result === undefined || "refused" in result) throw result?.refused;
  const values = [
    toStoredText(state.id),
    busy.map(({ id }) => toStoredText(id)),
    ...knownLeaseValues(current),
    toStoredText(owner),
    lease.generation,
    until,
    ...toAppendRows(grown, new Map()),
  ];
  try {
    const [row] = await connection.tryQuery(CLAIM_SQL, values);
    if (row?.[0] !== true) return undefined;
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    // Nobody else grants this generation to this owner, so the lease tells whether the claim was committed. If it was not,
    // the server may still commit it: the caller must treat the lease as abandoned.
    const after = await selectClaimedTask(connection, state.id);
    const isMine = after?.lease?.generation === lease.generation && after.lease.owner === owner;
    if (!isMine) throw error;
    return { state: after.state, lease: toLease(lease) as ClaimedTask["lease"] };
  }
  const after = JSON.parse(JSON.stringify(grown[0]?.after)) as TaskState; // as it is read back
  return { state: after, lease: toLease(lease) as ClaimedTask["lease"] };
}

/** Undefined if another owner holds the lease by now. */
function tryGrantLease(current: StoredLease | undefined, request: LeaseRequest): StoredLease | undefined {
  try {
    return grantLease(current, request);
  } catch (error) {
    if (isRookeryError(error, "session_in_use")) return undefined;
    throw error;
  }
}

/** Undefined if the state is damaged, so that it does not keep others from a claim. Rejects if the claim names the task. */
async function selectReadableTask(
  connection: PostgresConnection,
  id: string,
  { only }: TaskClaim,
): Promise<TaskInClaim | undefined> {
  try {
    return await selectClaimedTask(connection, id);
  } catch (error) {
    if (only !== undefined || !isRookeryError(error, "log_corrupt")) throw error;
    return undefined;
  }
}

async function selectClaimedTask(connection: PostgresConnection, id: string): Promise<TaskInClaim | undefined> {
  const [row] = await connection.query(TASK_SQL, [toStoredText(id)]);
  if (row === undefined) return undefined;
  const [no, state, ...lease] = row;
  return {
    no: no as number,
    state: parseTaskState(state as string, id),
    lease: lease[0] === null ? undefined : toStoredLease(id, lease),
  };
}

async function selectCandidates(
  connection: PostgresConnection,
  { only, now, owner }: TaskClaim,
  skip: ReadonlySet<string>,
): Promise<{ candidates: Candidate[]; damaged: string[]; busy: Busy[] }> {
  const values = [
    now,
    toStoredText(owner),
    Array.from(skip, toStoredText),
    ...(only === undefined ? [] : [toStoredText(only)]),
  ];
  const [rows, busy] = await Promise.all([
    connection.query(only === undefined ? FIRST_OF_EACH_LANE_SQL : ONE_SQL, values),
    connection.query(BUSY_SQL),
  ]);
  const candidates: Candidate[] = [];
  const damaged: string[] = [];
  for (const row of rows) {
    const task = toBusy(row);
    const limits = tryParse(row[6] as string, isObjectValue) as Candidate["limits"] | undefined;
    if (limits === undefined) damaged.push(task.id);
    else {
      const [priority, order] = [row[4] as number, row[5] as number];
      candidates.push({ ...task, priority, order, ...toCandidateLimits(limits) });
    }
  }
  return { candidates, damaged, busy: busy.map(toBusy) };
}

function toBusy(row: readonly unknown[]): Busy {
  const [id = "", repository = "", agent = "", provider = ""] = (row.slice(0, 4) as string[]).map(fromStoredText);
  return { id, repository, agent, provider };
}

const TASK_SQL = `
  select t.no, t.state, l.owner, l.generation, l.until, l.released
  from @task t left join @lease l on l.session_id = t.id where t.id = $1`;
const BUSY_SQL = `
  select id, repository, agent, provider from @task
  where not removed and phase in ('preparing', 'running') order by no`;
/** The task can start now, the tasks that it needs are done, and no other owner holds its lease. */
const IS_FREE = `
  t.waiting and t.not_before <= $1::double precision and not t.id = any($3::text[]) and not ${IS_BLOCKED} and not exists (
    select 1 from @lease l
    where l.session_id = t.id and not l.released and l.owner <> $2 and l.until > $1::double precision
  )`;
const CANDIDATE = "t.id, t.repository, t.agent, t.provider, t.priority, t.no, t.limits";
const ONE_SQL = `select ${CANDIDATE} from @task t where t.id = $4 and ${IS_FREE}`;
/** Jumps from lane to lane with the index, so the cost does not depend on the length of the lanes. */
const FIRST_OF_EACH_LANE_SQL = `
  with recursive lanes as (
    select min(lane) as lane from @task where waiting
    union all
    select (select min(t.lane) from @task t where t.waiting and t.lane > lanes.lane)
    from lanes where lanes.lane is not null
  )
  select first.* from lanes, lateral (
    select ${CANDIDATE} from @task t where t.lane = lanes.lane and ${IS_FREE} order by t.priority desc, t.no limit 1
  ) first`;
const CLAIM_SQL = `
  select @claim_task(
    $1, $2::text[], $3::bigint, $4::double precision, $5::boolean, $6, $7::bigint, $8::double precision,
    ${APPEND_PARAMETERS.map(([, type], index) => `$${index + 9}::${type}`).join(", ")}
  )`;
