/** The MCP server with which a model orchestrates tasks. `docs/adr/0069-orchestration-over-mcp.md` */
import { z } from "zod";
import {
  isEndedStatus,
  MERGE_METHODS,
  RookeryError,
  TASK_STATUSES,
  TaskId,
  type InProcessServerSpec,
  type TaskView,
} from "../../domain/index.ts";
import { servedTool, toolServer, type ServedTool } from "../../mcp/endpoint/index.ts";
import { sessionWaitingRequests } from "../../session/index.ts";
import { followTask } from "./follow-task.ts";
import type { TaskServerOptions } from "./task-service.ts";

const INSTRUCTIONS =
  "Rookery runs coding agents on tasks. Each task has its own git worktree and branch. Start a task with start_task, " +
  "call follow_task with the returned cursor until the task has ended, look at its changes with diff_task, and merge " +
  "them with merge_task. A task that needs a permission waits for a person.";

/** Longer patches are cut off. */
const MAX_PATCH = 60_000;
const MAX_WAIT_SECONDS = 50;
const MAX_LISTED = 50;

const Text = z.string().min(1).max(1_000);
const Message = z.string().min(1).max(1_000_000);
const Id = TaskId.describe("The id of the task.");
const Cwd = Text.optional().describe("An absolute path in the repository. Default: the directory of the server.");

export function taskServer(options: TaskServerOptions): InProcessServerSpec {
  const tools = [...taskTools(options), ...(options.answers === true ? [answerTool(options)] : [])];
  return toolServer({ name: "rookery", version: options.version, instructions: INSTRUCTIONS, tools });
}

function taskTools(options: TaskServerOptions): readonly ServedTool[] {
  const { rookery } = options;
  const { tasks } = rookery;
  const policies =
    options.answers === true ? (["ask", "read", "all", "none"] as const) : (["ask", "read", "none"] as const);
  return [
    servedTool({
      name: "list_agents",
      description: "List the agents that can work on tasks. One that is not ready says what it lacks.",
      readOnly: true,
      input: z.strictObject({ cwd: Cwd }),
      run: async ({ cwd }) => ({
        agents: (await options.agents(cwd)).map(({ name, backend, model, isDefault, ready, missing }) => ({
          name,
          backend,
          model,
          isDefault,
          ready,
          missing,
        })),
      }),
    }),
    servedTool({
      name: "start_task",
      description:
        "Queue a task: an agent works on the prompt in a new worktree and branch. Returns at once with the id and the cursor for follow_task.",
      input: z.strictObject({
        prompt: Message.describe("What the agent should do, with everything that it has to know."),
        id: TaskId.optional().describe("Default: derived from the prompt."),
        title: Text.optional(),
        cwd: Cwd,
        agent: Text.optional().describe("A name from list_agents. Default: the default agent."),
        model: Text.optional(),
        base: Text.optional().describe("The branch, tag or commit to start from. Default: what is checked out."),
        pipeline: Text.optional().describe("A pipeline of the configuration. Default: one stage with the agent."),
        needs: z.array(TaskId).max(100).optional().describe("Tasks that have to be done first."),
        permissions: z
          .enum(policies)
          .optional()
          .describe("What the agent may do without a permission. Default: as configured."),
      }),
      run: async (request) => {
        await options.requireReady(request);
        const { head } = await rookery.store.readFeed({ after: 0, limit: 0 });
        return { ...summarizeTask(await tasks.start(request)), cursor: head };
      },
    }),
    servedTool({
      name: "list_tasks",
      description: "List tasks, newest first.",
      readOnly: true,
      input: z.strictObject({
        status: z.array(z.enum(TASK_STATUSES)).max(TASK_STATUSES.length).optional(),
        cwd: Text.optional().describe("Only tasks of the repository with this directory. Default: all."),
        before: TaskId.optional().describe("`next` of the previous page."),
        limit: z.int().min(1).max(MAX_LISTED).default(20),
      }),
      run: async (query) => {
        const found = await tasks.list(query);
        return { tasks: found.map(summarizeTask), next: found.length < query.limit ? undefined : found.at(-1)?.id };
      },
    }),
    servedTool({
      name: "show_task",
      description: "Show a task: its status, why it waits or failed, its worktree, and what it asks.",
      readOnly: true,
      input: z.strictObject({ id: Id }),
      run: async ({ id }) => {
        const task = await tasks.show(id);
        const { prompt, stages, worktree, usage, merge, createdAt, startedAt, endedAt } = task;
        const requests = await listRequests(options, task);
        return {
          ...summarizeTask(task),
          prompt,
          stages,
          worktree,
          usage,
          merge,
          createdAt,
          startedAt,
          endedAt,
          requests,
        };
      },
    }),
    servedTool({
      name: "follow_task",
      description:
        "Wait until the task ends, asks or finishes a stage, or until the time is over, and return what happened since the cursor. Call it again with the returned cursor until `status` is done, failed or stopped.",
      readOnly: true,
      input: z.strictObject({
        id: Id,
        cursor: z.int().min(0).optional().describe("Of the previous call. Default: the start of the task."),
        wait_seconds: z.int().min(0).max(MAX_WAIT_SECONDS).default(30),
      }),
      run: ({ id, cursor: after, wait_seconds: waitSeconds }, { signal }) =>
        followTask(options, { id, after, waitSeconds }, signal),
    }),
    servedTool({
      name: "tell_task",
      description:
        "Send a message to the agent of a task. A running agent gets it at its next step; a task that has ended continues with it.",
      input: z.strictObject({ id: Id, message: Message }),
      run: async ({ id, message }) => {
        const task = await tasks.show(id);
        if (isEndedStatus(task.status)) return summarizeTask(await tasks.resume(id, { prompt: message }));
        const state = await rookery.store.task(id);
        const session = state?.current?.sessionId ?? task.sessions.at(-1)?.id;
        if (session === undefined)
          throw new RookeryError(
            "task_state",
            `task ${id} has no agent yet: follow it and try again when it has started`,
          );
        await rookery.tell(session, message, { deliver: "steer" });
        return summarizeTask(task);
      },
    }),
    servedTool({
      name: "stop_task",
      description: "Stop a task. Its worktree stays, and tell_task continues it.",
      destructive: true,
      input: z.strictObject({ id: Id, reason: Text.optional() }),
      run: async ({ id, reason }) => summarizeTask(await tasks.stop(id, { reason })),
    }),
    servedTool({
      name: "diff_task",
      description: "Show the changes of a task against its base, committed or not.",
      readOnly: true,
      input: z.strictObject({ id: Id, patch: z.boolean().default(false).describe("Include the patch.") }),
      run: async ({ id, patch: withPatch }) => {
        const { patch, truncated, ...diff } = await tasks.diff(id, { patch: withPatch });
        const isCut = patch !== undefined && patch.length > MAX_PATCH;
        return { ...diff, patch: patch?.slice(0, MAX_PATCH), truncated: truncated || isCut };
      },
    }),
    servedTool({
      name: "merge_task",
      description:
        "Merge the branch of a task into its target branch. The configured gate command has to pass. With dry_run, predict the result and change nothing.",
      destructive: true,
      input: z.strictObject({
        id: Id,
        how: z.enum(MERGE_METHODS).optional(),
        into: Text.optional().describe("The target branch. Default: the base of the task."),
        message: z.string().max(10_000).optional().describe("The commit message."),
        dry_run: z.boolean().default(false),
      }),
      run: ({ id, dry_run: isDryRun, ...merge }) => (isDryRun ? tasks.predictMerge(id, merge) : tasks.merge(id, merge)),
    }),
  ];
}

