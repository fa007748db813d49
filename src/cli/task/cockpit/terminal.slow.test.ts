/** The cockpit as a guest of the terminal: forms, the pager, Ctrl-Z, a server that hangs, and an error of its own. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startOnScreen } from "../../../../test/support/screen.ts";
import { call, say } from "../../../testing/index.ts";
import { BUILT_COMMAND, hasPseudoTerminals } from "../../test-command.ts";
import { type CockpitFixture, openCockpitFixture } from "./test-cockpit.ts";

let cockpit: CockpitFixture;
const QUESTION = `Which ${"very ".repeat(20)}long color?`;

describe.skipIf(!hasPseudoTerminals)("the cockpit", { timeout: 90_000 }, () => {
  beforeEach(async () => {
    cockpit = await openCockpitFixture(({ lastUserText, toolResults }) => {
      if (toolResults.length > 0) return say("All done.");
      if (lastUserText.includes("Question")) return call("ask", { question: QUESTION });
      return lastUserText.includes("Ask me") ? call("bash", { command: "echo from-the-agent" }) : say("Noted.");
    });
  });
  afterEach(() => cockpit[Symbol.asyncDispose]());

  const open = (size: { columns?: number; rows?: number; env?: Record<string, string> } = {}) =>
    cockpit.command.screen(["task"], size);

  it("hides the other tasks while a request is open, so that what is allowed is visible", async () => {
    await cockpit.serve();
    for (let at = 0; at < 5; at += 1) await cockpit.shell(`job-${at}`, `echo ${at}`);
    await cockpit.start("asks", "Ask me");
    const screen = open({ rows: 8 });
    await screen.waitFor(/❯ \? needs you +Ask me[^]*✓ done/);
    screen.type("a");
    const asked = await screen.waitFor("Allow bash?");
    expect(asked).toMatch(/^\nasks · Ask me asks\n\? Allow bash\? echo from-the-agent\n {2}y yes · /);
    screen.type("e");
    expect(await screen.waitFor("run instead: echo from-the-agent")).toContain("asks · Ask me asks");
    screen.press("escape");
    await screen.waitFor("a always");
    screen.type("a");
    await screen.waitFor(/a again[^]*Esc\s+(goes )?back/);
    screen.press("escape");
    await screen.waitFor("a always");
    screen.press("escape");
    await screen.waitFor(/❯ \? needs you +Ask me[^]*✓ done/);
  });

  it("asks a question, wraps it at words, and keeps the answer in the scrollback", async () => {
    await cockpit.serve();
    await cockpit.start("asks", "Question");
    const screen = open({ columns: 60 });
    await screen.waitFor(/❯ \? (needs you +)?Question/); // the name of the state is left out if there are files and a cost
    screen.type("a");
    await screen.waitFor("color?");
    for (const word of screen.all().split(/\s+/)) expect(` ${QUESTION} `).not.toContain(` ${word}ery`);
    expect(screen.all()).toMatch(/very\n\s+very/);
    expect(screen.visible()).toContain("asks · Question asks\n? Which very");
    screen.type("blue");
    screen.press("enter");
    await screen.waitFor("answered the question of asks");
    expect(screen.all()).toMatch(/color\? blue$/m);
    expect(screen.all().match(/color\?/g)).toHaveLength(1);
    await screen.waitFor(/✓ done +Question/);
  });

  it("starts a task from a paste and selects it, and resumes it with a prompt", async () => {
    await cockpit.serve();
    await cockpit.shell("old", "echo old");
    const screen = open();
    await screen.waitFor(/❯ ✓ done +echo old/);
    screen.type("n");
    await screen.waitFor("new task:");
    screen.press("escape");
    await screen.waitFor("q quits");
    screen.type("n");
    await screen.waitFor("new task:");
    screen.paste("Say something");
    await screen.waitFor("new task: Say something");
    screen.press("enter");
    await screen.waitFor(/❯ ✓ done +Say something/);
    screen.type("r");
    await screen.waitFor(/what next for say-something-\w+:/);
    screen.press("enter");
    await screen.waitFor("q quits");
    expect(screen.visible()).toMatch(/❯ ✓ done +Say something/); // nothing was sent without a prompt
    screen.type("r");
    await screen.waitFor("what next for");
    screen.type("More");
    screen.press("enter");
    await expect.poll(() => cockpit.command.server.requests.length, { timeout: 20_000 }).toBe(2);
    expect(JSON.stringify(cockpit.command.server.requests[1])).toContain("More");
  });

  it("opens a long diff in $PAGER, and draws itself again after it", async () => {
    await cockpit.shell("long", "seq 1 100 > long.txt");
    const screen = open({ rows: 16, env: { PAGER: "tail -n 5; echo THE-PAGER; read key </dev/tty" } });
    await screen.waitFor(/❯ ✓ done +seq 1 100/);
    screen.type("d");
    expect(await screen.waitFor(/100 \+ 100\n[^]*THE-PAGER/)).not.toContain("q quits");
    screen.type("\r");
    await screen.waitFor(/❯ ✓ done +seq 1 100[^]*q quits/);
    screen.type("?");
    await screen.waitFor("show its changes");
  });

  it("stops at Ctrl-Z, and continues with fg where it was", async () => {
    const { home, env, repository } = cockpit.command;
    await cockpit.shell("one", "echo one");
    await writeFile(join(home, "inputrc"), "set enable-bracketed-paste off\n");
    await using screen = startOnScreen(["bash", "--norc", "--noprofile", "-i"], {
      cwd: repository.path,
      env: { ...env, TERM: "xterm-256color", PS1: "shell$ ", INPUTRC: join(home, "inputrc") },
    });
    await screen.waitFor("shell$");
    screen.type(`${process.execPath} ${BUILT_COMMAND} task\r`);
    await screen.waitFor(/❯ ✓ done +echo one/);
    screen.type("n");
    await screen.waitFor("new task:");
    screen.type("draft");
    await screen.waitFor("new task: draft");
    screen.press("ctrl-z");
    await screen.waitFor("Stopped");
    expect(screen.visible()).not.toContain("new task:");
    screen.type("echo visible\r");
    await screen.waitFor(/^visible$/m);
    screen.type("fg\r");
    await screen.waitFor(/fg\n[^]*new task: draft/);
    screen.type("!");
    await screen.waitFor("new task: draft!");
    screen.press("escape");
    await screen.waitFor("q quits");
    screen.type("q");
    await screen.waitFor(/shell\$ $|shell\$$/);
    screen.type("echo typed\r");
    await screen.waitFor(/^typed$/m);
  });

  it("reports a hanging server, stays usable, and continues when the server does", async () => {
    const server = await cockpit.serve();
    await cockpit.shell("one", "echo one");
    const screen = open({ columns: 120 });
    await screen.waitFor(/❯ ✓ done +echo one/);
    server.child.kill("SIGSTOP");
    await screen.waitFor("disconnected: the tasks were not read within 15 s; trying again");
    screen.type("?");
    await screen.waitFor("answer what it asks");
    screen.press("escape");
    await screen.waitFor("q quits");
    server.child.kill("SIGCONT");
    await screen.waitFor(/^((?!disconnected)[^])*q quits/);
    screen.type("q");
    expect(await screen.exited).toBe(0);
  });

  it("restores the terminal after an error of its own", async () => {
    const file = join(cockpit.command.home, "fail.cjs");
    await writeFile(file, "process.on('SIGUSR2', () => { throw new Error('it broke'); });");
    const screen = open({ env: { NODE_OPTIONS: `--require=${file}` } });
    await screen.waitFor("no tasks; press n to start one");
    screen.kill("SIGUSR2");
    expect(await screen.exited).not.toBe(0);
    expect(screen.all()).toContain("it broke");
    expect(screen.all()).not.toContain("q quits");
    expect(screen.bytes.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(screen.bytes.lastIndexOf("\u001b[?2004h"));
    expect(screen.bytes.lastIndexOf("\u001b[?25h")).toBeGreaterThan(screen.bytes.lastIndexOf("\u001b[?25l"));
  });
});
