/** The cockpit on a rendered screen, with a real server, real agents and real repositories. */
import { afterEach, describe, expect, it } from "vitest";
import { call, fault, say, type Script } from "../../../testing/index.ts";
import { type CommandFixture, hasPseudoTerminals } from "../../test-command.ts";
import { type CockpitFixture, openCockpitFixture } from "./test-cockpit.ts";

let cockpit: CockpitFixture;
let fixture: CommandFixture;
afterEach(() => cockpit[Symbol.asyncDispose]());

async function open(script: Script = []): Promise<void> {
  cockpit = await openCockpitFixture(script);
  fixture = cockpit.command;
}

describe.skipIf(!hasPseudoTerminals)("the cockpit", { timeout: 90_000 }, () => {
  it("opens the transcript of the selected task, answers its request, and goes back", async () => {
    await open([call("bash", { command: "echo from-the-agent" }), say("All **done** here.")]);
    await cockpit.serve();
    await cockpit.shell("old", "echo hi");
    await cockpit.start("asks", "Ask me");
    const screen = fixture.screen(["task"]);
    await screen.waitFor(/❯ \? needs you +Ask me/);
    screen.press("enter");
    await screen.waitFor("❯ Ask me");
    await screen.waitFor("asks · Ask me\nasks: run echo from-the-agent\n");
    screen.type("a");
    await screen.waitFor("Allow bash? echo from-the-agent");
    screen.type("y");
    await screen.waitFor("All done here.");
    await screen.waitFor(/^(?![^]*asks: run)/); // the list of tasks may be older than the transcript
    expect(screen.all().match(/echo from-the-agent/g)).toHaveLength(1);
    expect(screen.all()).toContain("✓ bash: echo from-the-agent — allowed by you");
    expect(screen.style("done here")?.bold).toBe(true);
    screen.press("escape");
    await screen.waitFor(/✓ done +Ask me/);
    await screen.waitFor(/q quits/);
    expect(screen.all()).not.toMatch(/All done here|❯ Ask me|command: echo/); // nothing piles up
    screen.type("q");
    expect(await screen.exited).toBe(0);
    expect(screen.bytes).not.toContain("\u001b[?1049h");
  });

  it("lets no letter of a sentence answer a request or act on the list", async () => {
    await open([call("bash", { command: "echo from-the-agent" }), say("Understood.")]);
    await cockpit.serve();
    await cockpit.start("asks", "Ask me");
    const screen = fixture.screen(["task"]);
    await screen.waitFor(/❯ \? needs you +Ask me/);
    screen.type("a");
    await screen.waitFor("Allow bash?");
    for (const key of "wait, this is too big") screen.type(key);
    await screen.waitFor("reason: wait, this is too big");
    await screen.waitFor("Enter denies it and tells the agent this; yes allows it · Esc goes back");
    screen.press("enter");
    await screen.waitFor(/✓ done +Ask me/);
    expect(JSON.stringify(fixture.server.requests.at(-1)?.messages)).toContain("wait, this is too big");
    expect(screen.bytes).not.toMatch(/— allowed|Stop asks\?/);
  });

  it("keeps a line for the call of a task that is stopped at its question", async () => {
    await open([call("bash", { command: "npm test" }), say("never")]);
    await cockpit.serve();
    await cockpit.start("asks", "Ask me");
    const screen = fixture.screen(["task"]);
    await screen.waitFor(/❯ \? needs you +Ask me/);
    screen.press("enter");
    await screen.waitFor("asks: run npm test");
    screen.type("s");
    await screen.waitFor("Stop asks?");
    screen.type("y");
    await screen.waitFor("⊘ bash: npm test — interrupted");
  });

  it("does not treat a key that is held down as an answer", async () => {
    await open([call("bash", { command: "echo one" }), call("bash", { command: "echo two" }), say("Finished.")]);
    await cockpit.serve();
    await cockpit.start("asks", "Ask me");
    const screen = fixture.screen(["task"]);
    await screen.waitFor(/❯ \? needs you +Ask me/);
    screen.type("aaaaaa");
    await screen.waitFor("y yes · n no · a always");
    screen.press("escape");
    await screen.waitFor("q quits");
    screen.type("a");
    await screen.waitFor("y yes · n no · a always");
    screen.type("yy"); // a letter that repeats answers once
    await screen.waitFor(/^\? Allow bash\? echo one — allowed$/m);
    await screen.waitFor(/❯ \? needs you +Ask me/);
    expect(screen.all()).not.toContain("Finished.");
  });

  it("stops a task after a question, resumes it with a prompt, and shows its diff", async () => {
    await open();
    await cockpit.serve();
    await cockpit.shell("long", "echo begun; sleep 60");
    const screen = fixture.screen(["task"]);
    await screen.waitFor(/❯ ● working +echo begun/);
    screen.type("s");
    await screen.waitFor("Stop long? Its worktree is kept. [y/n]");
    screen.type("n");
    await screen.waitFor("q quits");
    screen.type("s");
    await screen.waitFor("[y/n]");
    screen.type("y");
    await screen.waitFor(/⊘ stopped +echo begun/);
    screen.type("r");
    await screen.waitFor("message for long (optional):");
    screen.type("echo two >> a.txt");
    screen.press("enter");
    await screen.waitFor(/✓ done .* 1 file$/m);
    screen.type("d");
    await screen.waitFor(/^ {2}a\.txt \+1\n {2}1 {3}one\n {2}2 \+ two\n\nchanges of long\nany key goes back$/m);
    expect(screen.style("+ two")?.color).toBe(2);
    screen.press("escape");
    await screen.waitFor("q quits");
    expect(screen.all()).not.toContain("+ two");
    screen.press("ctrl-c");
    expect(await screen.exited).toBe(0);
  });

  it("merges after a preview, and offers to resolve conflicts", async () => {
    await open();
    await cockpit.shell("good", "echo two > b.txt");
    await cockpit.shell("bad", "echo three > a.txt");
    await fixture.repository.write("a.txt", "four\n");
    await fixture.repository.git("commit", "-am", "Change a");
    const screen = fixture.screen(["task"]);
    await screen.waitFor(/❯ ✓ done +echo three/);
    screen.type("m");
    await screen.waitFor("Let the agent resolve them? [y/n]");
    expect(screen.visible()).toContain("bad would conflict with main in 1 file; nothing was changed:\n  a.txt");
    screen.press("escape");
    await screen.waitFor("q quits");
    screen.type("j");
    await screen.waitFor(/❯ ✓ done +echo two/);
    screen.type("m");
    await screen.waitFor("Merge good into main? [y/n]");
    expect(screen.visible()).toContain("1 file · +1 -0");
    screen.type("y");
    await screen.waitFor("merged good into main");
    expect(await fixture.repository.read("b.txt")).toBe("two\n");
  });

  it("runs a new task without a server, and asks before it leaves while another one runs", async () => {
    await open([call("bash", { command: "echo from-the-agent" }), say("Finished."), fault("stall")]);
    const screen = fixture.screen(["task"], { columns: 100 });
    await screen.waitFor("no tasks; press n to start one");
    screen.type("n");
    await screen.waitFor("new task:");
    screen.type("First job");
    screen.press("enter");
    await screen.waitFor(/first-job\S* \(anthropic\) runs while this screen is open; in the background: rookery serve/);
    await screen.waitFor(/❯ \? needs you +First job/);
    screen.type("a");
    await screen.waitFor("Allow bash?");
    screen.type("y");
    await screen.waitFor(/❯ ✓ done +First job/);
    screen.press("down"); // a letter that follows the answer at once would belong to it
    screen.type("n");
    await screen.waitFor("new task:");
    screen.type("Second job");
    screen.press("enter");
    await screen.waitFor(/❯ ● working +Second job/);
    await fixture.server.received(2);
    screen.type("q");
    await screen.waitFor(
      /One task is running here:\nsecond-job\S*: continue it later[^]*Leave, and interrupt it\? \[y\/n\]/,
    );
    screen.type("n");
    await screen.waitFor("q quits");
    screen.press("ctrl-c");
    await screen.waitFor("[y/n]");
    screen.type("y");
    expect(await screen.exited).toBe(0);
    expect(screen.all()).toMatch(/1 task waits; continue with: rookery task resume second-job\S*, or rookery serve/);
    const { stdout } = await fixture.rookery(["task", "list", "--once", "--status", "queued"]);
    expect(stdout).toContain("second-job");
  });

  it("runs a queued task with r if there is no server", async () => {
    await open();
    await cockpit.shell("later", "echo hi", "--detach");
    const screen = fixture.screen(["task"]);
    await screen.waitFor(/❯ ○ queued +echo hi[^]*r run/);
    screen.type("r");
    await screen.waitFor(/❯ ✓ done +echo hi/);
  });

  it("filters, and fits a terminal that becomes small and large again", async () => {
    await open();
    await cockpit.start("one", "First job", "--detach");
    await cockpit.start("two", "Second job", "--detach");
    const screen = fixture.screen(["task"]);
    await screen.waitFor("Second job");
    screen.type("/first");
    await screen.waitFor("/first");
    screen.press("enter");
    await screen.waitFor(/^((?!Second job)[^])*q quits/);
    expect(screen.visible()).toContain("First job");
    screen.press("escape");
    await screen.waitFor("Second job");
    screen.resize(20, 5);
    await screen.waitFor(/○ Second job\n❯ ○ First job *\n.*q quits$/);
    for (const line of screen.visible().split("\n")) expect(line.length).toBeLessThanOrEqual(20);
    screen.resize(100, 30);
    await screen.waitFor(/2 queued · no server\n.*Second job .*\n❯.*First job .*\n\n.*\n.*s stop.*q quits$/);
    screen.type("q");
    expect(await screen.exited).toBe(0);
    expect(screen.all()).toContain("2 tasks wait; continue with: rookery serve");
  });

  it("reports that the server is gone, continues without it, and connects to the next one", async () => {
    await open();
    const server = await cockpit.serve();
    await cockpit.shell("sleeper", "sleep 60");
    const screen = fixture.screen(["task"], { columns: 120 });
    await screen.waitFor(/❯ ● working +sleep 60/);
    server.child.kill("SIGKILL");
    await server.ended;
    await screen.waitFor(/disconnected|has ended; tasks wait until one runs: rookery serve/);
    await screen.waitFor(/❯ ! interrupted +sleep 60/);
    await cockpit.serve();
    await screen.waitFor("connected to the server at");
    await screen.waitFor(/❯ ● working +sleep 60/);
    screen.type("q");
    expect(await screen.exited).toBe(0);
    expect(screen.all()).toContain("1 task stays with the server at");
  });

  it.each(["SIGTERM", "SIGHUP"])("restores the terminal at %s", async (signal) => {
    await open();
    const screen = fixture.screen(["task"]);
    await screen.waitFor("no tasks; press n to start one");
    screen.kill(signal);
    await screen.exited;
    expect(screen.bytes.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(screen.bytes.lastIndexOf("\u001b[?2004h"));
    expect(screen.bytes.lastIndexOf("\u001b[?25h")).toBeGreaterThan(screen.bytes.lastIndexOf("\u001b[?25l"));
  });
});
