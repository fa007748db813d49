import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { processesMarked } from "../../../stdx/index.ts";
import { temporaryFolder } from "../../../testing/index.ts";
import { checkAgent } from "./index.ts";
import { checkFixture, fixtureTarget } from "./test-fixture.ts";

const freshMarker = () => `test-${randomBytes(6).toString("hex")}`;

it("leaves nothing running, not even an agent that ignores the end of its input and SIGTERM", async () => {
  const marker = freshMarker();
  await checkFixture("ignores-term", { only: [1] }, marker);
  expect(processesMarked(marker)).toEqual([]);
});

it("sends SIGTERM first to an agent that keeps running after the end of its input", async () => {
  await using folder = await temporaryFolder();
  await checkAgent(fixtureTarget(folder.path, "stays-after-eof"), { only: [1], settleMs: 60 });
  expect(existsSync(join(folder.path, "fixture-terminated"))).toBe(true);
});

it("stops processes that the agent started outside of its process group", async () => {
  await using folder = await temporaryFolder();
  const marker = freshMarker();
  const { command, ...rest } = fixtureTarget(folder.path, "nothing", marker);
  const script = `setsid sleep 60 >/dev/null 2>&1 & exec "$@"`;
  await checkAgent({ ...rest, command: ["sh", "-c", script, "sh", ...command] }, { only: [6], settleMs: 60 });
  expect(processesMarked(marker)).toEqual([]);
});

it("rejects with the signal's reason and leaves nothing running", async () => {
  await using folder = await temporaryFolder();
  const marker = freshMarker();
  const stop = new AbortController();
  const checking = checkAgent(fixtureTarget(folder.path, "cancel-hangs", marker), {
    only: [11],
    slowPrompt: "Go slowly.",
    settleMs: 60,
    signal: stop.signal,
  });
  const ended = expect(checking).rejects.toThrow("enough");
  await vi.waitFor(() => expect(existsSync(join(folder.path, "fixture-cancelled"))).toBe(true), { timeout: 20_000 });
  stop.abort(new Error("enough"));
  await ended;
  expect(processesMarked(marker)).toEqual([]);
});

it("starts nothing if the signal has already fired", async () => {
  await expect(checkFixture("nothing", { signal: AbortSignal.abort(new Error("never")) })).rejects.toThrow("never");
});

it.each([
  [
    "a program that does not exist",
    { command: ["rookery-no-such-program"] },
    /rookery-no-such-program cannot be started/,
  ],
  ["no program", { command: [] }, /no command/],
  ["a relative folder", { cwd: "here" }, /must be an absolute path: here/],
])("rejects with the reason for %s", async (_, wrong, why) => {
  await using folder = await temporaryFolder();
  await expect(checkAgent({ ...fixtureTarget(folder.path, "nothing"), ...wrong })).rejects.toThrow(why);
});

it("rejects for an unknown check number", async () => {
  await expect(checkFixture("nothing", { only: [99] })).rejects.toThrow("there is no check 99");
});
