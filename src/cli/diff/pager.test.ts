import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, it } from "vitest";
import { openPager } from "./pager.ts";

it("ignores a Ctrl-C that is reported right after the exit of the pager", async () => {
  const interrupts: string[] = [];
  const onInterrupt = (): void => void interrupts.push("interrupted");
  const onSpawn = (message: unknown): void => {
    const { process: pager } = message as { process: ChildProcess };
    pager.once("close", () => void interruptAfterMicrotasks());
  };
  process.on("SIGINT", onInterrupt);
  subscribe("child_process", onSpawn);
  try {
    const io = { env: { PATH: process.env["PATH"], PAGER: "cat >/dev/null" }, stderr: process.stderr };
    await openPager(io, "x\n", new AbortController().signal);
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(interrupts).toEqual([]);
    process.emit("SIGINT");
    expect(interrupts).toEqual(["interrupted"]);
  } finally {
    unsubscribe("child_process", onSpawn);
    process.off("SIGINT", onInterrupt);
  }
});

it("waits for the SIGINT that ended the pager, even if it arrives late", async () => {
  const interrupts: string[] = [];
  const onInterrupt = (): void => void interrupts.push("interrupted");
  const onSpawn = (message: unknown): void => {
    const { process: pager } = message as { process: ChildProcess };
    pager.once("close", () => setTimeout(() => process.emit("SIGINT"), 50));
  };
  process.on("SIGINT", onInterrupt);
  subscribe("child_process", onSpawn);
  try {
    for (const pager of ["kill -INT $$", "exit 130"]) {
      const io = { env: { PATH: process.env["PATH"], PAGER: pager }, stderr: process.stderr };
      await openPager(io, "x\n", new AbortController().signal);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(interrupts).toEqual([]);
  } finally {
    unsubscribe("child_process", onSpawn);
    process.off("SIGINT", onInterrupt);
  }
});

/** Emits the signal in the same turn of the event loop, as Node does if two signals arrive together. */
async function interruptAfterMicrotasks(): Promise<void> {
  for (let microtasks = 0; microtasks < 100; microtasks += 1) await Promise.resolve();
  process.emit("SIGINT");
}
