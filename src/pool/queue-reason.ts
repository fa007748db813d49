/** Explains why a queued task that nothing else holds back has not started: a limit, and the tasks before it. */
import { MAX_PAGE, type Store, type TaskState } from "../domain/index.ts";

/** The tasks that compete for the limits. */
export interface TaskQueue {
  /** Tasks that are being prepared or running. */
  readonly busy: readonly TaskState[];
  /** How many of those wait for an answer of a person. */
  readonly waiting: number;
  /** Newest first. */
  readonly queued: readonly TaskState[];
  readonly maxRunning: number;
}

/** Longer queues are not counted to their end. */
const MAX_COUNTED = 1_000;

export async function readTaskQueue(store: Store, maxRunning: number): Promise<TaskQueue> {
  const busy = await store.tasks({ phases: ["preparing", "running"], limit: MAX_PAGE });
  const sessions = await Promise.all(
    busy.map(async ({ current }) =>
      current?.sessionId === undefined ? undefined : await store.summary(current.sessionId),
    ),
  );
  const waiting = sessions.filter((session) => session?.status === "waiting").length;
  return { busy, waiting, maxRunning, queued: await store.tasks({ phases: ["queued"], limit: MAX_COUNTED }) };
}

/** Undefined if no limit holds the task back: then the next process that runs tasks starts it. */
export function formatQueueLimit(state: TaskState, queue: TaskQueue): string | undefined {
  const limit = findReachedLimit(state, queue);
  if (limit === undefined) return undefined;
  const waits =
    queue.waiting === 0 ? "" : `, ${queue.waiting} of them ${queue.waiting === 1 ? "waits" : "wait"} for an answer`;
  const before = queue.queued.filter((other) => isBefore(other, state)).length;
  const place = before === 0 ? "it is next" : `${before}${before >= MAX_COUNTED ? " or more" : ""} queued before it`;
  return `${limit.running} of at most ${limit.max} tasks${limit.of} run${waits}; ${place} (limit: ${limit.setting})`;
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
