import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { hasWorked, lookAt, startGroup, type Look } from "../index.ts";

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

const look = (at: number, uses: Record<string, [cpuMs: number, bytes: number]>): Look => ({
  at,
  uses: new Map(Object.entries(uses).map(([process, [cpuMs, bytes]]) => [process, { cpuMs, bytes }])),
});

describe.runIf(process.platform === "linux")("what an agent's program has started", () => {
  it.each([
    ["computes", "while :; do :; done"],
    ["computes in short children", "while :; do /bin/true; done"],
    ["moves bytes", "cat /dev/zero >/dev/null"],
  ])("works while it %s", async (_, script) => {
    await using p = await running(script);
    const before = await seen(p);
    await vi.waitFor(() => expect(hasWorked(before, lookAt(p.marker, p.since))).toBe(true), { interval: 50 });
  });

  it("does not work while it sleeps", async () => {
    await using p = await running("exec sleep 300");
    let before = await seen(p);
    const rest = (): void => {
      const after = lookAt(p.marker, p.since);
      expect(after.at - before.at).toBeGreaterThan(300);
      const worked = hasWorked(before, after); // at first it is still being loaded
      before = after;
      expect(worked).toBe(false);
    };
    await vi.waitFor(rest, { timeout: 10_000 });
    expect(before.uses.size).toBe(1);
  });

  it("counts from a point in time on, and never the program itself", async () => {
    await using p = await running("exec sleep 300");
    await seen(p);
    expect(lookAt(p.marker, p.since).uses.size).toBe(1); // the sleep, and not the shell that is our child
    expect(lookAt(p.marker, Date.now() + 10_000).uses.size).toBe(0);
    expect(lookAt(`${p.marker}-other`, p.since).uses.size).toBe(0);
  });
});

/** The first look at it; a process that has just been started is not yet another program. */
function seen(p: { readonly marker: string; readonly since: number }): Promise<Look> {
  return vi.waitFor(() => {
    const found = lookAt(p.marker, p.since);
    expect(found.uses.size).toBeGreaterThan(0);
    return found;
  });
}

describe("between two looks a process", () => {
  it.each<[string, Look, Look, boolean]>([
    ["that used nothing waited", look(0, { a: [500, 9e9] }), look(1000, { a: [500, 9e9] }), false],
    ["that used a trickle waited", look(0, { a: [0, 0] }), look(10_000, { a: [100, 30_000] }), false],
    ["that used time worked", look(0, { a: [0, 0] }), look(10_000, { a: [500, 0] }), true],
    ["that used bytes worked", look(0, { a: [0, 0] }), look(10_000, { a: [0, 100_000] }), true],
    ["that is new worked with all it used", look(0, {}), look(1000, { b: [500, 0] }), true],
    ["that ended says nothing", look(0, { a: [500, 9e9] }), look(1000, {}), false],
  ])("%s", (_, before, after, worked) => {
    expect(hasWorked(before, after)).toBe(worked);
  });
});
