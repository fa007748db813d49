import childProcess from "node:child_process";
import { afterAll, beforeAll, expect, vi } from "vitest";

/**
 * Test files of the project "shared process" run one after another in one process. Fails a file that leaves its process
 * changed, or a program running; without this, a later file would fail, and only in some orders.
 */
const ADVICE =
  "or add a comment `// own process: REASON` to the test file, so that it shares its process with no other";

/** The programs that this process started. On `globalThis`, because this module is evaluated again for every file. */
const started = (globalThis.rookeryStartedPrograms ??= recordStarts());

let before;
beforeAll(() => {
  started.length = 0;
  before = describeProcess();
});
afterAll(async () => {
  const running = `the file left programs running: end them, ${ADVICE}`;
  await vi.waitFor(() =>
    expect(
      started.filter(isRunning).map(({ spawnfile }) => spawnfile),
      running,
    ).toEqual([]),
  );
  const message = `the file left its process changed: undo the change, ${ADVICE}`;
  await vi.waitFor(() => expect(describeProcess(), message).toEqual(before)); // something may still be closing
});

function describeProcess() {
  return {
    cwd: process.cwd(),
    env: { ...process.env },
    functions: { Date, fetch, setInterval, setTimeout, log: console.log, write: process.stdout.write },
    listeners: Object.fromEntries(process.eventNames().map((name) => [name, process.listenerCount(name)])),
  };
}

function isRunning({ pid, exitCode, signalCode }) {
  return pid !== undefined && exitCode === null && signalCode === null;
}

function recordStarts() {
  const programs = [];
  const { prototype } = childProcess.ChildProcess;
  const { spawn } = prototype;
  prototype.spawn = function (...args) {
    programs.push(this);
    return spawn.apply(this, args);
  };
  return programs;
}
