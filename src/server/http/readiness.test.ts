import { afterEach, describe, expect, it, vi } from "vitest";
import { RookeryError } from "../../domain/index.ts";
import { deferred } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { ServerReadiness } from "./readiness.ts";
import { openHttp } from "./test-scene.ts";

afterEach(() => vi.useRealTimers());

const NOT_READY = {
  type: "urn:rookery:error:interrupted",
  title: "Service Unavailable",
  status: 503,
  code: "interrupted",
};

describe("GET /v1/ready", () => {
  it("responds with 200 to everyone while the store answers", async () => {
    await using scene = await openHttp();
    const response = await fetch(`${scene.server.url}/v1/ready`);
    expect([response.status, await response.json()]).toEqual([200, { ready: true }]);
    expect(await scene.get("/v1/ready")).toMatchObject({ status: 200, json: { ready: true } });
  });

  it("responds with 503 if the store fails, and says why only to clients with the token", async () => {
    const fail = () => Promise.reject(new RookeryError("store_newer", "db.example has schema version 9: update"));
    await using scene = await openHttp([], { store: { ...openMemoryStore(), check: fail } });
    const stranger = await fetch(`${scene.server.url}/v1/ready`);
    expect(stranger.status).toBe(503);
    expect(stranger.headers.get("content-type")).toBe("application/problem+json");
    expect(await stranger.json()).toEqual({
      ...NOT_READY,
      detail: "the server is not ready",
      requestId: expect.any(String) as unknown,
    });
    expect(await scene.get("/v1/ready")).toMatchObject({
      status: 503,
      json: { ...NOT_READY, detail: "the server is not ready: db.example has schema version 9: update" },
    });
  });
});

describe("readiness", () => {
  const times = { maxCheckMs: 1_000, cacheMs: 500 };

  it("checks the store once for all requests within the cache time", async () => {
    const check = vi.fn(() => Promise.resolve());
    const readiness = new ServerReadiness({ check }, { ...times, cacheMs: 60_000 });
    const answers = await Promise.all(Array.from({ length: 100 }, () => readiness.findProblem()));
    expect(new Set(answers)).toEqual(new Set([undefined]));
    await readiness.findProblem();
    expect(check).toHaveBeenCalledTimes(1);
  });

  it("does not wait for a slow store, and asks it again only when it has answered", async () => {
    vi.useFakeTimers();
    const answer = deferred<undefined>();
    const check = vi.fn(() => answer.promise);
    const readiness = new ServerReadiness({ check }, times);
    const first = readiness.findProblem();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await first).toBe("the store has not answered within 1 s");
    const second = readiness.findProblem();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await second).toBe("the store has not answered within 1 s");
    expect(check).toHaveBeenCalledTimes(1);
    answer.resolve(undefined);
    await vi.advanceTimersByTimeAsync(500);
    expect(await readiness.findProblem()).toBeUndefined();
    expect(check).toHaveBeenCalledTimes(2);
  });
});
