/** Tests on a real terminal: typed answers and Ctrl-C. */
import { afterEach, describe, expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { hasPseudoTerminals, openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

describe.skipIf(!hasPseudoTerminals)("on a terminal", () => {
  it("asks for a permission, continues with the typed answer, and prints the next steps", async () => {
    fixture = await openCommandFixture([call("write", { path: "hello.txt", content: "hello" }), say("All done.")]);
    const running = fixture.terminal(["task", "start", "Greet", "--id", "greet"], {
      env: { TERM: "xterm" },
    });
    await running.waitForOutput(/Allow [^]*write[^]*hello\.txt[^]*\+ hello[^]*yes/);
    running.child.stdin.write("y");
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/✓\S* write hello\.txt/);
    expect(stdout).toMatch(/task greet is done/);
    expect(code).toBe(0);
    expect((await fixture.rookery(["task", "diff", "greet", "--name-only"])).stdout).toBe("hello.txt\n");
  });

  it("stops a task at Ctrl-C, keeps its worktree, and resumes it", async () => {
    fixture = await openCommandFixture([call("bash", { command: "echo begun; sleep 60" }), say("Went on.")]);
    const running = fixture.terminal(["task", "start", "Sleep", "--id", "sleepy", "--permissions", "all"], {
      env: { TERM: "xterm" },
    });
    await running.waitForOutput(/bash: e/);
    running.child.stdin.write("\u0003");
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(
      /task sleepy was stopped; worktree kept:\s+\S*sleepy; continue it with:\s+rookery task resume sleepy/,
    );
    expect(code).toBe(130);
    const resumed = await fixture.rookery(["task", "resume", "sleepy"]);
    expect(resumed.stdout).toContain("Went on.");
    expect(resumed.code).toBe(0);
  });
});