function answerTool({ rookery }: TaskServerOptions): ServedTool {
  return servedTool({
    name: "answer_task",
    description:
      "Answer a permission request or a question of a task, from `requests` of show_task. `allow` lets the agent do what it asked for.",
    destructive: true,
    input: z.strictObject({
      id: Id,
      request_id: Text.describe("The id of the request."),
      answer: z
        .enum(["allow", "deny", "accept", "decline"])
        .describe("allow or deny a permission; accept or decline a question."),
      message: Text.optional().describe("With deny: the reason, for the agent."),
      content: z
        .record(z.string(), z.unknown())
        .optional()
        .describe("With accept: the answer, as the schema of the question says."),
    }),
    run: async ({ id, request_id: requestId, answer, message, content }) => {
      const { waitingFor } = await rookery.tasks.show(id);
      const request = waitingFor.find((each) => each.requestId === requestId);
      if (request === undefined) {
        throw new RookeryError("request_not_found", `task ${id} does not wait for ${requestId}: see show_task`);
      }
      const isPermission = answer === "allow" || answer === "deny";
      await rookery.answer(
        request.sessionId,
        requestId,
        isPermission
          ? { decision: answer, ...(message !== undefined && { message }) }
          : { action: answer, ...(content !== undefined && { content }) },
      );
      return summarizeTask(await rookery.tasks.show(id));
    },
  });
}

/** The fields that a model needs to choose the next step. */
function summarizeTask({ id, title, status, agent, stage, code, message, lastLine, waitingFor }: TaskView) {
  const requests = waitingFor.map(({ requestId }) => requestId);
  return { id, title, status, agent, stage, code, message, lastLine, waitingFor: requests };
}

/** What the sessions of the task ask, with what a person would see before the answer. */
async function listRequests({ rookery: { store } }: TaskServerOptions, { waitingFor }: TaskView): Promise<object[]> {
  const ids = [...new Set(waitingFor.map(({ sessionId }) => sessionId))];
  const summaries = await Promise.all(ids.map((id) => store.summary(id)));
  const found = await Promise.all(
    summaries.map(async (summary) => (summary === undefined ? [] : sessionWaitingRequests(store, summary))),
  );
  return found.flat().map(({ requestId, kind, title, tool, schema }) => ({ requestId, kind, title, tool, schema }));
}
