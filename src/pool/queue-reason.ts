/** Explains why a queued task has not started: no worker can run it, or a limit holds it back. */
import {
  findPlacementProblem,
  MAX_PAGE,
  taskPlacement,
  type Store,
  type StoredWorker,
  type TaskState,
} from "../domain/index.ts";

/** The tasks that compete for the limits. */
export interface TaskQueue {
  /** Tasks that are being prepared or running. */
  readonly busy: readonly TaskState[];
  /** How many of those wait for a person's answer. */
  readonly waiting: number;
  /** Newest first. */
  readonly queued: readonly TaskState[];
  readonly maxRunning: number;
  /** Living workers that run tasks. Undefined if one host has the store to itself and no worker is registered. */
  readonly workers?: readonly StoredWorker[] | undefined;
}

export interface QueueContext {
  readonly maxRunning: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The ID of this host, if several hosts share the store. */
  readonly host: string | undefined;
}

/** Longer queues are not counted to their end. */
const MAX_COUNTED = 1_000;
/** Full workers that a message names. */
const MAX_SHOWN = 5;

export async function readTaskQueue(store: Store, { maxRunning, now, host }: QueueContext): Promise<TaskQueue> {
  const known = await store.workers();
  const living = known.filter(({ until, state, maxRunning: places }) => until > now && state === "ready" && places > 0);
  const workers = host === undefined && known.length === 0 ? undefined : living;
  const busy = await store.tasks({ phases: ["preparing", "running"], limit: MAX_PAGE });
  const sessions = await Promise.all(
    busy.map(async ({ current }) =>
      current?.sessionId === undefined ? undefined : await store.summary(current.sessionId),
    ),
  );
  const waiting = sessions.filter((session) => session?.status === "waiting").length;
  return { busy, waiting, maxRunning, workers, queued: await store.tasks({ phases: ["queued"], limit: MAX_COUNTED }) };
}

/** Undefined if nothing holds the task back: then the next process that runs tasks starts it. */
export function formatWaitReason(state: TaskState, queue: TaskQueue): string | undefined {
  const missing = formatMissingWorker(state, queue.workers);
  if (missing !== undefined) return missing;
  const limit = findReachedLimit(state, queue);
  if (limit === undefined) return formatFullWorkers(state, queue);
  const waits =
    queue.waiting === 0 ? "" : `; ${queue.waiting} of them ${queue.waiting === 1 ? "waits" : "wait"} for an answer`;
  const before = queue.queued.filter((other) => isBefore(other, state)).length;
  const place =
    before === 0
      ? "it is next"
      : `${before}${before >= MAX_COUNTED ? " or more" : ""} ${before === 1 ? "is" : "are"} queued before it`;
  const running =
    limit.running === 1 ? `1 task${limit.of} is running` : `${limit.running} tasks${limit.of} are running`;
  return `${running} and the limit is ${limit.max} (${limit.setting})${waits}; ${place}`;
}

/** Names what no living worker has. Undefined if one can run the task, or nothing is known about workers. */
function formatMissingWorker({ spec }: TaskState, workers: readonly StoredWorker[] | undefined): string | undefined {
  if (workers === undefined) return undefined;
  if (workers.length === 0) return "no worker is running: start one with rookery worker";
  const problems = workers.map((worker) => findPlacementProblem(toPlaced(spec), worker));
  if (problems.includes(undefined)) return undefined;
  const near = problems.filter((problem) => problem?.lacks !== "host"); // workers that have the repository
  const [problem] = near.length > 0 ? near : problems;
  if (problem?.lacks === "host")
    return `waits for host ${problem.host}, which has its repository; no worker runs there`;
  return problem?.lacks === "label"
    ? `no worker has the label ${problem.label}`
    : `no worker has agent ${problem?.agent ?? ""}`;
}

function toPlaced(spec: TaskState["spec"]): Parameters<typeof findPlacementProblem>[0] {
  return { agent: spec.agent, placement: taskPlacement(spec) };
}

/** Names the workers that could run the task but have no place for it. Undefined if one has, or nothing is known. */
function formatFullWorkers({ spec }: TaskState, { workers = [], busy }: TaskQueue): string | undefined {
  const able = workers.filter((worker) => findPlacementProblem(toPlaced(spec), worker) === undefined);
  const counts = able.map(({ host, owner, maxRunning }) => {
    return { host, maxRunning, running: busy.filter((task) => task.owner?.split("/")[0] === owner).length };
  });
  if (counts.length === 0 || counts.some(({ running, maxRunning }) => running < maxRunning)) return undefined;
  const shown = counts.slice(0, MAX_SHOWN).map(({ host, running, maxRunning }) => `${host} ${running}/${maxRunning}`);
  const more = counts.length > MAX_SHOWN ? `, and ${counts.length - MAX_SHOWN} more` : "";
  return `every worker that can run it is full (worker.max_running, host.max_running): ${shown.join(", ")}${more}`;
}

interface ReachedLimit {
  readonly running: number;
  readonly max: number;
  /** Which tasks it counts. */
  readonly of: string;
  /** The configuration key. */
  readonly setting: string;
}

function findReachedLimit({ spec }: TaskState, { busy, maxRunning }: TaskQueue): ReachedLimit | undefined {
  const { repository, agent, provider, limits } = spec;
  const count = (isOfIt: (other: TaskState["spec"]) => boolean) => busy.filter((task) => isOfIt(task.spec)).length;
  const all = [
    { running: busy.length, max: maxRunning, of: "", setting: "defaults.max_running" },
    {
      running: count((other) => other.repository === repository),
      max: limits.repository,
      of: " of this repository",
      setting: "limits.per_repository",
    },
    {
      running: count((other) => other.agent === agent),
      max: limits.agent,
      of: ` of agent ${agent}`,
      setting: `agents.${agent}.max_running`,
    },
    {
      running: count((other) => other.provider === provider),
      max: limits.provider,
      of: ` of provider ${provider}`,
      setting: `limits.providers.${provider}`,
    },
  ];
  return all.find((limit): limit is ReachedLimit => limit.max !== undefined && limit.running >= limit.max);
}

/** The order in which a full pool starts tasks, without the fair share of repositories. */
function isBefore(other: TaskState, { id, spec, createdAt }: TaskState): boolean {
  if (other.id === id || other.removed) return false;
  if (other.spec.priority !== spec.priority) return other.spec.priority > spec.priority;
  return other.createdAt < createdAt;
}
