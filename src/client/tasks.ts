/** The `Tasks` interface on top of the HTTP API of a server. */
import {
  checkArgument,
  functionArgument,
  objectArgument,
  optionalArgument,
  textArgument,
} from "../domain/arguments.ts";
import { RookeryError } from "../domain/errors.ts";
import type { Tasks, TaskView } from "../domain/index.ts";
import type { RookeryClient } from "./client.ts";
import { FOLLOW_QUERY } from "./follow.ts";
import { errorOf, toUnreachableError } from "./problem.ts";
import type { components } from "./schema.ts";

type Pending = components["schemas"]["Pending"];

interface FetchResult<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** Methods reject with the errors of local tasks, and with `server_unreachable` or `unauthorized`. */
export function remoteTasks(client: RookeryClient): Tasks {
  checkArgument(client, CLIENT, "the client");
  return withCheckedIds(createRemoteTasks(client));
}

const CLIENT = objectArgument({
  url: textArgument,
  GET: functionArgument,
  POST: functionArgument,
  DELETE: functionArgument,
  follow: functionArgument,
});
const ANY_OBJECT = optionalArgument(objectArgument({}));

/** Checks the arguments that form the path of a request. The server checks the rest. */
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

function createRemoteTasks(client: RookeryClient): Tasks {
  const { url } = client;
  return {
    start: async (body) =>
      toTaskView(await callServer(url, () => client.POST("/v1/tasks", { body: withoutUndefined(body) }))),
    async list(options = {}) {
      const { status, ...query } = withoutUndefined(options);
      const filter = { ...query, ...(status !== undefined && { status }) };
      return (await callServer(url, () => client.GET("/v1/tasks", { params: { query: filter } }))).tasks.map(
        toTaskView,
      );
    },
    show: async (id) =>
      toTaskView(await callServer(url, () => client.GET("/v1/tasks/{id}", { params: { path: { id } } }))),
    stop: async (id, options = {}) =>
      toTaskView(
        await callUntilDone(url, (header) => {
          return client.POST("/v1/tasks/{id}/stop", {
            params: { path: { id }, header },
            body: withoutUndefined(options),
          });
        }),
      ),
    async resume(id, options = {}) {
      const params = { path: { id } };
      return toTaskView(
        await callServer(url, () => client.POST("/v1/tasks/{id}/resume", { params, body: withoutUndefined(options) })),
      );
    },
    diff: (id, options = {}) =>
      callServer(url, () =>
        client.GET("/v1/tasks/{id}/diff", { params: { path: { id }, query: withoutUndefined(options) } }),
      ),
    predictMerge: (id, options = {}) =>
      callUntilDone(url, (header) => {
        const body = { ...withoutUndefined(options), dryRun: true };
        return client.POST("/v1/tasks/{id}/merge", { params: { path: { id }, header }, body });
      }),
    merge: (id, options = {}) =>
      callUntilDone(url, (header) => {
        return client.POST("/v1/tasks/{id}/merge", {
          params: { path: { id }, header },
          body: withoutUndefined(options),
        });
      }),
    remove: (id, options = {}) =>
      callUntilDone(url, (header) => {
        return client.DELETE("/v1/tasks/{id}", { params: { path: { id }, header, query: withoutUndefined(options) } });
      }),
    collect: async (options = {}) =>
      callUntilDone(url, (header) =>
        client.POST("/v1/tasks/collect", { params: { header }, body: withoutUndefined(options) }),
      ),
    follow(query) {
      checkArgument(query, FOLLOW_QUERY, "the query");
      const { task, after, signal } = query;
      const target = task === undefined ? { everything: true as const } : { task };
      return client.follow({ ...target, after, signal });
    },
  };
}

async function callServer<T>(url: string, send: () => Promise<FetchResult<T>>): Promise<T> {
  const { data, error, response } = await send().catch((cause: unknown): never => {
    throw toUnreachableError(url, cause);
  });
  if (data !== undefined) return data;
  throw errorOf(error, response.status);
}

/** Repeats the request with the same idempotency key while the server responds that the work is still running. */
async function callUntilDone<T extends object>(
  url: string,
  send: (header: { "Idempotency-Key": string }) => Promise<FetchResult<T | Pending>>,
): Promise<Exclude<T, Pending>> {
  const header = { "Idempotency-Key": newIdempotencyKey() };
  for (;;) {
    const result = await callServer(url, () => send(header));
    if (!("pending" in result)) return result as Exclude<T, Pending>;
  }
}

function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

type Definite<T> = T extends readonly (infer Item)[]
  ? Definite<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Definite<Exclude<T[Key], undefined>> }
    : T;

/** Removes undefined fields and `readonly` modifiers. Throws `input_invalid` if the options are not JSON. */
function withoutUndefined<T extends object>(options: T): Definite<T> {
  checkArgument(options, objectArgument({}), "the options");
  try {
    const copy: unknown = JSON.parse(JSON.stringify(options));
    checkArgument(copy, objectArgument({}), "the options"); // a date is an object, but not as JSON
    return copy as Definite<T>;
  } catch (cause) {
    if (cause instanceof RookeryError) throw cause;
    throw new RookeryError("input_invalid", "the options cannot be used: they cannot be written as JSON", { cause });
  }
}

/** Restores `costUsd: undefined`, which JSON omits. */
function toTaskView(task: components["schemas"]["Task"]): TaskView {
  return { ...task, usage: { ...task.usage, costUsd: task.usage.costUsd } };
}
