/** For tests: a task service with scripted tasks and a feed that the test writes. */
import { PassThrough } from "node:stream";
import { RookeryError } from "../../domain/errors.ts";
import type { EventBody } from "../../domain/events.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import type { TaskEventBody } from "../../domain/task/events.ts";
import type { Tasks, TaskView } from "../../domain/task/view.ts";
import type { Io } from "../io.ts";
import { collectingIo } from "../test-io.ts";
import type { LoggedEvent, TaskService } from "./service.ts";

export const AT = "2026-01-01T10:00:00.000Z";

export function taskView(view: Partial<TaskView> & { id: string }): TaskView {
  return {
    title: view.id,
    prompt: `do ${view.id}`,
    status: "queued",
    repository: "/repo",
    agent: "claude",
    priority: 0,
    needs: [],
    createdAt: AT,
    ranMs: 0,
    runs: 0,
    stages: ["work"],
    sessions: [],
    waitingFor: [],
    usage: NO_USAGE,
    removed: false,
    ...view,
  };
}

export interface TestTaskService extends TaskService {
  /** Newest first. */
  views: TaskView[];
  /** All calls, in order. */
  readonly calls: unknown[][];
  /** Appends an event of the task or of one of its sessions. */
  emit(task: string, body: TaskEventBody | (EventBody & { sessionId: string; turnId?: string })): void;
  change(id: string, change: Partial<TaskView>): void;
  /** Number of followers that wait for events. */
  readonly followers: number;
}

export function createTestTaskService(
  views: TaskView[] = [],
  answers: Partial<Tasks> & Partial<Pick<TaskService, "runner" | "server" | "answer">> = {},
): TestTaskService {
  const { runner, server, answer, ...others } = answers;
  const feed: (LoggedEvent & { task: string })[] = [];
  const bells = new Set<() => void>();
  const calls: unknown[][] = [];
  const viewOf = (id: string): TaskView => {
    const found = service.views.find((view) => view.id === id);
    if (found === undefined) throw new RookeryError("task_not_found", `there is no task ${id}`);
    return found;
  };
  const refused = () => Promise.reject(new Error("the test does not expect this call"));
  const tasks: Tasks = {
    start: refused,
    stop: refused,
    resume: refused,
    diff: refused,
    predictMerge: refused,
    merge: refused,
    remove: refused,
    collect: refused,
    show: async (id) => viewOf(id),
    list: async ({ status, agent, idPrefix = "", before, limit = 50 } = {}) => {
      const from = before === undefined ? 0 : service.views.findIndex(({ id }) => id === before) + 1;
      return service.views
        .slice(from)
        .filter(({ id }) => id.startsWith(idPrefix))
        .filter((view) => (status?.includes(view.status) ?? true) && (agent === undefined || view.agent === agent))
        .slice(0, limit);
    },
    async *follow({ task, after = 0, signal }) {
      for (let next = after; signal?.aborted !== true; next += 1) {
        const logged = feed[next];
        if (logged === undefined) {
          await rung(bells, signal);
          next -= 1;
        } else if (task === undefined || logged.task === task) yield logged;
      }
    },
    ...Object.fromEntries(
      Object.entries(others).map(([name, answer]) => [
        name,
        (...given: unknown[]) => {
          calls.push([name, ...given]);
          return (answer as (...given: unknown[]) => unknown)(...given);
        },
      ]),
    ),
  };
  const service: TestTaskService = {
    views,
    calls,
    tasks,
    chooseAgent: async (request) => request,
    server,
    runner,
    answer: answer ?? refused,
    head: async () => feed.length,
    async *history(task, after) {
      for (const logged of feed.slice(after)) if (logged.task === task) yield logged;
    },
    async lastMessage(sessionId) {
      const said = feed.findLast(({ event }) => event.type === "message.completed" && event.sessionId === sessionId);
      return said?.event.type === "message.completed" ? said.event.text : undefined;
    },
    emit(task, body) {
      const position = feed.length + 1;
      const owner = "sessionId" in body && !isStage(body) ? { agent: "claude" } : { taskId: task };
      feed.push({ task, position, event: { seq: position, at: AT, ...owner, ...body } as LoggedEvent["event"] });
      for (const ring of bells) ring();
    },
    change(id, change) {
      service.views = service.views.map((view) => (view.id === id ? { ...view, ...change } : view));
    },
    get followers() {
      return bells.size;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  return service;
}

/** `stage.started` is the only task event that names a session. */
function isStage({ type }: { type: string }): boolean {
  return type === "stage.started";
}

function rung(bells: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      bells.delete(done);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    bells.add(done);
    signal?.addEventListener("abort", done, { once: true });
    if (signal?.aborted === true) done();
  });
}

/** A terminal with a person at it, whose keystrokes are written to `terminalInput`. */
export function terminalIo(): Io & { text(): string; readonly terminalInput: PassThrough } {
  const io = collectingIo("/somewhere");
  const env = { ...io.env, TERM: "xterm", NO_COLOR: "" };
  Object.assign(io.stdout, { isTTY: true, columns: 80, rows: 12 });
  return Object.assign(io, { env, terminalInput: new PassThrough() });
}
