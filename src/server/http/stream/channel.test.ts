import { expect, it, vi } from "vitest";
import { PieceCache } from "./cache.ts";
import { LogChannel } from "./channel.ts";

it("aborts the read of a reader that leaves while others stay", async () => {
  const waiting = new Map<number, AbortSignal>();
  const channel = new LogChannel(
    "log",
    async function* (after, signal) {
      waiting.set(after, signal);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield* [];
    },
    new PieceCache(),
  );
  const [stays, leaves] = [new AbortController(), new AbortController()];
  channel.join();
  channel.join();
  const first = channel.next(10, stays.signal);
  const second = channel.next(5, leaves.signal);
  leaves.abort();
  expect(await second).toBeUndefined();
  expect(channel.leave()).toBe(false);
  await vi.waitFor(() => expect(waiting.get(5)?.aborted).toBe(true));
  expect(waiting.get(10)?.aborted).toBe(false);
  expect(channel.leave()).toBe(true);
  expect(await first).toBeUndefined();
});
