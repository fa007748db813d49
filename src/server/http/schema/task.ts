/** Schemas of the task routes. */
import { z } from "zod";
import {
  Budget,
  MergeHow,
  MergeOutcome,
  PermissionPolicy,
  SessionEvent,
  TASK_STATUSES,
  TaskEvent,
  TaskId,
  TaskLabel,
  type TaskView,
} from "../../../domain/index.ts";
import { Folder, Name, UsageSchema, boundedText } from "./common.ts";

export const TaskSchema: z.ZodType<TaskView> = z.object({
  id: z.string(),
  title: z.string(),
  prompt: z.string(),
  status: z.enum(TASK_STATUSES),
  repository: z.string(),
  host: z.string().optional().describe("The host that runs the task or ran it last, if several hosts share the store."),
  labels: z.array(z.string()).optional().describe("Labels that a worker must have to run the task."),
  agent: z.string(),
  priority: z.int(),
  needs: z.array(z.string()),
  uncommitted: z
    .int()
    .optional()
    .describe("Number of uncommitted files of the checkout, which are not in the worktree. Only after a start."),
  createdAt: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  ranMs: z.number().describe("Total running time so far, in milliseconds."),
  runs: z.int(),
  stage: z.string().optional(),
  stages: z.array(z.string()),
  sessions: z.array(z.object({ id: z.string(), stage: z.string() })).describe("Newest last."),
  worktree: z
    .object({
      path: z.string(),
      branch: z.string(),
      base: z.string(),
      baseCommit: z.string(),
      port: z.int().optional(),
      removed: z.boolean(),
    })
    .optional(),
  waitingFor: z
    .array(z.object({ sessionId: z.string(), requestId: z.string() }))
    .describe("Pending requests. Answer them with `answerRequest` of the session."),
  notBefore: z.string().optional(),
  code: z.string().optional().describe("The reason for the status, such as an error code."),
  message: z.string().optional(),
  usage: UsageSchema as unknown as z.ZodType<TaskView["usage"]>,
  lastLine: z.string().optional(),
  merge: z
    .object({
      how: MergeHow,
      into: z.string(),
      outcome: MergeOutcome.optional(),
      commit: z.string().optional(),
      conflicts: z.array(z.string()).optional(),
      message: z.string().optional(),
    })
    .optional(),
  removed: z.boolean(),
});

export const TaskListSchema = z.object({
  tasks: z.array(TaskSchema).describe("Newest first."),
  next: z.string().optional().describe("Pass it as `before` to get the next page."),
});

export const StartTaskBody = z.strictObject({
  prompt: z.string().min(1),
  id: TaskId.optional().describe("Default: derived from the prompt."),
  title: z.string().max(1_000).optional(),
  cwd: Folder.optional().describe("Any folder in the repository, on the server's machine."),
  agent: Name.optional(),
  model: Name.optional(),
  permissions: PermissionPolicy.optional(),
  base: Name.optional().describe("A branch, tag or commit. Default: the commit that is checked out."),
  priority: z.int().min(-1000).max(1000).optional().describe("Tasks with a higher priority run first."),
  needs: z.array(TaskId).max(1_000).optional().describe("Tasks that must be done before this one starts."),
  retries: z.int().min(0).max(100).optional(),
  budget: Budget.optional(),
  pipeline: Name.optional().describe("A pipeline of rookery.toml. Default: a single stage with the agent."),
  labels: z.array(TaskLabel).max(20).optional().describe("Labels that a worker must have to run the task."),
});

export const StopTaskBody = z.strictObject({ reason: z.string().max(1_000).optional() });

export const ResumeTaskBody = z.strictObject({
  prompt: z.string().optional().describe("Additional instructions for the agent."),
  budget: Budget.optional(),
});

export const MergeTaskBody = z.strictObject({
  how: MergeHow.optional(),
  into: Name.optional().describe("The target branch. Default: the base of the task."),
  gate: z
    .union([z.string().min(1).max(10_000), z.literal(false)])
    .optional()
    .describe("A command that must succeed on the merge result. Default: the configured gate. `false` disables it."),
  message: boundedText(100_000).optional(),
  dryRun: z.boolean().optional().describe("Only predict the result."),
});

export const MergeReportSchema = z.object({
  outcome: MergeOutcome,
  how: MergeHow,
  into: z.string(),
  dryRun: z.boolean(),
  commit: z.string().optional(),
  conflicts: z.array(z.string()),
  commits: z.int(),
  already: z
    .boolean()
    .optional()
    .describe("True if an earlier merge merged these changes, so that nothing was done now."),
  message: z.string().optional(),
});

export const TaskDiffSchema = z.object({
  base: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      from: z.string().optional(),
      change: z.enum(["added", "modified", "deleted", "renamed", "copied", "type_changed", "unmerged", "untracked"]),
      additions: z.int().optional(),
      deletions: z.int().optional(),
      binary: z.boolean(),
    }),
  ),
  additions: z.int(),
  deletions: z.int(),
  commits: z.array(z.object({ commit: z.string(), subject: z.string(), author: z.string(), at: z.string() })),
  uncommitted: z.boolean(),
  patch: z.string().optional(),
  truncated: z.boolean(),
});

/** The same fields, from the log of a session instead of git. */
export const SessionDiffSchema = TaskDiffSchema.extend({
  base: z.string().describe("The id of the turn or session whose changes these are."),
  commits: TaskDiffSchema.shape.commits.describe("Always empty: the log does not have commits."),
  uncommitted: z.boolean().describe("Always false: the log does not have the state of the repository."),
  commands: z.int().describe("Number of commands that ran. Files that they changed are not in the diff."),
  truncated: z.boolean().describe("True if a change is not whole or was left out."),
});

export const RemovedTaskSchema = z.object({ id: z.string(), freed: z.number().describe("Number of bytes freed.") });

export const CollectBody = z.strictObject({
  dryRun: z.boolean().optional(),
  cwd: Folder.optional(),
  quota: z
    .number()
    .min(0)
    .optional()
    .describe("Maximum size of all worktrees together, in bytes. 0 removes as much as possible."),
});

export const CollectReportSchema = z.object({
  dryRun: z.boolean(),
  removed: z.array(z.object({ id: z.string(), path: z.string(), bytes: z.number() })),
  kept: z.array(z.object({ id: z.string(), path: z.string(), bytes: z.number(), why: z.string() })),
  freed: z.number(),
  left: z.number(),
});

/** A session event or a task event. `sessionId` or `taskId` tells which. */
export const LogEventSchema = z.union([SessionEvent, TaskEvent]);

export const FeedPageSchema = z.object({
  events: z.array(z.object({ position: z.int(), event: LogEventSchema })),
  head: z.int().describe("The last position of the log."),
});

export const TaskEventPageSchema = z.object({
  events: z.array(TaskEvent),
  head: z.int().describe("The `seq` of the last event: continue until you reach it."),
});
