/** Workers as every interface shows them. */
import type { TaskState } from "./task/state.ts";
import type { StoredWorker, WorkerKind } from "./worker.ts";

/**
 * `draining`: takes no new work. `stopping`: hands over what runs. `stopped`: shut down a moment ago. `lost`: has not
 * renewed its record; its host or process is gone, or cut off.
 */
export const WORKER_STATUSES = ["ready", "draining", "stopping", "stopped", "lost"] as const;
export type WorkerStatus = (typeof WORKER_STATUSES)[number];

export interface WorkerView {
  readonly id: string;
  readonly host: string;
  readonly kind: WorkerKind;
  readonly status: WorkerStatus;
  readonly version: string;
  readonly pid: number;
  readonly startedAt: string;
  /** When it last renewed its record. */
  readonly heartbeatAt: string;
  readonly labels: readonly string[];
  /** Agents that are ready there. */
  readonly agents: readonly string[];
  /** Agents that are configured there but cannot run. */
  readonly unreadyAgents: readonly string[];
  /** How many tasks it runs at once. 0 if it runs none. */
  readonly maxRunning: number;
  readonly running: readonly { readonly id: string; readonly agent: string; readonly title: string }[];
  /** How many more tasks it can take now. */
  readonly free: number;
  /** Sessions that it drives, not counting those of tasks. */
  readonly sessions: number;
}

/** `busy`: the tasks that are being prepared or running. Stopped workers are left out after `until`. */
export function buildWorkerViews(
  workers: readonly StoredWorker[],
  busy: readonly TaskState[],
  now: number,
): WorkerView[] {
  const byOwner = new Map<string, TaskState[]>();
  for (const task of busy) {
    const owner = task.owner?.split("/")[0];
    if (owner === undefined) continue;
    const tasks = byOwner.get(owner);
    if (tasks === undefined) byOwner.set(owner, [task]);
    else tasks.push(task);
  }
  return workers
    .filter(({ state, until }) => state !== "stopped" || until > now)
    .map((worker) => {
      const { id, host, kind, version, pid, startedAt, labels, agents, unreadyAgents, maxRunning, sessions } = worker;
      const status = workerStatus(worker, now);
      const running = (byOwner.get(worker.owner) ?? []).map((task) => ({
        id: task.id,
        agent: task.spec.agent,
        title: task.spec.title,
      }));
      return {
        id,
        host,
        kind,
        status,
        version,
        pid,
        startedAt,
        heartbeatAt: new Date(worker.heartbeat).toISOString(),
        labels,
        agents,
        unreadyAgents,
        maxRunning,
        running,
        free: status === "ready" ? Math.max(0, maxRunning - running.length) : 0,
        sessions,
      };
    });
}

export function workerStatus({ state, until, request }: StoredWorker, now: number): WorkerStatus {
  if (state === "stopped") return "stopped";
  if (until <= now) return "lost";
  if (request === "stop") return "stopping";
  return state === "draining" || request === "drain" ? "draining" : "ready";
}
