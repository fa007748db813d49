import { join } from "node:path";
import { expect, it } from "vitest";
import { newId, type EventDraft } from "../../domain/index.ts";
import { listWaitingRequests } from "../../session/waiting-requests.ts";
import { openSqliteStore } from "../../store/index.ts";
import { temporaryFolder } from "../../testing/index.ts";

const at = new Date().toISOString();
const OPENED: EventDraft = { type: "session.opened", at, agent: "a", backend: "api", cwd: "/", permissions: "ask" };
const STARTED: EventDraft = { type: "turn.started", at, agent: "a", turnId: "trn_1", input: [] };
const ASKED: EventDraft = {
  type: "permission.requested",
  at,
  agent: "a",
  turnId: "trn_1",
  requestId: "r1",
  toolId: "t",
  tool: "bash",
  title: "ls",
  kind: "execute",
  input: {},
};

it("finds a waiting request of an old session by its status, and reads the log of no other session", async () => {
  await using folder = await temporaryFolder();
  await using store = await openSqliteStore({ path: join(folder.path, "rookery.db") });
  const append = (events: EventDraft[]) =>
    store.append({ sessionId: newId("ses"), id: newId("app"), expectedHead: 0, events });
  await append([OPENED, STARTED, ASKED]);
  for (let index = 0; index < 1_100; index += 1) await append([OPENED]);
  const read: string[] = [];
  const counting = new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (name !== "read" || typeof value !== "function") return value;
      return (query: { sessionId: string }) => {
        read.push(query.sessionId);
        return (value as (query: unknown) => unknown).call(target, query);
      };
    },
  });
  expect(await listWaitingRequests(counting)).toMatchObject([{ requestId: "r1", title: "ls" }]);
  expect(new Set(read).size).toBe(1);
});
