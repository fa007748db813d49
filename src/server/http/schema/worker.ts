/** Schemas of the worker routes. */
import { z } from "zod";
import { WORKER_KINDS, WORKER_STATUSES, type WorkerView } from "../../../domain/index.ts";

export const WorkerSchema: z.ZodType<WorkerView> = z.object({
  id: z.string(),
  host: z.string(),
  kind: z.enum(WORKER_KINDS).describe("`serve` also answers requests."),
  status: z.enum(WORKER_STATUSES).describe("`lost`: it has not renewed its record; its host or process is gone."),
  version: z.string(),
  pid: z.int(),
  startedAt: z.string(),
  heartbeatAt: z.string().describe("When it last renewed its record."),
  labels: z.array(z.string()),
  agents: z.array(z.string()).describe("Agents that are ready there."),
  unreadyAgents: z.array(z.string()).describe("Agents that are configured there but cannot run."),
  maxRunning: z.int().describe("How many tasks it runs at once. 0 if it runs none."),
  running: z.array(z.object({ id: z.string(), agent: z.string(), title: z.string() })).describe("Tasks."),
  free: z.int().describe("How many more tasks it can take now."),
  sessions: z.int().describe("Sessions that it drives, not counting those of tasks."),
});

export const WorkerListSchema = z.object({ workers: z.array(WorkerSchema).describe("Oldest first.") });
