/** What only a real terminal shows: questions that are typed an answer to, a table that is left with a key, Ctrl-C. */
import { afterEach, describe, expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { hasPseudoTerminals, openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

describe.skipIf(!hasPseudoTerminals)("on a terminal", () => {
  it("a task asks, goes on with what is typed, and tells what to do next", async () => {
    fixture = await openCommandFixture([call("write", { path: "hello.txt", content: "hello" }), say("All done.")]);
    const running = fixture.terminal(["task", "start", "Greet", "--id", "greet"]);
    await running.waitForOutput(/write:\r\n {2}path: hello\.txt\r\n {2}content: hello\r\nAllow write\? /);
    running.child.stdin.write("y\n");
    const { code, stdout } = await running.ended;
    expect(stdout).toContain("✓ write hello.txt");
    expect(stdout).toMatch(/task greet is done/);
    expect(code).toBe(0);
    expect((await fixture.rookery(["task", "diff", "greet", "--name-only"])).stdout).toBe("hello.txt\n");
  });

  it("Ctrl-C stops a task, keeps its worktree, and it goes on from there", async () => {
    fixture = await openCommandFixture([call("bash", { command: "echo begun; sleep 60" }), say("Went on.")]);
    const running = fixture.terminal(["task", "start", "Sleep", "--id", "sleepy", "--permissions", "all"], {
      env: { TERM: "xterm" },
    });
    await running.waitForOutput(/bash: e/);
    running.child.stdin.write("\u0003");
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/task sleepy was stopped; its worktree stays: .*sleepy; go on: rookery task resume sleepy/);
    expect(code).toBe(130);
    const resumed = await fixture.rookery(["task", "resume", "sleepy"]);
    expect(resumed.stdout).toContain("Went on.");
    expect(resumed.code).toBe(0);
  });

  it("the table is drawn until q is typed, and the terminal is as it was", async () => {
    fixture = await openCommandFixture();
    await fixture.rookery(["task", "start", "x", "--id", "waiting-one", "--detach"]);
    const watching = fixture.terminal(["task"], { env: { TERM: "xterm" } });
    await watching.waitForOutput(/waiting-one[^]*q leaves/);
    watching.child.stdin.write("q");
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain("\u001b[?1049h");
  });
});
