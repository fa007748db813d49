/** The task service of a server. */
import { createClient, errorOf, remoteTasks, type RookeryClient } from "../../client/index.ts";
import { messageOf, RookeryError } from "../../domain/errors.ts";
import type { LoggedEvent, TaskService } from "./service.ts";
import type { ServerAddress } from "./open-service.ts";

export function openRemoteTasks(server: ServerAddress): TaskService {
  const client = createClient(server);
  return {
    tasks: remoteTasks(client),
    server: server.url,
    runner: undefined,
    head: async () => (await readPage(client, client.GET("/v1/events", { params: { query: { limit: 1 } } }))).head,
    async *history(task, start) {
      for (let after = start; ;) {
        const asked = client.GET("/v1/tasks/{id}/events", { params: { path: { id: task }, query: { after } } });
        const { events } = await readPage(client, asked);
        const last = events.at(-1);
        if (last === undefined) return;
        yield* events;
        after = last.position;
      }
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

interface Page {
  readonly events: readonly LoggedEvent[];
  readonly head: number;
}

/** Rejects with the error of the server. The schema also describes the route as a stream, which is not requested here. */
async function readPage(
  { url }: RookeryClient,
  asked: Promise<{ data?: unknown; error?: unknown; response: Response }>,
) {
  const { data, error, response } = await asked.catch((cause: unknown): never => {
    const message = `cannot reach the server at ${url} (${messageOf(cause)}): is it running? rookery serve`;
    throw new RookeryError("server_unreachable", message, { cause });
  });
  if (data !== undefined) return data as Page;
  throw errorOf(error, response.status);
}
