import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { call, fault, say, type Script } from "../../testing/index.ts";
import { hasPseudoTerminals, BUILT_COMMAND, openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const SCRIPT: Script = [call("write", { path: "hello.txt", content: "hello" }), say("All done.")];
const QUESTION =
  /write:\r\n {2}path: hello\.txt\r\n {2}content: hello\r\nAllow write\? \[y\]es, \[a\]lways write in this session, \[n\]o /;

describe.skipIf(!hasPseudoTerminals)("on a terminal", () => {
  it("a person can be asked although the prompt comes through a pipe", async () => {
    fixture = await openCommandFixture(SCRIPT);
    const script = [
      "import os,pty,sys",
      "pid,fd=pty.fork()",
      "if pid==0: os.execvp('sh',['sh','-c','echo write it | \"$0\" \"$1\" run -',*sys.argv[1:]])",
      "out=b''",
      "while b'[n]o' not in out: out+=os.read(fd,4096)",
      "os.write(fd,b'y\\n')",
      "try:",
      "  while True: out+=os.read(fd,4096)",
      "except OSError: pass",
      "sys.stdout.buffer.write(out); sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1]))",
    ].join("\n");
    const options = { cwd: fixture.repository.path, env: fixture.env, timeout: 20_000 };
    const { stdout } = await promisify(execFile)("python3", ["-c", script, process.execPath, BUILT_COMMAND], options);
    expect(stdout).toContain("✓ write hello.txt");
    expect(stdout).toContain("All done.");
  });

  it.each([
    ["y", "✓ write hello.txt"],
    ["always", "✓ write hello.txt"],
    ["n", "⊘ write hello.txt — refused"],
  ])("a permission is asked for, and %s is an answer", async (typed, shown) => {
    fixture = await openCommandFixture(SCRIPT);
    const running = fixture.terminal(["run", "x"]);
    await running.waitForOutput(QUESTION);
    running.child.stdin.write(`${typed}\n`);
    const { code, stdout } = await running.ended;
    expect(stdout).toContain(shown);
    expect(stdout).toContain("All done.");
    expect(code).toBe(0);
  });

  it("all lines of a command are shown before it is allowed", async () => {
    fixture = await openCommandFixture([
      call("bash", { command: "echo harmless\ntouch pwned\u001b[1A" }),
      say("All done."),
    ]);
    const running = fixture.terminal(["run", "x"]);
    await running.waitForOutput(
      /bash:\r\n {2}command \(2 lines\):\r\n {2}│ echo harmless\r\n {2}│ touch pwned<U\+001B>\[1A\r\nAllow bash\? /,
    );
    running.child.stdin.write("n\n");
    expect((await running.ended).stdout).toContain("⊘ bash: echo harmless … (+1 line) — refused");
  });

  it("a command longer than a screen is told to be so", async () => {
    fixture = await openCommandFixture([
      call("bash", { command: `echo a${"\n".repeat(99)}touch b` }),
      say("All done."),
    ]);
    const running = fixture.terminal(["run", "x"]);
    await running.waitForOutput(/│ touch b\r\nAllow bash, all 101 lines above\? /);
    running.child.stdin.write("n\n");
    await running.ended;
  });

  it("a question that a killed process left is asked with all of it", async () => {
    fixture = await openCommandFixture([call("bash", { command: "echo harmless\ntouch pwned" }), say("All done.")]);
    const first = fixture.start(["run", "x", "--permissions", "ask"]);
    const [, session = ""] = await first.waitForOutput(/rookery answer (\S+)/);
    first.child.kill("SIGKILL");
    await first.ended;
    const running = fixture.terminal(["run", "--session", session]);
    await running.waitForOutput(/│ echo harmless\r\n {2}│ touch pwned\r\nAllow bash\? /);
    running.child.stdin.write("n\n");
    expect((await running.ended).code).toBe(0);
  });

  it("what is no answer is asked again, and a closed input is a no", async () => {
    fixture = await openCommandFixture(SCRIPT);
    const running = fixture.terminal(["run", "x"]);
    await running.waitForOutput(QUESTION);
    running.child.stdin.write("perhaps\n");
    await running.waitForOutput(new RegExp(`${QUESTION.source}[^]*${QUESTION.source}`));
    running.child.stdin.write("\u0004");
    expect((await running.ended).stdout).toContain("⊘ write hello.txt — refused");
  });

  it("what was typed before the question is no answer to it", async () => {
    fixture = await openCommandFixture([
      { ...(SCRIPT as readonly object[])[0], firstByteDelayMs: 300 },
      say("All done."),
    ]);
    const running = fixture.terminal(["run", "x"]);
    await fixture.server.received(0);
    running.child.stdin.write("y\n");
    await running.waitForOutput(QUESTION);
    running.child.stdin.write("n\n");
    expect((await running.ended).stdout).toContain("⊘ write hello.txt — refused");
  });

  it("an answer from another process ends the question", async () => {
    fixture = await openCommandFixture(SCRIPT);
    const running = fixture.terminal(["run", "x"]);
    await running.waitForOutput(QUESTION);
    expect(await fixture.rookery(["answer", "last", "r1", "allow"])).toMatchObject({ code: 0 });
    const { code, stdout } = await running.ended;
    expect(stdout).toContain("✓ write hello.txt");
    expect(code).toBe(0);
  });

  it("Ctrl-C cancels the turn, also while a question is open", async () => {
    fixture = await openCommandFixture(SCRIPT);
    const running = fixture.terminal(["run", "x"]);
    await running.waitForOutput(QUESTION);
    running.child.stdin.write("\u0003");
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/rookery: cancelling; Ctrl-C again quits at once\r\n[^]*cancelled · /);
    expect(code).toBe(130);
  });

  it("something moves while nothing comes, and colours show how it went", async () => {
    fixture = await openCommandFixture([fault("stall", { text: "never" })]);
    const running = fixture.terminal(["run", "x"], { env: { TERM: "xterm-256color" } });
    await running.waitForOutput(/⠋ thinking[^]*⠙ thinking/);
    running.child.stdin.write("\u0003");
    expect((await running.ended).stdout).toContain("\u001b[31mcancelled\u001b[39m");
  });

  it.each([
    ["TERM=dumb", { TERM: "dumb" }],
    ["NO_COLOR", { TERM: "xterm-256color", NO_COLOR: "1" }],
  ])("%s takes the colours away", async (_, env) => {
    fixture = await openCommandFixture([say("hello")]);
    const { stdout } = await fixture.terminal(["run", "x"], { env }).ended;
    expect(stdout).toContain("hello\r\ndone · ");
    expect(stdout).not.toMatch(/\u001b\[\d+m/);
  });

  it("trust is asked for once", async () => {
    fixture = await openCommandFixture([say("one"), say("two")], { files: { "rookery.toml": "" } });
    const first = fixture.terminal(["run", "x"]);
    await first.waitForOutput(
      /brings what can run commands and steer agents \(rookery\.toml\)\r\nTrust it\? \[y\/N\] /,
    );
    first.child.stdin.write("y\n");
    expect(await first.ended).toMatchObject({ code: 0 });
    expect((await fixture.terminal(["run", "x"]).ended).stdout).not.toContain("Trust it?");
  });

  it("names of files that trust is asked for cannot move the cursor", async () => {
    const name = "a\u001b[2K\r\n.md";
    const files = { "rookery.toml": `[agents.x]\nprompts = [${JSON.stringify(name)}]`, [name]: "be kind" };
    fixture = await openCommandFixture([], { files });
    const running = fixture.terminal(["run", "x"]);
    await running.waitForOutput(/\(rookery\.toml, a<U\+001B>\[2K<U\+000D><U\+000A>\.md\)\r\nTrust it\?/);
    running.child.stdin.write("\n");
    expect((await running.ended).stdout).not.toContain("\u001b[2K");
  });

  it("trust that is not given is exit code 3", async () => {
    fixture = await openCommandFixture([], { files: { "rookery.toml": "" } });
    const running = fixture.terminal(["run", "x"]);
    await running.waitForOutput(/Trust it\?/);
    running.child.stdin.write("\n");
    expect(await running.ended).toMatchObject({ code: 3, stdout: expect.stringContaining("run: rookery trust ") });
  });

  it("a prompt that is missing is asked for in words", async () => {
    fixture = await openCommandFixture();
    expect(await fixture.terminal(["run"]).ended).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('rookery: say what to do: rookery run "PROMPT"'),
    });
  });
});
