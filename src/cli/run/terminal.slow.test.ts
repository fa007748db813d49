import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { call, fault, say, type Script } from "../../testing/index.ts";
import { hasPseudoTerminals, BUILT_COMMAND, openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const SCRIPT: Script = [call("write", { path: "hello.txt", content: "hello" }), say("All done.")];
const QUESTION =
  /write:\r\n {2}\S*hello\.txt\S* new file \+1\r\n[^\r]*\+ hello[^\r]*\r\n[^\r]*no line break at the end[^\r]*\r\nAllow write\? \[y\]es, \[a\]lways write in this session, \[n\]o /;

/** A terminal that cannot redraw lines: questions are lines, and so are answers. */
const DUMB = { env: { TERM: "dumb" } };

describe.skipIf(!hasPseudoTerminals)("on a terminal", () => {
  it("asks the person even if the prompt comes from a pipe", async () => {
    fixture = await openCommandFixture(SCRIPT);
    const script = [
      "import os,pty,sys",
      "pid,fd=pty.fork()",
      "if pid==0: os.execvp('sh',['sh','-c','echo write it | \"$0\" \"$1\" run -',*sys.argv[1:]])",
      "out=b''",
      "while b'always' not in out: out+=os.read(fd,4096)",
      "os.write(fd,b'y')",
      "try:",
      "  while True: out+=os.read(fd,4096)",
      "except OSError: pass",
      "sys.stdout.buffer.write(out); sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1]))",
    ].join("\n");
    const options = { cwd: fixture.repository.path, env: { ...fixture.env, TERM: "xterm" }, timeout: 20_000 };
    const { stdout } = await promisify(execFile)("python3", ["-c", script, process.execPath, BUILT_COMMAND], options);
    expect(stdout).toMatch(/✓\S* write hello\.txt/);
    expect(stdout).toContain("All done.");
  });

  it.each([
    ["y", "✓ write hello.txt"],
    ["always", "✓ write hello.txt"],
    ["n", "⊘ write hello.txt — denied"],
  ])("asks for a permission and accepts %s", async (typed, shown) => {
    fixture = await openCommandFixture(SCRIPT);
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(QUESTION);
    running.child.stdin.write(`${typed}\n`);
    const { code, stdout } = await running.ended;
    expect(stdout).toContain(shown);
    expect(stdout).toContain("All done.");
    expect(code).toBe(0);
  });

  it("prints all lines of a command before asking", async () => {
    fixture = await openCommandFixture([
      call("bash", { command: "echo harmless\ntouch pwned\u001b[1A" }),
      say("All done."),
    ]);
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(
      /bash:\r\n {2}command \(2 lines\):\r\n {2}│ echo harmless\r\n {2}│ touch pwned<U\+001B>\[1A\r\nAllow bash\? /,
    );
    running.child.stdin.write("n\n");
    expect((await running.ended).stdout).toContain("⊘ bash: echo harmless … (+1 line) — denied");
  });

  it("prints the number of lines of a command that is longer than the screen", async () => {
    fixture = await openCommandFixture([
      call("bash", { command: `echo a${"\n".repeat(99)}touch b` }),
      say("All done."),
    ]);
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(/│ touch b\r\nAllow bash, all 101 lines above\? /);
    running.child.stdin.write("n\n");
    await running.ended;
  });

  it("asks the open question of a killed process with all details", async () => {
    fixture = await openCommandFixture([call("bash", { command: "echo harmless\ntouch pwned" }), say("All done.")]);
    const first = fixture.start(["run", "x", "--permissions", "ask"]);
    const [, session = ""] = await first.waitForOutput(/rookery answer (\S+)/);
    first.child.kill("SIGKILL");
    await first.ended;
    const running = fixture.terminal(["run", "--session", session], DUMB);
    await running.waitForOutput(/│ echo harmless\r\n {2}│ touch pwned\r\nAllow bash\? /);
    running.child.stdin.write("n\n");
    expect((await running.ended).code).toBe(0);
  });

  it("asks again after an invalid answer, and denies on closed input", async () => {
    fixture = await openCommandFixture(SCRIPT);
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(QUESTION);
    running.child.stdin.write("perhaps\n");
    await running.waitForOutput(/"perhaps" is not an answer: [^]*Allow write\?/);
    running.child.stdin.write("\u0004");
    expect((await running.ended).stdout).toContain("⊘ write hello.txt — denied");
  });

  it("ignores input typed before the question", async () => {
    fixture = await openCommandFixture([
      { ...(SCRIPT as readonly object[])[0], firstByteDelayMs: 300 },
      say("All done."),
    ]);
    const running = fixture.terminal(["run", "x"], DUMB);
    await fixture.server.received(0);
    running.child.stdin.write("y\n");
    await running.waitForOutput(QUESTION);
    running.child.stdin.write("n\n");
    expect((await running.ended).stdout).toContain("⊘ write hello.txt — denied");
  });

  it("withdraws the question after an answer from another process", async () => {
    fixture = await openCommandFixture(SCRIPT);
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(QUESTION);
    expect(await fixture.rookery(["answer", "last", "r1", "allow"])).toMatchObject({ code: 0 });
    const { code, stdout } = await running.ended;
    expect(stdout).toContain("✓ write hello.txt");
    expect(code).toBe(0);
  });

  it("cancels the turn at Ctrl-C while a question is open", async () => {
    fixture = await openCommandFixture(SCRIPT);
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(QUESTION);
    running.child.stdin.write("\u0003");
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/rookery: cancelling; press Ctrl-C again to quit immediately\r\n[^]*cancelled · /);
    expect(code).toBe(130);
  });

  it("shows a spinner while waiting, and colors the outcome", async () => {
    fixture = await openCommandFixture([fault("stall", { text: "never" })]);
    const running = fixture.terminal(["run", "x"], { env: { TERM: "xterm-256color" } });
    await running.waitForOutput(/⠋ thinking[^]*⠙ thinking/);
    running.child.stdin.write("\u0003");
    expect((await running.ended).stdout).toContain("\u001b[31mcancelled\u001b[39m");
  });

  it.each([
    ["TERM=dumb", { TERM: "dumb" }],
    ["NO_COLOR", { TERM: "xterm-256color", NO_COLOR: "1" }],
  ])("prints no colors with %s", async (_, env) => {
    fixture = await openCommandFixture([say("hello")]);
    const { stdout } = await fixture.terminal(["run", "x"], { env }).ended;
    expect(stdout).toContain("hello\r\ndone · ");
    expect(stdout).not.toMatch(/\u001b\[\d+m/);
  });

  it("asks for trust once", async () => {
    fixture = await openCommandFixture([say("one"), say("two")], { files: { "rookery.toml": "" } });
    const first = fixture.terminal(["run", "x"], DUMB);
    await first.waitForOutput(
      /has\s+files\s+that\s+can\s+run\s+commands\s+and\s+steer\s+agents\s+\(rookery\.toml\)\r\nTrust it\? \[y\/N\] /,
    );
    first.child.stdin.write("y\n");
    expect(await first.ended).toMatchObject({ code: 0 });
    expect((await fixture.terminal(["run", "x"], DUMB).ended).stdout).not.toContain("Trust it?");
  });

  it("escapes control characters in file names when asking for trust", async () => {
    const name = "a\u001b[2K\r\n.md";
    const files = { "rookery.toml": `[agents.x]\nprompts = [${JSON.stringify(name)}]`, [name]: "be kind" };
    fixture = await openCommandFixture([], { files });
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(/\(rookery\.toml, a<U\+001B>\[2K<U\+000D><U\+000A>\.md\)\r\nTrust it\?/);
    running.child.stdin.write("\n");
    expect((await running.ended).stdout).not.toContain("\u001b[2K");
  });

  it("exits with 3 if trust is denied", async () => {
    fixture = await openCommandFixture([], { files: { "rookery.toml": "" } });
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(/Trust it\?/);
    running.child.stdin.write("\n");
    expect(await running.ended).toMatchObject({ code: 3, stdout: expect.stringContaining("run: rookery trust ") });
  });

  it("prints an error if the prompt is missing", async () => {
    fixture = await openCommandFixture();
    expect(await fixture.terminal(["run"]).ended).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('rookery: the prompt is missing; type: rookery run "PROMPT"'),
    });
  });
});
