/** The task service of a server. */
import { createClient, remoteTasks, type RookeryClient } from "../../client/index.ts";
import type { SessionEvent } from "../../domain/events.ts";
import type { Io } from "../io.ts";
import type { LoggedEvent, TaskService } from "./service.ts";
import type { ServerAddress } from "./open-service.ts";
import { readServerReply, type ServerReply } from "./server-reply.ts";

export function openRemoteTasks(io: Io, server: ServerAddress): TaskService {
  const client = createClient(server);
  return {
    tasks: remoteTasks(client),
    chooseAgent: async (request) => {
      if (server.pid === undefined) return request; // another machine has other agents
      const { nameDefaultAgent } = await import("./choose-agent.ts");
      return nameDefaultAgent(io, request, request.cwd ?? io.cwd());
    },
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
    async lastMessage(sessionId) {
      let end = (await readSessionPage(client, sessionId, { limit: 1 })).head;
      for (let page = 0; page < MAX_PAGES && end > 0; page += 1) {
        const after = Math.max(0, end - PAGE_EVENTS);
        const { events } = await readSessionPage(client, sessionId, { after, limit: end - after });
        const said = events.findLast((event) => event.type === "message.completed" && event.text.trim() !== "");
        if (said?.type === "message.completed") return said.text;
        end = after;
      }
      return undefined;
    },
    async answer(id, requestId, answer) {
      const params = { path: { id, requestId } };
      await readServerReply(client, client.POST("/v1/sessions/{id}/requests/{requestId}", { params, body: answer }));
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** How far back `lastMessage` reads. */
const PAGE_EVENTS = 500;
const MAX_PAGES = 16;

async function readSessionPage(
  client: RookeryClient,
  id: string,
  query: { after?: number; limit: number },
): Promise<{ readonly events: readonly SessionEvent[]; readonly head: number }> {
  const asked = client.GET("/v1/sessions/{id}/events", { params: { path: { id }, query } });
  return readPage<SessionEvent>(client, asked);
}

interface Page<Event> {
  readonly events: readonly Event[];
  readonly head: number;
}

/** The schema also describes the route as a stream, which is not requested here. */
async function readPage<Event = LoggedEvent>(client: RookeryClient, asked: ServerReply): Promise<Page<Event>> {
  return (await readServerReply(client, asked)) as Page<Event>;
}
