/** Retries with an idempotency key after a kill: the next server knows only the store. */
import { expect, it, vi } from "vitest";
import { newId, type Store } from "../../domain/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { call, say, temporaryRepository } from "../../testing/index.ts";
import type { HttpOptions } from "./index.ts";
import { openHttp } from "./test-scene.ts";

const NOW = new Date().toISOString();

/** Stores no responses, as if each server were killed between the effect and the response. */
function withoutResponses(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "keepResponse") return () => Promise.resolve();
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

async function openRepeated(model: "talking" | "asking" = "talking", options: Partial<HttpOptions> = {}) {
  const scene = await openHttp(() => (model === "asking" ? call("bash", { command: "true" }) : say("Hello.")), {
    ...options,
    store: withoutResponses(openMemoryStore()),
  });
  /** Sends a request with an idempotency key to this server or to the next one. */
  const send = async (server: { url: string; token: string }, method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
    const request = {
      method,
      headers: { ...headers, "idempotency-key": `key-of-${method}-${path.replaceAll(/\W/g, "-")}` },
    };
    const response = await fetch(server.url + path, { ...request, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  return { scene, send };
}

it("repeats the response of a deletion instead of session_not_found", async () => {
  const { scene, send } = await openRepeated();
  await using _ = scene;
  const { id } = (await scene.post("/v1/sessions", { cwd: scene.cwd, permissions: "ask" })).json;
  const first = await send(scene.server, "DELETE", `/v1/sessions/${id}`);
  expect(first).toEqual({ status: 200, json: { id } });
  await scene.server[Symbol.asyncDispose]();
  await using next = await scene.serve();
  expect(await send(next, "DELETE", `/v1/sessions/${id}`)).toEqual(first);
  expect(await scene.store.summary(id)).toBeUndefined();
});

it("repeats the response of a stop without stopping the task again", async () => {
  const { scene, send } = await openRepeated();
  await using _ = scene;
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  const task = { prompt: "work", cwd: repository.path, agent: "anthropic" };
  const created = await scene.post("/v1/tasks", task);
  expect(created.json).toMatchObject({ status: "queued" });
  const { id } = created.json;
  const first = await send(scene.server, "POST", `/v1/tasks/${id}/stop`, {});
  expect(first).toMatchObject({ status: 200, json: { id } });
  await scene.server[Symbol.asyncDispose]();
  await using next = await scene.serve();
  expect(await send(next, "POST", `/v1/tasks/${id}/stop`, {})).toMatchObject({ status: 200, json: { id } });
  const { events } = await scene.store.readTask({ taskId: id });
  expect(events.filter(({ type }) => type === "task.stop_asked")).toHaveLength(1);
});

it("does not cancel a later turn when a cancellation is repeated", async () => {
  const { scene, send } = await openRepeated("asking");
  await using _ = scene;
  const { id } = (await scene.post("/v1/sessions", { cwd: scene.cwd, permissions: "ask" })).json;
  const path = `/v1/sessions/${id}`;
  await scene.post(`${path}/turns`, { input: "wait" });
  expect(await send(scene.server, "POST", `${path}/cancel`, {})).toMatchObject({ status: 200, json: { id } });
  await scene.server[Symbol.asyncDispose]();
  await using next = await scene.serve();
  expect((await send(next, "POST", `${path}/turns`, { input: "wait" })).status).toBe(202);
  expect(await send(next, "POST", `${path}/cancel`, {})).toMatchObject({ status: 200, json: { id } });
  const { events } = await scene.store.read({ sessionId: id });
  expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(2);
  expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(1);
});

it("does not respond to a repeated cancellation before the turn of another process has ended", async () => {
  const { scene, send } = await openRepeated("talking", { times: { grace: 1 } });
  await using _ = scene;
  const id = await scene.written(0);
  const started = { type: "turn.started" as const, turnId: "trn_theirs", input: [], agent: "a", at: NOW };
  await scene.store.append({ sessionId: id, id: newId("app"), expectedHead: 1, events: [started] });
  const now = Date.now();
  const lease = await scene.store.acquireLease({ sessionId: id, owner: "another", now, until: now + 60_000 });
  const path = `/v1/sessions/${id}/cancel`;
  const first = send(scene.server, "POST", path, {}).catch(() => undefined);
  for await (const { type } of scene.store.follow({ sessionId: id, after: 0 }))
    if (type === "turn.cancel_requested") break;
  await scene.server[Symbol.asyncDispose](); // the turn still runs
  await first;
  await scene.store.releaseLease(lease); // now its process is gone, too
  await using next = await scene.serve();
  expect(await send(next, "POST", path, {})).toMatchObject({ status: 200, json: { status: "idle" } });
  const { events } = await scene.store.read({ sessionId: id });
  expect(events.map(({ type }) => type).slice(1)).toEqual(["turn.started", "turn.cancel_requested", "turn.ended"]);
});

it("repeats the response of a withdrawal, and its refusal if the agent got the input first", async () => {
  const { scene, send } = await openRepeated("asking");
  await using _ = scene;
  const { id } = (await scene.post("/v1/sessions", { cwd: scene.cwd, permissions: "ask" })).json;
  const path = `/v1/sessions/${id}`;
  await scene.post(`${path}/turns`, { input: "wait" });
  const queue = async () => (await scene.post(`${path}/turns`, { input: "more", queue: true })).json.inputId;
  const [withdrawn, delivered] = [await queue(), await queue()];
  const appendAtHead = scene.store.appendAtHead.bind(scene.store);
  const deliverFirst: typeof appendAtHead = async (given) => {
    const at = new Date().toISOString();
    const event = { type: "input.delivered" as const, inputId: delivered, input: [], agent: "anthropic", at };
    await appendAtHead({ sessionId: id, id: newId("app"), decide: () => [event] });
    return appendAtHead(given);
  };
  const first = await send(scene.server, "DELETE", `${path}/inputs/${withdrawn}`);
  expect(first).toMatchObject({ status: 200, json: { id } });
  const spy = vi.spyOn(scene.store, "appendAtHead").mockImplementationOnce(deliverFirst);
  const refused = await send(scene.server, "DELETE", `${path}/inputs/${delivered}`);
  spy.mockRestore();
  expect(refused).toMatchObject({ status: 409, json: { code: "input_not_queued" } });
  await scene.server[Symbol.asyncDispose]();
  await using next = await scene.serve();
  expect(await send(next, "DELETE", `${path}/inputs/${withdrawn}`)).toMatchObject({ status: 200, json: { id } });
  expect(await send(next, "DELETE", `${path}/inputs/${delivered}`)).toMatchObject({ status: 409 });
});

it("keeps settings that another client changed since when a change is repeated", async () => {
  const { scene, send } = await openRepeated();
  await using _ = scene;
  const { id } = (await scene.post("/v1/sessions", { cwd: scene.cwd, permissions: "ask" })).json;
  const path = `/v1/sessions/${id}`;
  const changed = async () => {
    const { events } = await scene.store.read({ sessionId: id });
    return events.flatMap((event) => (event.type === "session.opened" ? [event.permissions] : []));
  };
  expect(await send(scene.server, "PATCH", path, { permissions: "all" })).toMatchObject({ status: 200, json: { id } });
  await scene.server[Symbol.asyncDispose]();
  await using next = await scene.serve();
  const headers = { authorization: `Bearer ${next.token}`, "content-type": "application/json" };
  await fetch(next.url + path, { method: "PATCH", headers, body: JSON.stringify({ permissions: "read" }) });
  expect(await changed()).toEqual(["ask", "all", "read"]);
  expect(await send(next, "PATCH", path, { permissions: "all" })).toMatchObject({ status: 200, json: { id } });
  expect(await changed()).toEqual(["ask", "all", "read"]);
});

it("does not merge commits added after a merge when the merge is repeated", async () => {
  const { scene, send } = await openRepeated();
  await using _ = scene;
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  const task = { prompt: "work", cwd: repository.path, agent: "anthropic" };
  const { id } = (await scene.post("/v1/tasks", task)).json;
  await scene.rookery.runTasks({ only: id });
  const { worktree } = await scene.rookery.tasks.show(id);
  const commit = (name: string) =>
    repository.git("-C", worktree?.path ?? "", "commit", "--quiet", "--allow-empty", `--message=${name}`);
  await commit("first");
  const first = await send(scene.server, "POST", `/v1/tasks/${id}/merge`, {});
  expect(first).toMatchObject({ status: 200, json: { outcome: "merged", commits: 1 } });
  await commit("second");
  await scene.server[Symbol.asyncDispose]();
  await using next = await scene.serve();
  const again = await send(next, "POST", `/v1/tasks/${id}/merge`, {});
  expect(again).toMatchObject({ status: 200, json: { outcome: "merged", commit: first.json["commit"] } });
  const { events } = await scene.store.readTask({ taskId: id });
  expect(events.filter(({ type }) => type === "merge.asked")).toHaveLength(1);
});
