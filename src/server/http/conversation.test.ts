import { afterEach, expect, it, vi } from "vitest";
import { newId, type EventDraft } from "../../domain/index.ts";
import { Rookery } from "../../rookery.ts";
import { createTask, sessionOpened, TASK } from "../../store/contract/scene.ts";
import { call, say, type Script } from "../../testing/index.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
afterEach(() => scene[Symbol.asyncDispose]());

const NOW = new Date().toISOString();
const WAITS = call("bash", { command: "sleep 60" });

async function opened(script: Script): Promise<string> {
  scene = await openHttp(script);
  const { id } = (await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json;
  return `/v1/sessions/${id}`;
}

async function typesOf(path: string): Promise<string[]> {
  return (await scene.get(`${path}/events`)).json.events.map(({ type }) => type);
}

async function isIdle(path: string, turns: number): Promise<void> {
  await vi.waitFor(async () => expect((await scene.get(path)).json).toMatchObject({ status: "idle", turns }));
}

it("delivers steering input to the running turn at its next step", async () => {
  const path = await opened([call("bash", { command: "true" }), say("as you wish")]);
  await scene.post(`${path}/turns`, { input: "go" });
  await vi.waitFor(async () => expect((await scene.get(path)).json).toMatchObject({ status: "waiting" }));
  const told = await scene.post(`${path}/turns`, { input: "rather so", deliver: "steer" });
  expect(told).toMatchObject({ status: 202, json: { inputId: expect.stringMatching(/^inp_/) as string } });
  await scene.post(`${path}/requests/r1`, { decision: "allow" });
  await isIdle(path, 1);
  expect(await typesOf(path)).toContain("input.delivered");
});

it("queues input for a session that another process drives, and refuses a prompt", async () => {
  const path = await opened([say("one")]);
  await using other = await Rookery.open({ env: scene.env, cwd: scene.cwd, store: scene.store });
  const session = await other.openSession({ agent: "anthropic" });
  const driven = `/v1/sessions/${session.id}`;
  expect(path).not.toBe(driven);
  expect((await scene.post(`${driven}/turns`, { input: "hi" })).json).toMatchObject({ code: "session_in_use" });
  expect((await scene.post(`${driven}/turns`, { input: "hi", queue: true })).status).toBe(202);
  await isIdle(driven, 1);
  expect(session.state.turns).toBe(1);
});

it("cancels a turn that another process drives, and responds when its end is durable", async () => {
  await opened([WAITS, say("two")]);
  await using other = await Rookery.open({ env: scene.env, cwd: scene.cwd, store: scene.store });
  const session = await other.openSession({ agent: "anthropic", permissions: "all" });
  const driven = `/v1/sessions/${session.id}`;
  expect(await scene.post(`${driven}/cancel`)).toMatchObject({ status: 200, json: { turns: 0 } });
  const { outcome } = session.prompt("go");
  await vi.waitFor(async () => expect(await typesOf(driven)).toContain("tool.started"));
  const cancelled = await scene.post(`${driven}/cancel`);
  expect(cancelled).toMatchObject({ status: 200, json: { status: "idle", lastOutcome: "cancelled" } });
  expect(await outcome).toEqual({ status: "cancelled" });
  expect(await scene.post(`${driven}/cancel`)).toMatchObject({ status: 200, json: { turns: 1 } });
  expect((await typesOf(driven)).filter((type) => type === "turn.cancel_requested")).toHaveLength(1);
});

it("cancels a turn that a dead process left", async () => {
  await opened([]);
  const id = await scene.written(0);
  const started: EventDraft = { type: "turn.started", turnId: "trn_left", input: [], agent: "a", at: NOW };
  await scene.store.append({ sessionId: id, id: "app_left", expectedHead: 1, events: [started] });
  const cancelled = await scene.post(`/v1/sessions/${id}/cancel`);
  expect(cancelled).toMatchObject({ status: 200, json: { status: "idle", lastOutcome: "cancelled" } });
});

it("refuses to cancel a turn of a task, and says how to stop the task", async () => {
  await opened([]);
  await createTask(scene.store);
  const id = newId("ses");
  const events: EventDraft[] = [
    sessionOpened({ task: TASK }),
    { type: "turn.started", turnId: "trn_task", input: [], agent: "a", at: NOW },
  ];
  await scene.store.append({ sessionId: id, id: "app_task", expectedHead: 0, events });
  const { status, json } = await scene.post(`/v1/sessions/${id}/cancel`);
  expect({ status, code: json.code }).toEqual({ status: 409, code: "session_in_use" });
  expect(json.detail).toContain(`rookery task stop ${TASK}`);
  expect(await typesOf(`/v1/sessions/${id}`)).not.toContain("turn.cancel_requested");
});

it("revokes a permission that was given for the session, even if another process drives it", async () => {
  await opened(Array.from({ length: 4 }, () => [call("bash", { command: "true" }), say("ran")]).flat());
  await using other = await Rookery.open({ env: scene.env, cwd: scene.cwd, store: scene.store });
  const session = await other.openSession({ agent: "anthropic", permissions: "ask" });
  const driven = `/v1/sessions/${session.id}`;
  const countRequests = async () => (await typesOf(driven)).filter((type) => type === "permission.requested").length;
  const runTurn = async () => {
    for await (const event of session.prompt("go")) {
      if (event.type !== "permission.requested") continue;
      await scene.post(`${driven}/requests/${event.requestId}`, { decision: "allow", scope: "session" });
    }
  };
  await runTurn();
  await runTurn();
  expect(await countRequests()).toBe(1);
  for (const tool of ["bash", "bash", "absent"]) {
    expect(await scene.call("DELETE", `${driven}/grants/${tool}`)).toMatchObject({ status: 200 });
  }
  expect((await typesOf(driven)).filter((type) => type === "permission.revoked")).toHaveLength(1);
  expect((await scene.get(`${driven}/state`)).json).toMatchObject({ grants: [] });
  await runTurn();
  expect(await countRequests()).toBe(2);
  await session.end();
  expect((await scene.call("DELETE", `${driven}/grants/bash`)).json.code).toBe("session_closed");
  expect((await scene.call("DELETE", "/v1/sessions/ses_absent/grants/bash")).json.code).toBe("session_not_found");
});

it("allows commands by a prefix, refuses one that does not fit, and revokes exactly one", async () => {
  const commands = ["echo one", "echo two", "echo one; echo two", "echo one", "echo two"];
  await opened(commands.flatMap((command) => [call("bash", { command }), say("ran")]));
  await using other = await Rookery.open({ env: scene.env, cwd: scene.cwd, store: scene.store });
  const session = await other.openSession({ agent: "anthropic", permissions: "ask" });
  const driven = `/v1/sessions/${session.id}`;
  const answer = async (requestId: string, prefix: string) =>
    scene.post(`${driven}/requests/${requestId}`, { decision: "allow", scope: "session", prefix });
  const runTurn = async (prefix: string): Promise<number[]> => {
    const statuses: number[] = [];
    for await (const event of session.prompt("go")) {
      if (event.type !== "permission.requested") continue;
      const { status, json } = await answer(event.requestId, prefix);
      statuses.push(status);
      if (status === 200) continue;
      expect(json.code).toBe("usage");
      await scene.post(`${driven}/requests/${event.requestId}`, { decision: "deny" });
    }
    return statuses;
  };
  expect(await runTurn("echo one")).toEqual([200]);
  expect(await runTurn("echo two")).toEqual([200]);
  expect(await runTurn("echo one")).toEqual([400]);
  const revoke = async (prefix: string) =>
    scene.call("DELETE", `${driven}/grants/bash?prefix=${encodeURIComponent(prefix)}`);
  for (const prefix of ["echo two", "echo two", "echo three"])
    expect(await revoke(prefix)).toMatchObject({ status: 200 });
  expect((await typesOf(driven)).filter((type) => type === "permission.revoked")).toHaveLength(1);
  const { json } = await scene.get(`${driven}/state`);
  expect(json).toMatchObject({ grants: [], commandGrants: [{ tool: "bash", prefix: "echo one" }] });
  expect(await runTurn("echo one")).toEqual([]);
  expect(await runTurn("echo two")).toEqual([200]);
  await session.end();
});

it("changes the agent or the policy after the running turn, and rejects invalid changes", async () => {
  const path = await opened([WAITS, say("two")]);
  expect((await scene.call("PATCH", path, { permissions: "all" })).json).toMatchObject({ status: "idle" });
  await scene.post(`${path}/turns`, { input: "go" });
  await vi.waitFor(async () => expect(await typesOf(path)).toContain("tool.started"));
  const changing = scene.call("PATCH", path, { model: "anthropic/claude-other" });
  await scene.post(`${path}/cancel`);
  expect(await changing).toMatchObject({ status: 200, json: { model: "anthropic/claude-other" } });
  expect(await scene.call("PATCH", path, { agent: "nobody" })).toMatchObject({
    status: 422,
    json: { code: "agent_unknown" },
  });
  expect((await scene.call("PATCH", path, { colour: "red" })).status).toBe(400);
});

it("opens a session with messages, and refuses messages that no model takes", async () => {
  scene = await openHttp([say("of prey")]);
  const open = (messages: unknown) => scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd, messages });
  const question = { role: "user", text: "a bird?" };
  const calling = { role: "assistant", text: "", toolCalls: [{ toolId: "c1", name: "look", input: { at: "it" } }] };
  const results = { role: "tool", results: [{ toolId: "c1", text: "it is" }] };
  expect(await open([question, calling])).toMatchObject({ status: 400, json: { code: "input_invalid" } });
  expect(await open([{ role: "system", text: "a" }])).toMatchObject({ status: 400 });
  const lost = { role: "user", parts: [{ type: "blob", hash: "none", mediaType: "image/png" }] };
  expect((await open([lost])).json).toMatchObject({ code: "attachment_missing" });
  expect((await scene.get("/v1/sessions")).json.sessions).toEqual([]);
  const { status, json } = await open([question, calling, results]);
  expect(status).toBe(201);
  await scene.post(`/v1/sessions/${json.id}/turns`, { input: "which?" });
  await isIdle(`/v1/sessions/${json.id}`, 1);
  expect(JSON.stringify(scene.model.requests[0]?.body)).toContain("it is");
});

