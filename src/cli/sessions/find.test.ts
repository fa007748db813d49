import { beforeAll, expect, it } from "vitest";
import { openMemoryStore } from "../../store/memory.ts";
import type { SessionStore } from "../../domain/store.ts";
import { findSession } from "./find.ts";

let store: SessionStore;
const IDS = ["ses_0aaa1", "ses_0aaa2", "ses_0bbb1"];

beforeAll(async () => {
  store = openMemoryStore();
  for (const sessionId of IDS) {
    await store.append({
      sessionId,
      id: `app_${sessionId}`,
      expectedHead: 0,
      events: [
        {
          type: "session.opened",
          at: "2026-01-01T00:00:00.000Z",
          agent: "a",
          backend: "api",
          cwd: "/",
          permissions: "ask",
        },
      ],
    });
  }
});

it.each([
  ["ses_0aaa1", "ses_0aaa1"],
  ["ses_0b", "ses_0bbb1"],
  ["0bbb", "ses_0bbb1"],
  ["last", "ses_0bbb1"],
])("resolves %s to %s", async (named, id) => {
  expect((await findSession(store, named)).id).toBe(id);
});

it.each([
  ["ses_0aaa", "usage", "2 sessions start with ses_0aaa: ses_0aaa2, ses_0aaa1; type more characters of the id"],
  ["ses_", "session_not_found", "no session ses_"],
  ["", "session_not_found", "no session"],
  ["ses_9", "session_not_found", "list all sessions: rookery sessions"],
])("rejects %j with %s", async (named, code, message) => {
  await expect(findSession(store, named)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});

it("rejects last in an empty log", async () => {
  await expect(findSession(openMemoryStore(), "last")).rejects.toThrow('rookery run "PROMPT"');
});

it("ignores newer child sessions for last", async () => {
  const own = openMemoryStore();
  const opened = {
    type: "session.opened" as const,
    at: "2026-01-01T00:00:00.000Z",
    agent: "a",
    backend: "api",
    cwd: "/",
  };
  const open = (sessionId: string, more: { parent?: string; depth?: number }) =>
    own.append({ sessionId, id: sessionId, expectedHead: 0, events: [{ ...opened, permissions: "ask", ...more }] });
  await open("ses_1", {});
  for (let child = 10; child < 40; child += 1) await open(`ses_2${child}`, { parent: "ses_1", depth: 1 });
  expect((await findSession(own, "last")).id).toBe("ses_1");
});
