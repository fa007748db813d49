import { afterEach, beforeEach, expect, it } from "vitest";
import { applyAll, newId, type EventDraft, type SessionEvent, type SessionState } from "../../domain/index.ts";
import { loadState } from "../../session/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { SessionStates } from "./session-states.ts";
import { appendNotices, openHttp, writeSession, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp();
});
afterEach(() => scene[Symbol.asyncDispose]());

const AT = "2026-01-01T00:00:00.000Z";
const turn = { at: AT, agent: "a", turnId: "t" };
const EVENTS: readonly EventDraft[] = [
  { ...turn, type: "turn.started", input: [{ type: "text", text: "go" }] },
  { ...turn, type: "tool.started", toolId: "c", name: "bash", title: "ls", kind: "execute", input: {} },
  {
    ...turn,
    type: "permission.requested",
    requestId: "r",
    toolId: "c",
    tool: "bash",
    kind: "execute",
    title: "ls",
    input: {},
  },
  { ...turn, type: "permission.resolved", requestId: "r", decision: "allow", scope: "session", by: "person" },
  { ...turn, type: "usage.reported", inputTokens: 3, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 },
  { ...turn, type: "budget.set", of: "task", budget: { usd: 1 }, elsewhere: { usd: 0.5 } },
  { at: AT, agent: "a", type: "input.queued", inputId: "i", input: [{ type: "text", text: "next" }] },
];

const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

it("returns the folded state, from which later events continue", async () => {
  const { store } = scene;
  const sessionId = await scene.written(3);
  await store.append({ sessionId, id: newId("app"), expectedHead: 4, events: EVENTS });
  const { json } = await scene.get(`/v1/sessions/${sessionId}/state`);
  expect(json).toEqual(toJson(await loadState(store, sessionId)));
  expect(json).toMatchObject({ head: 11, turn: { id: "t" }, grants: ["bash"], queue: [{ inputId: "i" }] });
  const ended: EventDraft = { ...turn, type: "turn.ended", outcome: { status: "done" } };
  await store.append({ sessionId, id: newId("app"), expectedHead: 11, events: [ended] });
  const page = await scene.get(`/v1/sessions/${sessionId}/events?after=11`);
  const continued = applyAll(json as unknown as SessionState, page.json.events as unknown as SessionEvent[]);
  expect(toJson(continued)).toEqual((await scene.get(`/v1/sessions/${sessionId}/state`)).json);
});

it("responds with session_not_found for an unknown session, and refuses invalid ids", async () => {
  expect(await scene.get("/v1/sessions/ses_none/state")).toMatchObject({
    status: 404,
    json: { code: "session_not_found" },
  });
  for (const id of ["..%2f..%2fetc", "a%00b", "x".repeat(500), "-"])
    expect(await scene.get(`/v1/sessions/${id}/state`)).toMatchObject({ status: 400, json: { code: "input_invalid" } });
});

it("reads only the new events of a long log, and shares one read between requests", async () => {
  await using store = openMemoryStore();
  const sessionId = await writeSession(store, 4_999);
  const reads: (number | undefined)[] = [];
  const states = new SessionStates({
    read: (query) => {
      reads.push(query.after);
      return store.read(query);
    },
  });
  const [one, other] = await Promise.all([states.read(sessionId, 5_000), states.read(sessionId, 5_000)]);
  expect(other).toBe(one);
  expect(reads).toEqual([0, 1_000, 2_000, 3_000, 4_000]);
  await appendNotices(store, sessionId, 5_000, 2);
  reads.length = 0;
  expect(await states.read(sessionId, 5_002)).toEqual(await loadState(store, sessionId));
  expect(reads).toEqual([5_000]);
});

it("does not answer with an older state that a slower request is still reading", async () => {
  await using store = openMemoryStore();
  const sessionId = await writeSession(store, 9);
  let appended = false;
  const states = new SessionStates({
    read: async (query) => {
      const page = await store.read(query);
      if (!appended) await appendNotices(store, sessionId, 10, 5);
      appended = true;
      return page;
    },
  });
  const early = states.read(sessionId, 10);
  const late = states.read(sessionId, 15);
  expect((await early).head).toBe(10);
  expect((await late).head).toBe(15);
});

it("pages through the events backwards, from the end to the first", async () => {
  const sessionId = await scene.written(25);
  const path = `/v1/sessions/${sessionId}/events?order=newest_first&limit=10`;
  const pages: number[][] = [];
  for (let before = ""; ;) {
    const { json } = await scene.get(path + before);
    expect(json.head).toBe(26);
    if (json.events.length === 0) break;
    pages.push(json.events.map(({ seq }) => seq));
    before = `&before=${json.events.at(-1)?.seq}`;
  }
  expect(pages.map((page) => [page[0], page.at(-1)])).toEqual([
    [26, 17],
    [16, 7],
    [6, 1],
  ]);
  const forwards = await scene.get(`/v1/sessions/${sessionId}/events?after=2&before=5`);
  expect(forwards.json.events.map(({ seq }) => seq)).toEqual([3, 4]);
});

it("limits the bytes of a page backwards, which has at least one event", async () => {
  const sessionId = await scene.written(1);
  const text = "x".repeat(50_000);
  const large = Array.from({ length: 5 }, (): EventDraft => ({ ...turn, type: "message.delta", messageId: "m", text }));
  await scene.store.append({ sessionId, id: newId("app"), expectedHead: 2, events: large });
  const path = `/v1/sessions/${sessionId}/events?order=newest_first`;
  const page = await scene.get(`${path}&maxBytes=120000`);
  expect(page.json.events.map(({ seq }) => seq)).toEqual([7, 6]);
  expect((await scene.get(`${path}&maxBytes=0`)).json.events).toHaveLength(1);
  expect((await scene.get(`${path}&maxBytes=999999999999999&limit=999999999999999`)).json.events).toHaveLength(7);
});

it("refuses bad orders and cursors, and reading a stream backwards", async () => {
  const sessionId = await scene.written(1);
  for (const query of ["order=random", "before=-1", "before=1e9", "maxBytes=x", "before=1&before=2"])
    expect(await scene.get(`/v1/sessions/${sessionId}/events?${query}`)).toMatchObject({ status: 400 });
  for (const query of ["order=newest_first", "before=2"]) {
    const { response } = await scene.stream(`/v1/sessions/${sessionId}/events?${query}`);
    expect(response.status).toBe(400);
  }
  expect(await scene.get("/v1/events?order=newest_first")).toMatchObject({ status: 400 });
});
