import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { ToolContext, ToolResult, ToolSpec } from "../domain/index.ts";
import { deferred } from "../stdx/index.ts";
import { inTime } from "./tool-time.ts";

const OK: ToolResult = { outcome: "ok", text: "done" };

function spec(more: Partial<ToolSpec> = {}): ToolSpec {
  return { name: "slow", description: "", inputSchema: {}, kind: "other", readOnly: false, ...more };
}

function contextWith(more: Partial<ToolContext> = {}): ToolContext {
  return {
    cwd: "",
    marker: "",
    signal: new AbortController().signal,
    record: () => Promise.resolve(),
    progress: () => undefined,
    ask: () => Promise.resolve({ action: "decline" }),
    putBlob: () => Promise.resolve(""),
    getBlob: () => Promise.resolve(undefined),
    ...more,
  };
}

/** Ends when it is told to, as a good tool does. */
async function untilStopped({ signal }: ToolContext): Promise<ToolResult> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  return { outcome: "cancelled", text: "so far" };
}

describe.concurrent("a tool", () => {
  it.each([
    ["its own time", spec({ timeoutMs: 20 }), {}],
    ["the time that is configured for it", spec(), { slow: 0.02 }],
    ["the time for the beginning of its name", spec(), { "sl*": 0.02, "*": 100 }],
    ["the time for its name, over that for its beginning", spec({ timeoutMs: 1 }), { slow: 0.02, "slow*": 100 }],
  ])("that takes longer than %s is stopped, and what it had is kept", async (_, tool, timeouts) => {
    const result = await inTime({ timeouts }, tool, contextWith(), untilStopped);
    expect(result).toEqual({
      outcome: "timed_out",
      text: "so far\n[slow took longer than 0.02 s and was stopped]",
    });
  });

  it("that does not listen is left behind", async () => {
    const never = deferred<ToolResult>();
    const result = await inTime({}, spec({ timeoutMs: 10 }), contextWith(), () => never.promise);
    expect(result.outcome).toBe("timed_out");
    expect(result.text).toContain("may still go on");
  }, 20_000);

  it("that does not listen when it is cancelled is left behind as well", async () => {
    const turn = new AbortController();
    const never = deferred<ToolResult>();
    const running = inTime({}, spec(), contextWith({ signal: turn.signal }), () => never.promise);
    turn.abort();
    expect(await running).toEqual({
      outcome: "cancelled",
      text: "[slow did not stop when it was cancelled, and may still go on]",
    });
  }, 20_000);

  it("that is in time is as if there were no time", async () => {
    expect(await inTime({}, spec({ timeoutMs: 60_000 }), contextWith(), () => Promise.resolve(OK))).toBe(OK);
  });

  it("that has ended leaves nobody who listens to its signal, so that nothing of the call is kept", async () => {
    let its: AbortSignal | undefined;
    const turn = new AbortController();
    await inTime({}, spec({ timeoutMs: 60_000 }), contextWith({ signal: turn.signal }), ({ signal }) => {
      its = signal;
      return Promise.resolve(OK);
    });
    const listeners = [its, turn.signal].map((signal) => signal && getEventListeners(signal, "abort").length);
    expect(listeners).toEqual([0, 0]);
  });

  it("that waits for a person, or for another tool, has all the time in the world", async () => {
    const late = async () => {
      await sleep(200);
      return { action: "accept" as const };
    };
    const called = async () => {
      await sleep(200);
      return OK;
    };
    const result = await inTime(
      {},
      spec({ timeoutMs: 100 }),
      contextWith({ ask: late, call: called }),
      async (context) => {
        await context.ask({ message: "well?" });
        await context.call?.("other", {});
        return context.signal.aborted ? { outcome: "cancelled", text: "" } : OK;
      },
    );
    expect(result).toBe(OK);
  });

  it("that is cancelled is cancelled, not late", async () => {
    const turn = new AbortController();
    const running = inTime({}, spec({ timeoutMs: 60_000 }), contextWith({ signal: turn.signal }), untilStopped);
    turn.abort();
    expect((await running).outcome).toBe("cancelled");
  });
});
