import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { hasWorked, sampleActivity, startGroup, type ActivitySample } from "../index.ts";

const env = { PATH: process.env["PATH"] };
let count = 0;

/** A program of ours that runs a script as its child, as an agent runs a tool. */
async function running(script: string) {
  const marker = `activity-${process.pid}-${(count += 1)}`;
  const since = Date.now();
  const program = await startGroup("sh", ["-c", `sh -c "$SCRIPT" & echo up; wait`], {
    cwd: "/",
    env: { ...env, SCRIPT: script },
    marker,
  });
  await once(program.child.stdout!, "data");
  return { marker, since, [Symbol.asyncDispose]: () => program.stop(0) };
}

const sample = (at: number, uses: Record<string, [cpuMs: number, bytes: number]>): ActivitySample => ({
  at,
  uses: new Map(Object.entries(uses).map(([process, [cpuMs, bytes]]) => [process, { cpuMs, bytes }])),
});

describe.runIf(process.platform === "linux")("a process that an agent's program started", () => {
  it.each([
    ["computes", "while :; do :; done"],
    ["computes in short children", "while :; do /bin/true; done"],
    ["moves bytes", "cat /dev/zero >/dev/null"],
  ])("counts as working while it %s", async (_, script) => {
    await using p = await running(script);
    const before = await firstSample(p);
    await vi.waitFor(() => expect(hasWorked(before, sampleActivity(p.marker, p.since))).toBe(true), { interval: 50 });
  });

  it("counts as idle while it sleeps", async () => {
    await using p = await running("exec sleep 300");
    let before = await firstSample(p);
    const rest = (): void => {
      const after = sampleActivity(p.marker, p.since);
      expect(after.at - before.at).toBeGreaterThan(300);
      const worked = hasWorked(before, after); // it may still be loading in the first sample
      before = after;
      expect(worked).toBe(false);
    };
    await vi.waitFor(rest, { timeout: 10_000 });
    expect(before.uses.size).toBe(1);
  });

  it("is sampled only if it started after `since`, and never the program itself", async () => {
    await using p = await running("exec sleep 300");
    await firstSample(p);
    expect(sampleActivity(p.marker, p.since).uses.size).toBe(1); // the sleep, not the shell, which is our child
    expect(sampleActivity(p.marker, Date.now() + 10_000).uses.size).toBe(0);
    expect(sampleActivity(`${p.marker}-other`, p.since).uses.size).toBe(0);
  });
});

/** Waits for the first sample that includes the process: right after a fork it has no marker yet. */
function firstSample(p: { readonly marker: string; readonly since: number }): Promise<ActivitySample> {
  return vi.waitFor(() => {
    const found = sampleActivity(p.marker, p.since);
    expect(found.uses.size).toBeGreaterThan(0);
    return found;
  });
}

describe("between two samples, a process", () => {
  it.each<[string, ActivitySample, ActivitySample, boolean]>([
    ["that used nothing was idle", sample(0, { a: [500, 9e9] }), sample(1000, { a: [500, 9e9] }), false],
    ["that used little was idle", sample(0, { a: [0, 0] }), sample(10_000, { a: [100, 30_000] }), false],
    ["that used CPU time worked", sample(0, { a: [0, 0] }), sample(10_000, { a: [500, 0] }), true],
    ["that read or wrote worked", sample(0, { a: [0, 0] }), sample(10_000, { a: [0, 100_000] }), true],
    ["that is new counts with everything it used", sample(0, {}), sample(1000, { b: [500, 0] }), true],
    ["that ended does not count", sample(0, { a: [500, 9e9] }), sample(1000, {}), false],
  ])("%s", (_, before, after, worked) => {
    expect(hasWorked(before, after)).toBe(worked);
  });
});
