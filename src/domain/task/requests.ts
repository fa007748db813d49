/** Validates the requests of callers for tasks, including those from plain JavaScript. */
import { z } from "zod";
import { Budget } from "../budget-schema.ts";
import { TASK_STATUSES } from "../enums.ts";
import { PermissionPolicy } from "../events.ts";
import { MergeHow, TaskLabel } from "./spec.ts";
import type { CollectTasks, ListTasks, MergeTask, ResumeTask, StartTask } from "./view.ts";

/** The maximum length of a path, ID or title. */
const MAX_NAME_LENGTH = 10_000;
/** In characters. More than any model reads. */
const MAX_PROMPT_LENGTH = 4 * 1024 * 1024;

const text = () => z.string().max(MAX_NAME_LENGTH).optional();
const prompt = () => z.string().max(MAX_PROMPT_LENGTH);

export const StartTaskRequest: z.ZodType<StartTask> = z.lazy(() =>
  z.strictObject({
    prompt: z.string(),
    id: text(),
    title: text(),
    cwd: text(),
    agent: text(),
    model: text(),
    permissions: PermissionPolicy.optional(),
    base: text(),
    priority: z.number().optional(),
    needs: z.array(z.string()).readonly().optional(),
    retries: z.number().optional(),
    budget: Budget.optional(),
    pipeline: text(),
    labels: z.array(TaskLabel).max(20).readonly().optional(),
  }),
);

export const StopTaskRequest: z.ZodType<{ readonly reason?: string | undefined }> = z.lazy(() =>
  z.strictObject({ reason: prompt().optional() }),
);

export const ResumeTaskRequest: z.ZodType<ResumeTask> = z.lazy(() =>
  z.strictObject({ prompt: prompt().optional(), budget: Budget.optional() }),
);

/** The HTTP body also has `dryRun`, which selects the method. */
export const MergeTaskRequest: z.ZodType<MergeTask> = z.lazy(() =>
  z.looseObject({
    how: MergeHow.optional(),
    into: text(),
    gate: z.union([z.string(), z.literal(false)]).optional(),
    message: prompt().optional(),
  }),
);

export const ListTasksRequest: z.ZodType<ListTasks> = z.lazy(() =>
  z.strictObject({
    status: z.array(z.enum(TASK_STATUSES)).readonly().optional(),
    cwd: text(),
    agent: text(),
    idPrefix: text(),
    before: text(),
    limit: z.int().optional(),
  }),
);

export const DiffTaskRequest: z.ZodType<{ readonly patch?: boolean | undefined }> = z.lazy(() =>
  z.strictObject({ patch: z.boolean().optional() }),
);

export const RemoveTaskRequest: z.ZodType<{ readonly force?: boolean | undefined }> = z.lazy(() =>
  z.strictObject({ force: z.boolean().optional() }),
);

/** The ID of an existing task. An ID that no task can have is reported as not found. */
export const TaskName = z.lazy(() => z.string());

export const CollectTasksRequest: z.ZodType<CollectTasks> = z.lazy(() =>
  z.strictObject({ dryRun: z.boolean().optional(), cwd: text(), quota: z.number().nonnegative().optional() }),
);
