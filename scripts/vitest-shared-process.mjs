import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, beforeAll, expect, vi } from "vitest";

/**
 * Test files of the project "shared process" run one after another in one process. Fails a file that starts a process
 * or leaves its own one changed; without this, a later file would fail, and only in some orders.
 */
const ADVICE =
  "or add a comment `// own process: REASON` to the test file, so that it shares its process with no other";

/** The programs started in this process. On `globalThis`, because this module is evaluated again for every file. */
const started = (globalThis.rookeryStartedPrograms ??= recordStarts());

let before;
beforeAll(() => {
  started.length = 0;
  before = describeProcess();
});
afterAll(async () => {
  expect(started, `the file started processes: do without, ${ADVICE}`).toEqual([]);
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

function recordStarts() {
  const programs = [];
  const record = (owner, name, programOf) => {
    const start = owner[name];
    owner[name] = function (...args) {
      programs.push(programOf(args[0]));
      return start.apply(this, args);
    };
  };
  record(childProcess.ChildProcess.prototype, "spawn", ({ file }) => file);
  for (const name of ["execFileSync", "execSync", "spawnSync"]) record(childProcess, name, String);
  syncBuiltinESMExports();
  return programs;
}
