import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { ToolContext, ToolResult, ToolSpec } from "../domain/index.ts";
import { deferred } from "../stdx/index.ts";
import { runWithTimeout } from "./tool-timeout.ts";

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

/** Stops when its signal fires, as a tool should. */
async function untilStopped({ signal }: ToolContext): Promise<ToolResult> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  return { outcome: "cancelled", text: "so far" };
}

describe.concurrent("the timeout of a tool", () => {
  it.each([
    ["its own timeout", spec({ timeoutMs: 20 }), {}],
    ["the timeout configured for its name", spec(), { slow: 0.02 }],
    ["the timeout configured for a prefix of its name", spec(), { "sl*": 0.02, "*": 100 }],
    [
      "the timeout configured for its name rather than for a prefix",
      spec({ timeoutMs: 1 }),
      { slow: 0.02, "slow*": 100 },
    ],
  ])("stops a tool after %s, and keeps its partial result", async (_, tool, timeouts) => {
    const result = await runWithTimeout({ timeouts }, tool, contextWith(), untilStopped);
    expect(result).toEqual({
      outcome: "timed_out",
      text: "so far\n[slow took longer than 0.02 s and was stopped]",
    });
  });

  it("abandons a tool that ignores the abort signal", async () => {
    const never = deferred<ToolResult>();
    const result = await runWithTimeout({}, spec({ timeoutMs: 10 }), contextWith(), () => never.promise);
    expect(result.outcome).toBe("timed_out");
    expect(result.text).toContain("may still be running");
  }, 20_000);

  it("abandons a cancelled tool that ignores the abort signal", async () => {
    const turn = new AbortController();
    const never = deferred<ToolResult>();
    const running = runWithTimeout({}, spec(), contextWith({ signal: turn.signal }), () => never.promise);
    turn.abort();
    expect(await running).toEqual({
      outcome: "cancelled",
      text: "[slow did not stop when it was cancelled and may still be running]",
    });
  }, 20_000);

  it("returns the result of a tool that finishes in time unchanged", async () => {
    expect(await runWithTimeout({}, spec({ timeoutMs: 60_000 }), contextWith(), () => Promise.resolve(OK))).toBe(OK);
  });

  it("removes its listeners after the tool has ended, so that the call can be garbage collected", async () => {
    let toolSignal: AbortSignal | undefined;
    const turn = new AbortController();
    await runWithTimeout({}, spec({ timeoutMs: 60_000 }), contextWith({ signal: turn.signal }), ({ signal }) => {
      toolSignal = signal;
      return Promise.resolve(OK);
    });
    const listeners = [toolSignal, turn.signal].map((signal) => signal && getEventListeners(signal, "abort").length);
    expect(listeners).toEqual([0, 0]);
  });

  it("does not count the time in which a tool waits for a person or another tool", async () => {
    const late = async () => {
      await sleep(200);
      return { action: "accept" as const };
    };
    const called = async () => {
      await sleep(200);
      return OK;
    };
    const result = await runWithTimeout(
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

  it("reports a cancelled tool as cancelled, not as timed out", async () => {
    const turn = new AbortController();
    const running = runWithTimeout({}, spec({ timeoutMs: 60_000 }), contextWith({ signal: turn.signal }), untilStopped);
    turn.abort();
    expect((await running).outcome).toBe("cancelled");
  });
});
