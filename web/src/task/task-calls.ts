/** The calls of the server that change a task. Each happens once, even if the connection breaks. */
import type { components, RookeryClient } from "../../../src/client/index.ts";
import { isEndedStatus } from "../../../src/domain/enums.ts";
import type { MergeHow } from "../../../src/domain/task/spec.ts";
import type { MergeReport, TaskDiff, TaskView } from "../../../src/domain/task/view.ts";
import { dataOf } from "../request.ts";
import { newIdempotencyKey, sendOnce, type IdempotencyHeader, type SendResult } from "../send.ts";

export interface MergeChoice {
  /** Default: the configured method. */
  readonly how?: MergeHow;
  /** Default: the base of the task. */
  readonly into?: string;
  /** `false` for none. Default: the configured gate. */
  readonly gate?: string | false;
}

const paramsOf = (id: string, header: IdempotencyHeader) => ({ path: { id }, header: { ...header } });

type Pending = components["schemas"]["Pending"];

/** Sends a request with a new key. It is repeated while the server works on it. */
async function changeOnce<T>(
  send: (header: IdempotencyHeader) => Promise<SendResult<T | Pending>>,
): Promise<Exclude<T, Pending>> {
  return (await sendOnce(newIdempotencyKey(), send)) as Exclude<T, Pending>;
}

export async function stopTask(client: RookeryClient, id: string): Promise<void> {
  await changeOnce((header) =>
    client.POST("/v1/tasks/{id}/stop", { params: paramsOf(id, header), body: { reason: "stopped in the page" } }),
  );
}

export async function resumeTask(client: RookeryClient, id: string, prompt: string): Promise<void> {
  const body = prompt.trim() === "" ? {} : { prompt };
  await changeOnce((header) => client.POST("/v1/tasks/{id}/resume", { params: paramsOf(id, header), body }));
}

/** Resumes a task that has ended with the prompt, or gives it to the agent that runs. */
export async function sendToTask(client: RookeryClient, task: TaskView, prompt: string): Promise<void> {
  if (isEndedStatus(task.status)) return resumeTask(client, task.id, prompt);
  const session = task.sessions.at(-1);
  if (session === undefined) throw new Error("No agent has started yet. Send it when the agent works.");
  await changeOnce((header) =>
    client.POST("/v1/sessions/{id}/turns", {
      params: paramsOf(session.id, header),
      body: { input: prompt, deliver: "steer" },
    }),
  );
}

export function predictMerge(client: RookeryClient, id: string, choice: MergeChoice): Promise<MergeReport> {
  const body = { ...choice, dryRun: true };
  return changeOnce((header) => client.POST("/v1/tasks/{id}/merge", { params: paramsOf(id, header), body }));
}

export function mergeTask(client: RookeryClient, id: string, choice: MergeChoice): Promise<MergeReport> {
  return changeOnce((header) =>
    client.POST("/v1/tasks/{id}/merge", { params: paramsOf(id, header), body: { ...choice } }),
  );
}

export async function removeTask(client: RookeryClient, id: string, force: boolean): Promise<void> {
  await changeOnce((header) =>
    client.DELETE("/v1/tasks/{id}", { params: { ...paramsOf(id, header), query: { force } } }),
  );
}

/** What the tools of a session changed, or those of one of its turns. Files that commands changed are not in it. */
export function readSessionDiff(
  client: RookeryClient,
  id: string,
  turn: string | undefined,
): Promise<TaskDiff & { readonly commands: number }> {
  const query = { patch: true, ...(turn !== undefined && { turn }) };
  return dataOf(client.GET("/v1/sessions/{id}/diff", { params: { path: { id }, query } }));
}

export function readTaskDiff(client: RookeryClient, id: string, patch: boolean): Promise<TaskDiff> {
  return dataOf(client.GET("/v1/tasks/{id}/diff", { params: { path: { id }, query: { patch } } }));
}
