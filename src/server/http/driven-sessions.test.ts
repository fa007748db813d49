import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Session } from "../../session/index.ts";
import { DONE, openScriptedSession } from "../../session/test-scripted-session.ts";
import { call, say, temporaryRepository } from "../../testing/index.ts";
import { DrivenSessions } from "./driven-sessions.ts";
import type { ServedRookery } from "./served-rookery.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp(() => say("hello"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await scene[Symbol.asyncDispose]();
});

const openSession = async (): Promise<string> =>
  (await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json.id;

/** Blocks every prompt until `open` is called, like an MCP server that is slow to expand a prompt. */
function holdInputs() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const held = vi.spyOn(Session.prototype, "expand").mockImplementation(async (input) => {
    await opened;
    return input;
  });
  return { held, open };
}

it("keeps sessions with a running prompt open beyond the idle limit", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 18; count += 1) ids.push(await openSession());
  const { held, open } = holdInputs();
  const prompting = ids.map((id) => scene.post(`/v1/sessions/${id}/turns`, { input: "hi" }));
  await vi.waitFor(() => expect(held).toHaveBeenCalledTimes(18));
  await openSession();
  open();
  expect((await Promise.all(prompting)).map(({ status }) => status)).toEqual(ids.map(() => 202));
});

it("keeps at most 16 idle sessions open", async () => {
  for (let count = 0; count < 20; count += 1) await openSession();
  await vi.waitFor(async () => expect((await scene.get("/v1/health")).json).toMatchObject({ drivenSessions: 16 }));
});

it("rejects a prompt with store_unavailable when too many sessions are busy", async () => {
  await using sessions = new DrivenSessions(scene.rookery, { maxBusy: 1 });
  const [one, other] = [await sessions.open({ agent: "anthropic" }), await sessions.open({ agent: "anthropic" })];
  const { held, open } = holdInputs();
  const prompting = sessions.prompt(one, "hi");
  await vi.waitFor(() => expect(held).toHaveBeenCalled());
  await expect(sessions.prompt(other, "hi")).rejects.toMatchObject({ code: "store_unavailable" });
  open();
  await prompting;
  await expect(sessions.prompt(one, "hi")).rejects.toMatchObject({ code: "turn_in_progress" });
});

it("rejects a prompt during close with session_closed", async () => {
  const id = await openSession();
  let finish = (): void => undefined;
  const ending = vi.spyOn(Session.prototype, "end");
  vi.spyOn(Session.prototype, "cancel").mockImplementationOnce(async function (this: Session) {
    await new Promise<void>((resolve) => (finish = resolve));
    await this.cancel();
  });
  const closed = scene.post(`/v1/sessions/${id}/close`);
  await vi.waitFor(() => expect(ending).toHaveBeenCalled());
  const prompted = scene.post(`/v1/sessions/${id}/turns`, { input: "hi" });
  await scene.get("/v1/health");
  finish();
  expect((await closed).json).toMatchObject({ status: "closed" });
  expect(await prompted).toMatchObject({ status: 409, json: { code: "session_closed" } });
});

it("leaves a turn parked that waits for a usage limit to reset", async () => {
  const resetsAt = new Date(Date.parse("2026-01-01T01:00:00.000Z")).toISOString();
  const limited = { status: "limited" as const, message: "limit reached", resetsAt };
  let asked = 0;
  await using played = await openScriptedSession(() => Promise.resolve((asked += 1) === 1 ? limited : DONE));
  const { session, store } = played;
  const rookery = { store, openSession: () => Promise.resolve(session) } as unknown as ServedRookery;
  const sessions = new DrivenSessions(rookery);
  await sessions.prompt(await sessions.open({}), "go");
  await vi.waitFor(async () => expect(await store.summary(session.id)).toMatchObject({ status: "parked" }));
  await sessions[Symbol.asyncDispose]();
  expect(await store.summary(session.id)).toMatchObject({ status: "parked" });
});

describe("a session of a task", () => {
  it("is released when its task resumes, even if a client has prompted it", async () => {
    await using repository = await temporaryRepository();
    await scene.post("/v1/tasks", { prompt: "go", id: "a", cwd: repository.path, agent: "anthropic" });
    await scene.rookery.runTasks({ only: "a" });
    const [session] = await scene.store.list({ task: "a" });
    const path = `/v1/sessions/${session?.id ?? ""}`;
    expect(await scene.post(`${path}/turns`, { input: "and you?" })).toMatchObject({ status: 202 });
    await vi.waitFor(async () => expect((await scene.get(path)).json).toMatchObject({ turns: 2, status: "idle" }));
    expect(await scene.post("/v1/tasks/a/resume", { prompt: "go on" })).toMatchObject({ status: 200 });
    await scene.rookery.runTasks({ only: "a" });
    expect((await scene.get("/v1/tasks/a")).json).toMatchObject({ status: "done", sessions: [{ id: session?.id }] });
  });

  it("accepts steering input but no prompt while its task runs", async () => {
    await using repository = await temporaryRepository();
    await scene[Symbol.asyncDispose]();
    scene = await openHttp([call("bash", { command: "true" }), say("as you wish")]);
    await scene.post("/v1/tasks", { prompt: "go", id: "a", cwd: repository.path, agent: "anthropic" });
    const running = scene.rookery.runTasks({ only: "a" });
    await vi.waitFor(async () => expect((await scene.store.list({ task: "a", status: "waiting" }))[0]).toBeDefined());
    const [session] = await scene.store.list({ task: "a" });
    const path = `/v1/sessions/${session?.id ?? ""}`;
    expect(await scene.post(`${path}/turns`, { input: "hi" })).toMatchObject({
      status: 409,
      json: { code: "session_in_use", detail: expect.stringContaining('`rookery tell a "…"`') as string },
    });
    expect(await scene.post(`${path}/turns`, { input: "rather so", deliver: "steer" })).toMatchObject({ status: 202 });
    await scene.post(`${path}/requests/r1`, { decision: "allow" });
    await running;
    expect((await scene.get("/v1/tasks/a")).json).toMatchObject({ status: "done" });
    const { events } = (await scene.get(`${path}/events`)).json;
    expect(events.map(({ type }) => type)).toContain("input.delivered");
  });

  it("cannot be deleted while its task runs", async () => {
    await using repository = await temporaryRepository();
    await scene[Symbol.asyncDispose]();
    scene = await openHttp([call("bash", { command: "sleep 60" })]);
    const task = { prompt: "go", id: "a", cwd: repository.path, agent: "anthropic", permissions: "all" };
    await scene.post("/v1/tasks", task);
    const over = new AbortController();
    const running = scene.rookery.runTasks({ signal: over.signal });
    await vi.waitFor(async () => expect((await scene.store.list({ task: "a", status: "running" }))[0]).toBeDefined());
    const [session] = await scene.store.list({ task: "a" });
    const deleted = await scene.call("DELETE", `/v1/sessions/${session?.id ?? ""}`);
    expect(deleted).toMatchObject({ status: 409, json: { code: "session_in_use" } });
    expect((await scene.get("/v1/tasks/a")).json).toMatchObject({ status: "running" });
    over.abort();
    await running;
  });
});
