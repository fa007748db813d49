/** The task service for the log of this machine. This process runs the tasks. */
import type { LogEvent } from "../../domain/task/store.ts";
import { isDriven } from "../../session/lease.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { Io } from "../io.ts";
import { printNotice } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { readLastMessage } from "../transcript/last-turns.ts";
import { formatError } from "../exit.ts";
import type { TaskService } from "./service.ts";

const PAGE = 1_000;

export async function openLocalTasks(io: Io): Promise<TaskService> {
  const rookery = await openRookeryAnywhere(io);
  const { store, tasks } = rookery;
  return {
    tasks,
    chooseAgent: async (request) => {
      const { requireAgentsHere } = await import("./choose-agent.ts");
      return requireAgentsHere(io, request, request.cwd ?? io.cwd());
    },
    server: undefined,
    runner: {
      run: (id, signal, onProblem = (error) => printNotice(io, formatError(error))) =>
        rookery.runTasks({ only: id, signal, onProblem }),
      hasWorkers: async () => {
        const workers = await rookery.workers();
        return workers.some(({ status, maxRunning }) => status === "ready" && maxRunning > 0);
      },
      isAbandoned: async (id) => !(await isDriven(store, id, systemClock)),
      lastEventAt: async (id) => {
        const state = await store.task(id);
        const { sessionId } = state?.current ?? {};
        const session = sessionId === undefined ? undefined : await store.summary(sessionId);
        const times = [state?.updatedAt, session?.updatedAt].flatMap((at) =>
          at === undefined ? [] : [Date.parse(at)],
        );
        return times.length === 0 ? undefined : Math.max(...times);
      },
    },
    head: async () => (await store.readFeed({ after: 0, limit: 0 })).head,
    async *history(task, start) {
      for (let after = start; ;) {
        const { events } = await store.readFeed({ task, after, limit: PAGE });
        const last = events.at(-1);
        if (last === undefined) return;
        for (const { position, text } of events) yield { position, event: JSON.parse(text) as LogEvent };
        after = last.position;
      }
    },
    lastMessage: (sessionId) => readLastMessage(store, sessionId),
    answer: (sessionId, requestId, answer) => rookery.answer(sessionId, requestId, answer),
    [Symbol.asyncDispose]: () => rookery.close(),
  };
}
