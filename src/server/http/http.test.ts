import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { say } from "../../testing/index.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp([say("hello there"), say("and again")]);
});
afterEach(() => scene[Symbol.asyncDispose]());

it("says that it is there to everyone, and more to who has the token", async () => {
  const stranger = await fetch(`${scene.door.url}/v1/health`);
  expect(await stranger.json()).toEqual({ ok: true, version: "1.2.3" });
  const { status, json } = await scene.get("/v1/health");
  expect(status).toBe(200);
  expect(json).toMatchObject({ ok: true, pid: process.pid, streams: 0, tasks: { queued: 0 } });
});

it("lists the agents, with the programs they need", async () => {
  const { json } = await scene.get("/v1/agents");
  expect(json.agents).toContainEqual(expect.objectContaining({ name: "anthropic", backend: "api", isDefault: true }));
  expect(json.agents.find(({ name }) => name === "codex")).toHaveProperty("program.program", "codex");
});

it("opens a session, takes a prompt, and tells what came of it in pages and in a stream", async () => {
  const opened = await scene.post("/v1/sessions", { agent: "anthropic", title: "greeting", cwd: scene.cwd });
  expect(opened).toMatchObject({
    status: 201,
    json: { agent: "anthropic", title: "greeting", status: "idle", turns: 0 },
  });
  const path = `/v1/sessions/${opened.json.id}`;
  const live = await scene.stream(`${path}/events`);
  const prompted = await scene.post(`${path}/turns`, { input: "hi" });
  expect(prompted.status).toBe(202);
  await vi.waitFor(() => expect(live.events.some(({ data }) => data.includes('"turn.ended"'))).toBe(true));
  const page = await scene.get(`${path}/events?after=${prompted.json.seq - 1}`);
  expect(page.json.events[0]).toMatchObject({ type: "turn.started", turnId: prompted.json.turnId });
  const all = await scene.get(`${path}/events`);
  expect(live.events.map(({ data }): unknown => JSON.parse(data))).toEqual(all.json.events);
  expect(live.events.map(({ id }) => Number(id))).toEqual(all.json.events.map(({ seq }) => seq));
  await live.cancel();
  expect((await scene.get("/v1/sessions?status=idle&limit=1")).json).toMatchObject({
    sessions: [{ turns: 1 }],
    next: opened.json.id,
  });
  expect((await scene.post(`${path}/close`, { reason: "enough" })).json).toMatchObject({ status: "closed" });
  expect(await scene.post(`${path}/turns`, { input: "hi" })).toMatchObject({
    status: 409,
    json: { code: "session_closed" },
  });
});
