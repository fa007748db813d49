import { request, type IncomingMessage } from "node:http";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { IdempotentRequests } from "./idempotent-requests.ts";
import type { RouteResponse } from "./response.ts";
import { appendNotices, openHttp, type HttpScene } from "./test-scene.ts";

const GRACE_MS = 20_000;

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp([], { times: { grace: GRACE_MS } });
});
afterEach(() => scene[Symbol.asyncDispose]());

it("closes without waiting for a stalled reader", async () => {
  const sessionId = await scene.written(0);
  const headers = { authorization: `Bearer ${scene.server.token}`, accept: "text/event-stream" };
  const stalled = await new Promise<IncomingMessage>((resolve) => {
    request(`${scene.server.url}/v1/sessions/${sessionId}/events`, { headers, agent: false }, resolve).end();
  });
  stalled.on("error", () => undefined).pause();
  await appendNotices(scene.store, sessionId, 1, 100_000);
  const sent = async () => Number(/^rookery_stream_bytes_total (\d+)$/m.exec((await scene.get("/metrics")).text)?.[1]);
  let before = 0;
  await vi.waitFor(
    async () => {
      const now = await sent();
      const isStill = now > 0 && now === before;
      before = now;
      expect(isStill).toBe(true);
    },
    { timeout: 10_000, interval: 200 },
  );
  const begun = performance.now();
  await scene.server.close();
  expect(performance.now() - begun).toBeLessThan(GRACE_MS / 2);
});

it("waits on close for work whose client has disconnected", async () => {
  let done = (): void => undefined;
  const remove = vi.fn(
    () => new Promise<{ id: string; freed: number }>((resolve) => (done = () => resolve({ id: "a", freed: 0 }))),
  );
  vi.spyOn(scene.rookery, "tasks", "get").mockReturnValue({ ...scene.rookery.tasks, remove });
  const leaving = new AbortController();
  const asked = scene.call("DELETE", "/v1/tasks/a", undefined, { signal: leaving.signal });
  await vi.waitFor(() => expect(remove).toHaveBeenCalled());
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await vi.waitFor(() => expect(scene.lines.join("\n")).toContain('"status":499'));
  let isClosed = false;
  const closed = scene.server.close().then(() => (isClosed = true));
  await vi.waitFor(() => expect(fetch(`${scene.server.url}/v1/health`)).rejects.toThrow());
  await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  done();
  await closed;
});

it("forgets the oldest remembered response when the size limit is reached", async () => {
  const requests = new IdempotentRequests();
  const large = (): Promise<RouteResponse> =>
    Promise.resolve({ text: "x".repeat(7 * 1024 * 1024), type: "text/plain" });
  const work = vi.fn(large);
  const ask = (key: string) => requests.run({ key, fingerprint: "it", waitMs: undefined }, work);
  for (const key of ["one", "two", "three", "three", "two"]) await ask(key);
  expect(work).toHaveBeenCalledTimes(3);
  await ask("one");
  expect(work).toHaveBeenCalledTimes(4);
});
