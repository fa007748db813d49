import { expect, it } from "vitest";
import { newId, type EventDraft, type TaskEventDraft } from "../../domain/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { logTaskEvents } from "./task-log.ts";

const at = "2026-01-01T10:00:00.000Z";
const spec = {
  prompt: "Do it",
  title: "Do\u001b[2J\nit",
  repository: "/r",
  agent: "claude",
  provider: "x",
  priority: 0,
  needs: [],
  retries: 0,
  budget: {},
  stages: [{ kind: "agent", name: "work", agent: "claude", tries: 1 }],
  limits: {},
};

it("logs one line when a task is queued, starts, asks, is recovered and ends, and nothing else", async () => {
  await using store = openMemoryStore();
  const task = async (head: number, ...events: object[]) =>
    store.appendTask({
      taskId: "fix",
      id: newId("app"),
      expectedHead: head,
      events: events.map((event) => ({ at, ...event })) as TaskEventDraft[],
    });
  await task(0, { type: "task.created", spec });
  const sessionId = newId("ses");
  const own = { at, agent: "claude" };
  const events = [
    { ...own, type: "session.opened", backend: "api", cwd: "/tmp/work", permissions: "ask", task: "fix" },
    { ...own, type: "message.delta", messageId: "m", text: '"type":"task.ended"' },
    {
      ...own,
      type: "permission.requested",
      requestId: "r",
      toolId: "t",
      tool: "bash",
      title: "bash: rm\u001b[2J\n/tmp/work/x",
      kind: "execute",
      input: {},
    },
  ] as EventDraft[];
  await store.append({ sessionId, id: newId("app"), expectedHead: 0, events });
  await task(1, { type: "task.stop_asked" });
  const stop = new AbortController();
  const lines: string[] = [];
  await logTaskEvents(store, {
    after: 0,
    signal: stop.signal,
    log: (line) => {
      lines.push(line);
      if (lines.length === 2) stop.abort();
    },
  });
  expect(lines.map((line) => line.slice("2026-01-01 10:00:00 ".length))).toEqual([
    "task fix was queued: claude, Do[2J it",
    "task fix asks for a permission: bash: rm[2J x (rookery inbox)",
  ]);
});
