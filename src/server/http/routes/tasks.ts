/** Task routes: start, list, show, diff, stop, resume, merge, remove and collect. */
import { z } from "zod";
import { TASK_STATUSES, type MergeReport, type Store, type TaskEvent } from "../../../domain/index.ts";
import type { Config } from "../../../config/index.ts";
import { planTask } from "../../../pool/index.ts";
import type { HandlerContext } from "../handler-context.ts";
import { taskAgents } from "../required-agents.ts";
import { MAX_PROMPT_BODY } from "../input.ts";
import { jsonResponse } from "../response.ts";
import { flagParam, route, textParam, wholeNumberParam, type HttpRoute } from "../route.ts";
import { Folder, PENDING, TaskIdParam } from "../schema/common.ts";
import {
  CollectBody,
  CollectReportSchema,
  MergeReportSchema,
  MergeTaskBody,
  RemovedTaskSchema,
  ResumeTaskBody,
  StartTaskBody,
  StopTaskBody,
  TaskDiffSchema,
  TaskListSchema,
  TaskSchema,
} from "../schema/task.ts";
import { clampListLimit } from "./sessions.ts";

const params = { id: TaskIdParam };

/** Returns the report of the merge that event `seq` of the task requested. Returns undefined if it has not ended. */
async function findMergeReport(store: Store, taskId: string, seq: number): Promise<MergeReport | undefined> {
  let requested: Extract<TaskEvent, { type: "merge.asked" }> | undefined;
  for (let after = seq - 1; ;) {
    const { events } = await store.readTask({ taskId, after });
    for (const event of events) {
      if (event.type === "merge.asked" && event.seq === seq) requested = event;
      if (event.type !== "merge.ended" || requested === undefined || event.mergeId !== requested.mergeId) continue;
      const { outcome, commit, conflicts = [], message } = event;
      const { how, into } = requested;
      return { outcome, how, into, dryRun: false, commit, conflicts, commits: 0, message };
    }
    const last = events.at(-1);
    if (last === undefined) return undefined;
    after = last.seq;
  }
}

/** With a shared store, workers run the tasks: a task waits for one that has its agent. */
function runsElsewhere({ rookery }: HandlerContext): boolean {
  return rookery.sharedHost !== undefined;
}

