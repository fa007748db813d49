import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { deferred } from "./deferred.ts";
import { abortableSleep, raceAbort, raceTimeout, settlesWithin, sleepOrAbort, waitForAbort } from "./wait.ts";

const NEVER = new Promise<never>(() => undefined);

describe("raceAbort", () => {
  it("rejects with the reason when the signal fires, and ignores what the work does later", async () => {
    const stop = new AbortController();
    const work = deferred();
    const raced = raceAbort(work.promise, stop.signal);
    const reason = new Error("stopped");
    stop.abort(reason);
    await expect(raced).rejects.toBe(reason);
    work.reject(new Error("too late")); // an unhandled rejection would fail this test file
  });

  it("rejects at once if the signal has already fired", async () => {
    await expect(raceAbort(NEVER, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
  });

  it("removes its listener when the work ends", async () => {
    const { signal } = new AbortController();
    expect(await raceAbort(Promise.resolve(5), signal)).toBe(5);
    await expect(raceAbort(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

it("raceTimeout resolves with the work, or with undefined after the time", async () => {
  expect(await raceTimeout(Promise.resolve("done"), 60_000)).toBe("done");
  expect(await raceTimeout(NEVER, 1)).toBeUndefined();
  await expect(raceTimeout(Promise.reject(new Error("failed")), 60_000)).rejects.toThrow("failed");
});

it("settlesWithin reports whether the event came in time", async () => {
  expect(await settlesWithin(60_000, Promise.resolve())).toBe(true);
  expect(await settlesWithin(1, NEVER)).toBe(false);
});

it("sleepOrAbort and waitForAbort end when the signal fires, and leave no listener", async () => {
  const stop = new AbortController();
  const waits = [sleepOrAbort(60_000, stop.signal), waitForAbort(stop.signal)];
  stop.abort();
  await Promise.all(waits);
  await sleepOrAbort(60_000, stop.signal);
  await waitForAbort(stop.signal);
  await sleepOrAbort(1, new AbortController().signal);
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});

it("abortableSleep rejects with the reason when the signal fires", async () => {
  const stop = new AbortController();
  const sleeping = abortableSleep(60_000, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(sleeping).rejects.toThrow("stopped");
  await abortableSleep(1, undefined);
});
