/** Tasks: given, looked at, stopped, resumed, merged and removed. */
import { z } from "zod";
import { TASK_STATUSES, type MergeReport, type Store, type TaskEvent } from "../../../domain/index.ts";
import { MAX_PROMPT_BODY } from "../input.ts";
import { flag, json, route, text, wholeNumber, type Route } from "../route.ts";
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
import { limitOf } from "./sessions.ts";

const params = { id: TaskIdParam };

/** The report of the merge that the event `seq` of the task asked for; undefined if that merge has not ended. */
async function reportOfMerge(store: Store, taskId: string, seq: number): Promise<MergeReport | undefined> {
  let asked: Extract<TaskEvent, { type: "merge.asked" }> | undefined;
  for (let after = seq - 1; ;) {
    const { events } = await store.readTask({ taskId, after });
    for (const event of events) {
      if (event.type === "merge.asked" && event.seq === seq) asked = event;
      if (event.type !== "merge.ended" || asked === undefined || event.mergeId !== asked.mergeId) continue;
      const { outcome, commit, conflicts = [], message } = event;
      const { how, into } = asked;
      return { outcome, how, into, dryRun: false, commit, conflicts, commits: 0, message };
    }
    const last = events.at(-1);
    if (last === undefined) return undefined;
    after = last.seq;
  }
}

export const taskRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/tasks",
    id: "listTasks",
    summary: "Tasks, the newest first.",
    tag: "tasks",
    query: {
      status: z.array(z.enum(TASK_STATUSES)).max(TASK_STATUSES.length).meta({ description: "Only in one of these." }),
      cwd: Folder.meta({ description: "Only of the repository that this folder is in." }),
      agent: text("Only of this agent."),
      before: TaskIdParam.meta({ description: "Only older than this one: `next` of the page before." }),
      limit: wholeNumber("At most so many; 100 if not said, 1000 at most."),
    },
    answers: { 200: { description: "A page.", schema: TaskListSchema } },
    errors: ["repository_missing", "cwd_missing"],
    async handle({ door, query }) {
      const limit = limitOf(query.limit);
      const tasks = await door.served.tasks.list({ ...query, limit });
      return json({ tasks, next: tasks.length < limit ? undefined : tasks.at(-1)?.id });
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks",
    id: "startTask",
    summary: "Give a task: it waits for its turn, and runs in a worktree of its own.",
    tag: "tasks",
    body: StartTaskBody,
    maxBody: MAX_PROMPT_BODY,
    answers: { 201: { description: "It is in the queue.", schema: TaskSchema } },
    errors: [
      "task_exists",
      "agent_unknown",
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
    made: {
      isEvent: ({ type }) => type === "task.created",
      recall: async ({ id }, { door }) => json(await door.served.tasks.show(id), 201),
    },
    async handle({ door, body }) {
      return json(await door.served.tasks.start(body), 201);
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks/collect",
    id: "collectTasks",
    summary: "Remove worktrees that are clean, merged and unused, or say which would go.",
    tag: "tasks",
    slow: true,
    body: CollectBody,
    answers: { 200: { description: "What went and what stayed.", schema: CollectReportSchema }, 202: PENDING },
    errors: ["repository_missing", "cwd_missing", "git_failed", "repository_locked"],
    async handle({ door, body }) {
      return json(await door.served.tasks.collect(body));
    },
  }),
  route({
    method: "GET",
    path: "/v1/tasks/:id",
    id: "showTask",
    summary: "One task.",
    tag: "tasks",
    params,
    answers: { 200: { description: "As it is now.", schema: TaskSchema } },
    errors: ["task_not_found"],
    async handle({ door, params: { id } }) {
      return json(await door.served.tasks.show(id));
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
    query: { force: flag("Also where something is neither merged nor committed, which is lost then.") },
    answers: { 200: { description: "It is listed no more.", schema: RemovedTaskSchema }, 202: PENDING },
    errors: ["task_not_found", "task_state", "worktree_unmerged", "git_failed", "repository_locked"],
    async handle({ door, params: { id }, query: { force } }) {
      const removed = await door.served.tasks.remove(id, { force });
      door.streams.forget();
      return json(removed);
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks/:id/stop",
    id: "stopTask",
    summary: "Stop a task; answers when nothing of it runs any more. Its worktree stays.",
    tag: "tasks",
    slow: true,
    params,
    body: StopTaskBody,
    answers: { 200: { description: "It is stopped.", schema: TaskSchema }, 202: PENDING },
    errors: ["task_not_found", "task_state"],
    made: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "task.stop_asked" && logId === id,
      // Whoever runs the task ends it; if it was resumed after that, it is not stopped again.
      recall: async ({ id, seq }, { door, body }) => {
        const { store, tasks } = door.served;
        for (let after = seq; ;) {
          const { events } = await store.readTask({ taskId: id, after });
          if (events.some(({ type }) => type === "task.ended")) return json(await tasks.show(id));
          const last = events.at(-1);
          if (last === undefined) return json(await tasks.stop(id, body));
          after = last.seq;
        }
      },
    },
    async handle({ door, params: { id }, body }) {
      return json(await door.served.tasks.stop(id, body));
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks/:id/resume",
    id: "resumeTask",
    summary: "Go on with a task that has ended, in the same worktree and session.",
    tag: "tasks",
    params,
    body: ResumeTaskBody,
    maxBody: MAX_PROMPT_BODY,
    answers: { 200: { description: "It is in the queue.", schema: TaskSchema } },
    errors: ["task_not_found", "task_state", "worktree_missing", "session_in_use"],
    made: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "task.queued" && logId === id,
      recall: async ({ id }, { door }) => json(await door.served.tasks.show(id)),
    },
    async handle({ door, params: { id }, body }) {
      const { sessions } = await door.served.tasks.show(id);
      for (const session of sessions) await door.driving.release(session.id);
      return json(await door.served.tasks.resume(id, body));
    },
  }),
  route({
    method: "GET",
    path: "/v1/tasks/:id/diff",
    id: "diffTask",
    summary: "All that differs from the base, committed or not.",
    tag: "tasks",
    params,
    query: { patch: flag("Also as git prints it.") },
    answers: { 200: { description: "The difference.", schema: TaskDiffSchema } },
    errors: ["task_not_found", "worktree_missing", "git_failed"],
    async handle({ door, params: { id }, query: { patch } }) {
      return json(await door.served.tasks.diff(id, { patch }));
    },
  }),
  route({
    method: "POST",
    path: "/v1/tasks/:id/merge",
    id: "mergeTask",
    summary: "Merge a task's branch, or only say what would happen.",
    tag: "tasks",
    slow: true,
    params,
    body: MergeTaskBody,
    answers: { 200: { description: "What happened, or would.", schema: MergeReportSchema }, 202: PENDING },
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
    made: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "merge.asked" && logId === id,
      // Commits that were added after that merge are not merged; a merge that its server did not finish is finished.
      recall: async ({ id, seq }, { door, body: { dryRun: _, ...options } }) => {
        const { store, tasks } = door.served;
        return json((await reportOfMerge(store, id, seq)) ?? (await tasks.merge(id, options)));
      },
    },
    async handle({ door, params: { id }, body: { dryRun = false, ...options } }) {
      const { tasks } = door.served;
      return json(await (dryRun ? tasks.predictMerge(id, options) : tasks.merge(id, options)));
    },
  }),
];