export const taskRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/tasks",
    id: "listTasks",
    summary: "List tasks, newest first.",
    tag: "tasks",
    query: {
      status: z
        .array(z.enum(TASK_STATUSES))
        .max(TASK_STATUSES.length)
        .meta({ description: "Only tasks with one of these statuses." }),
      cwd: Folder.meta({ description: "Only tasks of the repository that contains this folder." }),
      agent: textParam("Only tasks of this agent."),
      idPrefix: textParam("Only tasks whose id starts with this."),
      before: TaskIdParam.meta({ description: "Only tasks older than this one: `next` of the previous page." }),
      limit: wholeNumberParam("Maximum number of tasks. Default: 100, at most 1000."),
    },
    responses: { 200: { description: "A page of tasks.", schema: TaskListSchema } },
    errors: ["repository_missing", "cwd_missing"],
    async handle({ context, query }) {
      const limit = clampListLimit(query.limit);
      const tasks = await context.rookery.tasks.list({ ...query, limit });
      return jsonResponse({ tasks, next: tasks.length < limit ? undefined : tasks.at(-1)?.id });
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks",
    id: "startTask",
    summary: "Start a task. It waits in the queue and runs in its own worktree.",
    tag: "tasks",
    body: StartTaskBody,
    maxBody: MAX_PROMPT_BODY,
    responses: { 201: { description: "The queued task.", schema: TaskSchema } },
    errors: [
      "task_exists",
      "agent_unknown",
      "agent_not_ready",
      "repository_missing",
      "repository_empty",
      "repository_bare",
      "identity_missing",
      "base_not_found",
      "not_trusted",
      "config_invalid",
      "cwd_missing",
      "git_failed",
      "git_missing",
      "model_invalid",
    ],
    completion: {
      isEvent: ({ type }) => type === "task.created",
      recall: async ({ id }, { context }) => jsonResponse(await context.rookery.tasks.show(id), 201),
    },
    async handle({ context, body }) {
      const agents = (config: Config) => taskAgents(planTask(body, config.root, config));
      if (!runsElsewhere(context)) await context.requireReady({ cwd: body.cwd, worktree: true, agents });
      return jsonResponse(await context.rookery.tasks.start(body), 201);
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks/collect",
    id: "collectTasks",
    summary: "Remove worktrees that are clean, merged and unused, or list them in a dry run.",
    tag: "tasks",
    slow: true,
    body: CollectBody,
    responses: {
      200: { description: "The removed and the kept worktrees.", schema: CollectReportSchema },
      202: PENDING,
    },
    errors: ["repository_missing", "cwd_missing", "git_failed", "repository_locked"],
    async handle({ context, body }) {
      return jsonResponse(await context.rookery.tasks.collect(body));
    },
  }),
  route({
    method: "GET",
    path: "/v1/tasks/:id",
    id: "showTask",
    summary: "Show a task.",
    tag: "tasks",
    params,
    responses: { 200: { description: "The task.", schema: TaskSchema } },
    errors: ["task_not_found"],
    async handle({ context, params: { id } }) {
      return jsonResponse(await context.rookery.tasks.show(id));
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/tasks/:id",
    id: "removeTask",
    summary: "Remove a task and its worktree.",
    tag: "tasks",
    slow: true,
    params,
    query: { force: flagParam("Also remove a task with unmerged or uncommitted changes, which are lost.") },
    responses: { 200: { description: "The task is removed.", schema: RemovedTaskSchema }, 202: PENDING },
    errors: ["task_not_found", "task_state", "worktree_unmerged", "git_failed", "repository_locked"],
    async handle({ context, params: { id }, query: { force } }) {
      const removed = await context.rookery.tasks.remove(id, { force });
      context.streams.forget();
      return jsonResponse(removed);
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks/:id/stop",
    id: "stopTask",
    summary: "Stop a task. Responds when it no longer runs. Keeps its worktree.",
    tag: "tasks",
    slow: true,
    params,
    body: StopTaskBody,
    responses: { 200: { description: "The stopped task.", schema: TaskSchema }, 202: PENDING },
    errors: ["task_not_found", "task_state"],
    completion: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "task.stop_asked" && logId === id,
      // The process that runs the task ends it. A task that was resumed afterwards is not stopped again.
      recall: async ({ id, seq }, { context, body }) => {
        const { store, tasks } = context.rookery;
        for (let after = seq; ;) {
          const { events } = await store.readTask({ taskId: id, after });
          if (events.some(({ type }) => type === "task.ended")) return jsonResponse(await tasks.show(id));
          const last = events.at(-1);
          if (last === undefined) return jsonResponse(await tasks.stop(id, body));
          after = last.seq;
        }
      },
    },
    async handle({ context, params: { id }, body }) {
      return jsonResponse(await context.rookery.tasks.stop(id, body));
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks/:id/resume",
    id: "resumeTask",
    summary: "Resume a task that has ended, in the same worktree and session.",
    tag: "tasks",
    params,
    body: ResumeTaskBody,
    maxBody: MAX_PROMPT_BODY,
    responses: { 200: { description: "The queued task.", schema: TaskSchema } },
    errors: [
      "task_not_found",
      "task_state",
      "worktree_missing",
      "session_in_use",
      "agent_not_ready",
      "agent_unknown",
      "config_invalid",
      "not_trusted",
      "cwd_missing",
    ],
    completion: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "task.queued" && logId === id,
      recall: async ({ id }, { context }) => jsonResponse(await context.rookery.tasks.show(id)),
    },
    async handle({ context, params: { id }, body }) {
      const { sessions } = await context.rookery.tasks.show(id);
      const spec = (await context.rookery.store.task(id))?.spec;
      if (spec !== undefined && !runsElsewhere(context)) {
        await context.requireReady({ cwd: spec.repository, worktree: true, agents: () => taskAgents(spec) });
      }
      for (const session of sessions) await context.sessions.release(session.id);
      return jsonResponse(await context.rookery.tasks.resume(id, body));
    },
  }),
  route({
    method: "GET",
    path: "/v1/tasks/:id/diff",
    id: "diffTask",
    summary: "Show all changes against the base, committed or not.",
    tag: "tasks",
    params,
    query: { patch: flagParam("Include the patch in git format.") },
    responses: { 200: { description: "The changes.", schema: TaskDiffSchema } },
    errors: ["task_not_found", "worktree_missing", "git_failed"],
    async handle({ context, params: { id }, query: { patch } }) {
      return jsonResponse(await context.rookery.tasks.diff(id, { patch }));
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks/:id/merge",
    id: "mergeTask",
    summary: "Merge the branch of a task, or predict the result in a dry run.",
    tag: "tasks",
    slow: true,
    params,
    body: MergeTaskBody,
    responses: {
      200: { description: "The result, or the predicted result.", schema: MergeReportSchema },
      202: PENDING,
    },
    errors: [
      "task_not_found",
      "task_state",
      "worktree_missing",
      "base_not_found",
      "git_failed",
      "identity_missing",
      "not_trusted",
      "config_invalid",
      "repository_locked",
    ],
    completion: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "merge.asked" && logId === id,
      // Does not merge commits that were added after that merge. Finishes a merge that its server did not finish.
      recall: async ({ id, seq }, { context, body: { dryRun: _, ...options } }) => {
        const { store, tasks } = context.rookery;
        return jsonResponse((await findMergeReport(store, id, seq)) ?? (await tasks.merge(id, options)));
      },
    },
    async handle({ context, params: { id }, body: { dryRun = false, ...options } }) {
      const { tasks } = context.rookery;
      return jsonResponse(await (dryRun ? tasks.predictMerge(id, options) : tasks.merge(id, options)));
    },
  }),
];
