import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { shortId } from "../../domain/ids.ts";
import { call, calls, say, type Script } from "../../testing/index.ts";
import {
  BUILT_COMMAND,
  parseEventLines,
  hasPseudoTerminals,
  openCommandFixture,
  type CommandFixture,
} from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const TWO_WRITES: Script = [
  calls([
    { name: "write", input: { path: "one.txt", content: "1" } },
    { name: "write", input: { path: "two.txt", content: "2" } },
  ]),
  say("All done."),
];
const SLEEPING: Script = [call("bash", { command: "echo up; sleep 300" }), say("went on")];

/** Starts a run, waits for its output, and kills it. */
async function killedWhen(script: Script, args: string[], said: RegExp): Promise<string> {
  fixture = await openCommandFixture(script);
  const first = fixture.start(["run", "x", "--json", ...args]);
  const [, session = ""] = await first.waitForOutput(/"sessionId":"(\w+)"/);
  await first.waitForOutput(said);
  first.child.kill("SIGKILL");
  await first.ended;
  return session;
}

describe("a session of a killed process", () => {
  it("is shown as interrupted with the command that continues it", async () => {
    const session = await killedWhen(TWO_WRITES, ["--permissions", "ask"], /rookery answer \S+ r1 allow/);
    expect((await fixture.rookery(["sessions"])).stdout).toMatch(new RegExp(`^${shortId(session)} +interrupted `));
    expect((await fixture.rookery(["sessions", "show", session])).stdout).toContain(
      `interrupted (was waiting); continue it with: rookery run --session ${shortId(session)}`,
    );
    const { code, stderr } = await fixture.rookery(["answer", session, "r1", "allow"]);
    expect([code, stderr]).toEqual([
      0,
      `rookery: no process drives the session now; continue it with: rookery run --session ${shortId(session)}\n`,
    ]);
  });

  it("keeps waiting for answers after it continues", async () => {
    const session = await killedWhen(TWO_WRITES, ["--permissions", "ask"], /rookery answer \S+ r1 allow/);
    await fixture.rookery(["answer", session, "r1", "allow"]);
    const second = fixture.start(["run", "--session", session]);
    await second.waitForOutput(new RegExp(`rookery answer ${shortId(session)} r2 allow`));
    const driven = await fixture.rookery(["answer", session, "r2", "allow"]);
    expect(driven.stderr).toBe("");
    expect(await second.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("All done.") });
    expect(await fixture.repository.read("two.txt")).toBe("2");
  });

  it("records the outcome of its tools as unknown when it is closed", async () => {
    const session = await killedWhen(SLEEPING, ["--permissions", "all"], /"tool\.updated"/);
    expect(await fixture.rookery(["sessions", "close", session])).toMatchObject({ code: 0 });
    const log = parseEventLines((await fixture.rookery(["sessions", "events", session, "--json"])).stdout);
    expect(log.filter(({ type }) => type === "tool.ended")).toMatchObject([{ outcome: "unknown" }]);
    expect(log.at(-1)).toMatchObject({ type: "session.closed" });
  });
});

it("stops following a closed session", async () => {
  fixture = await openCommandFixture([say("hi")]);
  await fixture.rookery(["run", "x"]);
  await fixture.rookery(["sessions", "close", "last"]);
  const { code, stdout } = await fixture.rookery(["sessions", "events", "last", "--follow", "--json"]);
  expect(code).toBe(0);
  expect(parseEventLines(stdout).at(-1)).toMatchObject({ type: "session.closed" });
});

it.each([
  ["npx", { npm_command: "exec" }],
  ["npm start", { npm_lifecycle_event: "start" }],
])("prints commands that work with %s", async (_, env) => {
  fixture = await openCommandFixture([say("hi")]);
  expect((await fixture.rookery([], { env })).stdout).toContain("\n  npx rookery ");
  expect((await fixture.rookery(["run", "x"], { env })).stdout).toContain('continue with: npx rookery run "…"');
  expect((await fixture.rookery(["sessions", "show", "nothing"], { env })).stderr).toContain(": npx rookery sessions");
});

it.skipIf(!hasPseudoTerminals)("ends the turn without a crash when the terminal is closed", async () => {
  fixture = await openCommandFixture(SLEEPING);
  const script = [
    "import os,pty,sys",
    "pid,fd=pty.fork()",
    "if pid==0: os.execvp(sys.argv[1],sys.argv[1:])",
    "out=b''",
    "while b'tool.updated' not in out: out+=os.read(fd,4096)",
    "os.close(fd)",
    "print(os.WTERMSIG(os.waitpid(pid,0)[1]))",
  ].join("\n");
  const words = [process.execPath, BUILT_COMMAND, "run", "x", "--permissions", "all", "--json"];
  const options = { cwd: fixture.repository.path, env: fixture.env, timeout: 20_000 };
  const { stdout } = await promisify(execFile)("python3", ["-c", script, ...words], options);
  expect(stdout.trim()).not.toBe("6"); // SIGABRT
  const log = parseEventLines((await fixture.rookery(["sessions", "events", "last", "--json"])).stdout);
  expect(log.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "cancelled" } });
});
