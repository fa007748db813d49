/** The tasks of a server, as those of one's own log are had. */
import {
  checkArgument,
  functionArgument,
  objectArgument,
  optionalArgument,
  textArgument,
} from "../domain/arguments.ts";
import { RookeryError } from "../domain/errors.ts";
import type { FeedEvent, Tasks, TaskView } from "../domain/index.ts";
import { FOLLOW_QUERY, type Followed } from "./follow.ts";
import type { RookeryClient } from "./index.ts";
import { errorOf, unreachable } from "./problem.ts";
import type { components } from "./schema.ts";

type Pending = components["schemas"]["Pending"];

interface Answered<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** Rejects as the server's own would, and with `server_unreachable` or `unauthorized`. */
export function remoteTasks(client: RookeryClient): Tasks {
  checkArgument(client, CLIENT, "the client");
  return withCheckedIds(tasksOf(client));
}

const CLIENT = objectArgument({
  url: textArgument,
  GET: functionArgument,
  POST: functionArgument,
  DELETE: functionArgument,
  follow: functionArgument,
});
const ANY_OBJECT = optionalArgument(objectArgument({}));

/** The server checks the rest. */
function withCheckedIds(tasks: Tasks): Tasks {
  const checked =
    <Options, Result>(method: (id: string, options?: Options) => Promise<Result>) =>
    async (id: string, options?: Options): Promise<Result> => {
      checkArgument(id, textArgument, "the task's id");
      checkArgument(options, ANY_OBJECT, "the options");
      return method(id, options);
    };
  return {
    ...tasks,
    show: checked((id) => tasks.show(id)),
    stop: checked((id, options?: Parameters<Tasks["stop"]>[1]) => tasks.stop(id, options)),
    resume: checked((id, options?: Parameters<Tasks["resume"]>[1]) => tasks.resume(id, options)),
    diff: checked((id, options?: Parameters<Tasks["diff"]>[1]) => tasks.diff(id, options)),
    predictMerge: checked((id, options?: Parameters<Tasks["predictMerge"]>[1]) => tasks.predictMerge(id, options)),
    merge: checked((id, options?: Parameters<Tasks["merge"]>[1]) => tasks.merge(id, options)),
    remove: checked((id, options?: Parameters<Tasks["remove"]>[1]) => tasks.remove(id, options)),
  };
}

function tasksOf(client: RookeryClient): Tasks {
  const { url } = client;
  return {
    start: async (body) => viewOf(await asked(url, () => client.POST("/v1/tasks", { body: definite(body) }))),
    async list(given = {}) {
      const { status, ...query } = definite(given);
      const filter = { ...query, ...(status !== undefined && { status }) };
      return (await asked(url, () => client.GET("/v1/tasks", { params: { query: filter } }))).tasks.map(viewOf);
    },
    show: async (id) => viewOf(await asked(url, () => client.GET("/v1/tasks/{id}", { params: { path: { id } } }))),
    stop: async (id, options = {}) =>
      viewOf(
        await askedSlowly(url, (header) => {
          return client.POST("/v1/tasks/{id}/stop", { params: { path: { id }, header }, body: definite(options) });
        }),
      ),
    async resume(id, options = {}) {
      const params = { path: { id } };
      return viewOf(await asked(url, () => client.POST("/v1/tasks/{id}/resume", { params, body: definite(options) })));
    },
    diff: (id, options = {}) =>
      asked(url, () => client.GET("/v1/tasks/{id}/diff", { params: { path: { id }, query: definite(options) } })),
    predictMerge: (id, options = {}) =>
      askedSlowly(url, (header) => {
        const body = { ...definite(options), dryRun: true };
        return client.POST("/v1/tasks/{id}/merge", { params: { path: { id }, header }, body });
      }),
    merge: (id, options = {}) =>
      askedSlowly(url, (header) => {
        return client.POST("/v1/tasks/{id}/merge", { params: { path: { id }, header }, body: definite(options) });
      }),
    remove: (id, options = {}) =>
      askedSlowly(url, (header) => {
        return client.DELETE("/v1/tasks/{id}", { params: { path: { id }, header, query: definite(options) } });
      }),
    collect: async (options = {}) =>
      askedSlowly(url, (header) => client.POST("/v1/tasks/collect", { params: { header }, body: definite(options) })),
    follow(query) {
      checkArgument(query, FOLLOW_QUERY, "the query");
      const { task, after, signal } = query;
      const what = task === undefined ? { everything: true as const } : { task };
      return positioned(client.follow({ ...what, after, signal }));
    },
  };
}

async function* positioned(events: AsyncIterable<Followed>): AsyncGenerator<FeedEvent> {
  for await (const { id, event } of events) yield { position: id, event };
}

async function asked<T>(url: string, ask: () => Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await ask().catch((cause: unknown): never => {
    throw unreachable(url, cause);
  });
  if (data !== undefined) return data;
  throw errorOf(error, response.status);
}

/** The server tells after a while that it goes on, and is asked again for the same. */
async function askedSlowly<T extends object>(
  url: string,
  ask: (header: { "Idempotency-Key": string }) => Promise<Answered<T | Pending>>,
): Promise<Exclude<T, Pending>> {
  const header = { "Idempotency-Key": newKey() };
  for (;;) {
    const answer = await asked(url, () => ask(header));
    if (!("pending" in answer)) return answer as Exclude<T, Pending>;
  }
}

function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

type Definite<T> = T extends readonly (infer Item)[]
  ? Definite<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Definite<Exclude<T[Key], undefined>> }
    : T;

/** Without what was not said, and no longer read-only to the compiler. Throws `input_invalid` if it is not JSON. */
function definite<T extends object>(options: T): Definite<T> {
  checkArgument(options, objectArgument({}), "the options");
  try {
    return JSON.parse(JSON.stringify(options)) as Definite<T>;
  } catch (cause) {
    throw new RookeryError("input_invalid", "the options cannot be used: they cannot be written as JSON", { cause });
  }
}

/** What is left out on the way, because nobody knows it, is said to be unknown. */
function viewOf(task: components["schemas"]["Task"]): TaskView {
  return { ...task, usage: { ...task.usage, costUsd: task.usage.costUsd } };
}
