import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { parseExposition } from "../../telemetry/test-exposition.ts";
import { call, say } from "../../testing/index.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp([say("hello there"), say("and again")]);
});
afterEach(() => scene[Symbol.asyncDispose]());

it("reports health to everyone, and its state to clients with the token", async () => {
  const stranger = await fetch(`${scene.server.url}/v1/health`);
  expect(await stranger.json()).toEqual({ ok: true, version: "1.2.3" });
  const { status, json } = await scene.get("/v1/health");
  expect(status).toBe(200);
  expect(json).toMatchObject({ ok: true, pid: process.pid, streams: 0, tasks: { queued: 0 } });
});

it("lists agents with the programs that they need", async () => {
  const { json } = await scene.get("/v1/agents");
  expect(json.agents).toContainEqual(expect.objectContaining({ name: "anthropic", backend: "api", isDefault: true }));
  expect(json.agents.find(({ name }) => name === "codex")).toHaveProperty("program.program", "codex");
  const nowhere = await scene.get("/v1/agents?cwd=%2Fnothing%2Fhere");
  expect(nowhere).toMatchObject({ status: 422, json: { code: "cwd_missing" } });
});

it("opens a session, runs a prompt, and returns its events as pages and as a stream", async () => {
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

it("lists pending requests and accepts an answer", async () => {
  await scene[Symbol.asyncDispose]();
  scene = await openHttp([call("bash", { command: "echo hi" }), say("done")]);
  const { id } = (await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json;
  await scene.post(`/v1/sessions/${id}/turns`, { input: "say hi" });
  await vi.waitFor(async () => expect((await scene.get("/v1/requests")).json.requests).toHaveLength(1));
  const [request] = (await scene.get(`/v1/sessions/${id}/requests`)).json.requests;
  expect(request).toMatchObject({ sessionId: id, kind: "permission", tool: "bash", input: { command: "echo hi" } });
  const path = `/v1/sessions/${id}/requests/${request?.requestId ?? ""}`;
  expect(await scene.post(path, { action: "accept" })).toMatchObject({ status: 400, json: { code: "usage" } });
  expect(await scene.post(path, { decision: "maybe" })).toMatchObject({
    status: 400,
    json: { code: "input_invalid", at: "body.decision", detail: expect.stringContaining('"allow"|"deny"') },
  });
  expect((await scene.post(`${path}x`, { decision: "deny" })).json).toMatchObject({ code: "request_not_found" });
  expect((await scene.post(path, { decision: "allow" })).status).toBe(200);
  await vi.waitFor(async () =>
    expect((await scene.get(`/v1/sessions/${id}`)).json).toMatchObject({ status: "idle", lastOutcome: "done" }),
  );
  expect(await scene.post(path, { decision: "allow" })).toMatchObject({
    status: 409,
    json: { code: "request_resolved" },
  });
  expect((await scene.get("/v1/requests")).json.requests).toEqual([]);
});

it("lists pending requests while one of the sessions is deleted", async () => {
  const { id } = (await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json;
  const summary = await scene.store.summary(id);
  if (summary === undefined) throw new Error("it was just opened");
  vi.spyOn(scene.store, "list").mockResolvedValueOnce([{ ...summary, id: "ses_gone", waitingFor: ["req_1"] }]);
  expect(await scene.get("/v1/requests")).toMatchObject({ status: 200, json: { requests: [] } });
});

it("refuses a second turn, queues an input, and cancels the running turn", async () => {
  await scene[Symbol.asyncDispose]();
  scene = await openHttp([call("bash", { command: "sleep 60" }), say("later")]);
  const { id } = (await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json;
  const path = `/v1/sessions/${id}`;
  await scene.post(`${path}/turns`, { input: "wait" });
  expect(await scene.post(`${path}/turns`, { input: "more" })).toMatchObject({
    status: 409,
    json: { code: "turn_in_progress" },
  });
  expect((await scene.post(`${path}/turns`, { input: "more", queue: true })).json).toHaveProperty("inputId");
  expect((await scene.post(`${path}/cancel`)).status).toBe(200);
  await vi.waitFor(async () => expect((await scene.get(path)).json).toMatchObject({ turns: 2, lastOutcome: "done" }));
  expect((await scene.post(`${path}/cancel`)).status).toBe(200);
});

it("withdraws a queued input before the agent receives it", async () => {
  await scene[Symbol.asyncDispose]();
  scene = await openHttp([call("bash", { command: "sleep 60" }), say("later")]);
  const { id } = (await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json;
  const path = `/v1/sessions/${id}`;
  await scene.post(`${path}/turns`, { input: "wait" });
  const { inputId } = (await scene.post(`${path}/turns`, { input: "more", deliver: "steer" })).json;
  for (let tries = 0; tries < 2; tries += 1)
    // a client may repeat it if the response was lost
    expect(await scene.call("DELETE", `${path}/inputs/${inputId}`)).toMatchObject({ status: 200, json: { id } });
  expect((await scene.post(`${path}/cancel`)).json).toMatchObject({ turns: 1, lastOutcome: "cancelled" });
  expect((await scene.get(`${path}/state`)).json).toMatchObject({ queue: [], turns: 1 });
});

it("reopens a stored session for a prompt", async () => {
  const { id } = (await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json;
  await scene.server.close();
  await using again = await scene.serve();
  const headers = { authorization: `Bearer ${again.token}`, "content-type": "application/json" };
  const body = JSON.stringify({ input: "hi" });
  const prompted = await fetch(`${again.url}/v1/sessions/${id}/turns`, { method: "POST", headers, body });
  expect(prompted.status).toBe(202);
  await vi.waitFor(async () => expect(await scene.store.summary(id)).toMatchObject({ lastOutcome: "done" }));
});

it("handles repeated requests with the same key once", async () => {
  const headers = { "idempotency-key": "once-and-never-again" };
  const body = { agent: "anthropic", cwd: scene.cwd };
  const [one, other] = await Promise.all([
    scene.post("/v1/sessions", body, { headers }),
    scene.post("/v1/sessions", body, { headers }),
  ]);
  expect(one.json.id).toBe(other.json.id);
  expect(await scene.post("/v1/sessions", {}, { headers })).toMatchObject({
    status: 400,
    json: { code: "input_invalid" },
  });
});

it("counts requests and logs a line for each", async () => {
  await scene.get("/v1/sessions?limit=1");
  const { text } = await scene.get("/metrics");
  expect(text).toContain('rookery_http_requests_total{method="GET",route="/v1/sessions",status="200"} 1');
  expect(text).toContain('rookery_http_request_duration_seconds_count{method="GET",route="/v1/sessions"} 1');
  expect(text).toContain('rookery_tasks{phase="queued"} 0');
  const families = parseExposition(text);
  expect([...families.keys()]).toEqual(
    expect.arrayContaining(["rookery_info", "rookery_streams", "rookery_uptime_seconds", "rookery_cluster_up"]),
  );
  const line = scene.lines.map((text) => JSON.parse(text) as object).find((fields) => "path" in fields);
  expect(line).toEqual({
    at: expect.any(String),
    method: "GET",
    path: "/v1/sessions",
    status: 200,
    ms: expect.any(Number),
    requestId: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
});