it("replaces the conversation of a session", async () => {
  const path = await opened([WAITS, say("two")]);
  await scene.call("PATCH", path, { permissions: "all" });
  await scene.post(`${path}/turns`, { input: "go" });
  await vi.waitFor(async () => expect(await typesOf(path)).toContain("tool.started"));
  const messages = [
    { role: "user", text: "the other question" },
    { role: "assistant", text: "the other answer" },
  ];
  const put = await scene.call("PUT", `${path}/conversation`, { messages });
  expect(put).toMatchObject({ status: 200, json: { status: "idle", lastOutcome: "cancelled" } });
  await scene.post(`${path}/turns`, { input: "next" });
  await isIdle(path, 2);
  expect(scene.model.requests.at(-1)!.messages.map(({ text }) => text)).toEqual([
    "the other question",
    "the other answer",
    "next",
  ]);
  expect(await scene.call("PUT", `${path}/conversation`, { messages: [{ role: "user", text: "" }] })).toMatchObject({
    status: 400,
    json: { code: "input_invalid" },
  });
});

it("forks a session that accepts prompts", async () => {
  const path = await opened([say("one"), say("two")]);
  await scene.post(`${path}/turns`, { input: "first" });
  await isIdle(path, 1);
  const forked = await scene.post(`${path}/fork`, { title: "another way" });
  expect(forked).toMatchObject({
    status: 201,
    json: { title: "another way", turns: 1, parent: path.split("/").at(-1) },
  });
  await scene.post(`/v1/sessions/${forked.json.id}/turns`, { input: "second" });
  await isIdle(`/v1/sessions/${forked.json.id}`, 2);
  expect((await scene.get(path)).json).toMatchObject({ turns: 1 });
  expect((await scene.post("/v1/sessions/ses_nothing/fork", {})).json).toMatchObject({ code: "session_not_found" });
});
