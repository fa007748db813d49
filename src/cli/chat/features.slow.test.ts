import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { startOnScreen } from "../../../test/support/screen.ts";
import { call, say } from "../../testing/index.ts";
import { submitLine } from "./test-chat.ts";
import { BUILT_COMMAND, type CommandFixture, openCommandFixture } from "../test-command.ts";

const PATIENCE_MS = 90_000;

async function openChat(fixture: CommandFixture, args: readonly string[] = [], env: Record<string, string> = {}) {
  const screen = fixture.screen(args, { env });
  await screen.waitFor("❯");
  return screen;
}

it(
  "offers the last conversation of the directory, and lets a person choose one",
  async () => {
    await using fixture = await openCommandFixture([say("first answer"), say("second answer")]);
    for (const question of ["first question", "second question"]) {
      const screen = await openChat(fixture);
      screen.type(question);
      screen.press("enter");
      await screen.waitFor("done ·");
      screen.press("ctrl-d");
      await screen.exited;
    }
    const offering = await openChat(fixture);
    await offering.waitFor('Enter continues "second question"');
    offering.press("enter");
    await offering.waitFor("second answer");
    offering.press("ctrl-d");
    await offering.exited;
    const choosing = fixture.screen(["chat", "-r"]);
    await choosing.waitFor("Continue a conversation");
    choosing.type("first");
    await choosing.waitFor(/❯ first question/);
    choosing.press("enter");
    await choosing.waitFor("first answer");
  },
  PATIENCE_MS,
);

it(
  "offers no other conversation to a person who has sent a prompt before it was found",
  async () => {
    await using fixture = await openCommandFixture([say("first answer"), say("second answer")]);
    const first = await openChat(fixture);
    submitLine(first, "first question");
    await first.waitFor("done ·");
    first.press("ctrl-d");
    await first.exited;
    const fast = await openChat(fixture);
    submitLine(fast, "second question"); // the prompt is shown before the program has read the log
    await fast.waitFor(/second answer[^]*done ·/);
    expect(fast.visible()).not.toContain("Enter continues");
  },
  PATIENCE_MS,
);

it(
  "undoes the files that a turn changed",
  async () => {
    await using fixture = await openCommandFixture(
      [call("write", { path: "made.txt", content: "made by the agent\n" }), say("written")],
      { files: { "kept.txt": "kept\n" } },
    );
    const made = join(fixture.repository.path, "made.txt");
    const screen = await openChat(fixture, ["chat", "--permissions", "all"]);
    screen.type("write it");
    screen.press("enter");
    await screen.waitFor("done ·");
    expect(await readFile(made, "utf8")).toBe("made by the agent\n");
    screen.type("/undo");
    screen.press("enter");
    await screen.waitFor("added made.txt");
    await screen.waitFor("Undo these changes?");
    screen.type("y");
    await screen.waitFor("undid the changes of 1 file");
    await expect(readFile(made)).rejects.toThrow("ENOENT");
  },
  PATIENCE_MS,
);

it(
  "runs commands with !, sends their output with the next prompt, and completes files and commands",
  async () => {
    await using fixture = await openCommandFixture([say("thanks")], { files: { "notes/plan.md": "x\n" } });
    const screen = await openChat(fixture);
    submitLine(screen, "!echo no; exit 3");
    await screen.waitFor("[output of echo no; exit 3, 1 line] for your next prompt · Backspace drops it\n❯");
    expect(screen.all()).toContain("\n\n$ echo no; exit 3\nno\nexit code 3\n");
    screen.press("backspace");
    await screen.waitFor(/exit code 3\n\n─+\n❯/);
    submitLine(screen, "!echo from-the-shell");
    await screen.waitFor("[output of echo from-the-shell, 1 line]\n❯");
    expect(screen.all()).toContain("\n\n$ echo from-the-shell\nfrom-the-shell\n");
    expect(screen.all()).not.toContain("exit code 0");
    expect(screen.visible()).not.toContain("running");
    screen.type("/exp");
    await screen.waitFor("/export [file]");
    screen.press("ctrl-c");
    await screen.waitFor(/❯$/m);
    screen.type("see @plan");
    await screen.waitFor(/→? *notes\/plan\.md/);
    screen.press("tab");
    await screen.waitFor("❯ see @notes/plan.md");
    screen.press("enter");
    await screen.waitFor("thanks");
    const sent = JSON.stringify(fixture.server.requests.at(-1)?.messages);
    expect(sent).toContain("Output of `echo from-the-shell` (exit code 0):\\n\\nfrom-the-shell");
    expect(sent).not.toContain("echo no");
    expect(screen.visible()).not.toContain("[output of");
    const next = await openChat(fixture);
    next.press("up");
    await next.waitFor("❯ see @notes/plan.md");
  },
  PATIENCE_MS,
);

it(
  "changes permissions, forks, exports and shows usage",
  async () => {
    await using fixture = await openCommandFixture([say("an answer")]);
    const screen = await openChat(fixture);
    screen.type("a question");
    screen.press("enter");
    await screen.waitFor("done ·");
    for (const [command, shown] of [
      ["/permissions read", "permissions: read"],
      ["/export talk.md", "wrote "],
      ["/usage", "tokens in"],
      ["/fork", "this is a copy of"],
      ["/hlep", "did you mean /help?"],
      ["/help", "/export [file]"],
    ] as const) {
      screen.type(command);
      screen.press("enter");
      await screen.waitFor(shown);
    }
    expect(await readFile(join(fixture.repository.path, "talk.md"), "utf8")).toContain("## You\n\na question");
  },
  PATIENCE_MS,
);

it(
  "stops with Ctrl-Z, continues with fg, and restores the terminal",
  async () => {
    await using fixture = await openCommandFixture([say("back again")]);
    await writeFile(join(fixture.home, "inputrc"), "set enable-bracketed-paste off\n");
    const env = { ...fixture.env, TERM: "xterm-256color", PS1: "shell$ ", INPUTRC: join(fixture.home, "inputrc") };
    await using screen = startOnScreen(["bash", "--norc", "--noprofile", "-i"], { cwd: fixture.repository.path, env });
    await screen.waitFor("shell$");
    screen.type(`${process.execPath} ${BUILT_COMMAND}\r`);
    await screen.waitFor("❯");
    screen.type("draft");
    await screen.waitFor("❯ draft");
    screen.press("ctrl-z");
    await screen.waitFor("Stopped");
    screen.type("echo visible\r");
    await screen.waitFor(/^visible$/m);
    screen.type("fg\r");
    await screen.waitFor(/fg\n[^]*❯ draft/);
    screen.type("!"); // bash may still change the mode of the terminal, in which Enter would be another key
    await screen.waitFor("❯ draft!");
    screen.press("enter");
    await screen.waitFor(/back again[^]*done ·/);
    screen.press("ctrl-d");
    await screen.waitFor(/continue with[^]*shell\$/);
  },
  PATIENCE_MS,
);

it(
  "asks a question of the agent inline",
  async () => {
    await using fixture = await openCommandFixture([call("ask", { question: "Which color?" }), say("noted")]);
    const screen = await openChat(fixture);
    screen.type("go");
    screen.press("enter");
    await screen.waitFor("Which color?");
    await screen.waitFor("answer: ");
    screen.type("green");
    screen.press("enter");
    await screen.waitFor("noted");
    expect(JSON.stringify(fixture.server.requests.at(-1)?.messages)).toContain("green");
  },
  PATIENCE_MS,
);

it(
  "continues from a summary after /compact, and sends an attached image",
  async () => {
    await using fixture = await openCommandFixture([say("the first answer"), say("we spoke of apples"), say("pears")]);
    await writeFile(join(fixture.repository.path, "dot.png"), Buffer.from(ONE_PIXEL_PNG, "base64"));
    const screen = await openChat(fixture);
    screen.type("a long question about apples");
    screen.press("enter");
    await screen.waitFor("done ·");
    screen.type("/compact");
    screen.press("enter");
    await screen.waitFor("continues from 1 message; the log keeps the rest");
    expect(screen.all()).not.toContain("Summarize our conversation");
    screen.type("/attach nope.png");
    screen.press("enter");
    await screen.waitFor("nope.png cannot be attached: there is no such file");
    screen.type("/usage");
    screen.press("enter");
    await screen.waitFor(/^input +\d+ tokens$/m);
    screen.type("/attach dot.png");
    screen.press("enter");
    await screen.waitFor("goes with your next prompt");
    screen.type("and now?");
    screen.press("enter");
    await screen.waitFor("pears");
    const sent = JSON.stringify(fixture.server.requests.at(-1)?.messages);
    expect(sent).toContain("Summary of our conversation so far");
    expect(sent).toContain("we spoke of apples");
    expect(sent).not.toContain("a long question about apples");
    expect(JSON.stringify(fixture.server.requests.at(-1)?.body)).toContain("image/png");
  },
  PATIENCE_MS,
);

const ONE_PIXEL_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

it(
  "shows all files with /diff in a repository without a commit",
  async () => {
    await using fixture = await openCommandFixture([], { files: { "a.txt": "one\n" } });
    await fixture.repository.git("update-ref", "-d", "HEAD");
    const screen = await openChat(fixture);
    screen.type("/diff");
    screen.press("enter");
    await screen.waitFor(/^ {2}a\.txt new file \+1\n {2}1 \+ one$/m);
  },
  PATIENCE_MS,
);

it(
  "shows the changes with /diff, and starts no diff driver of the repository",
  async () => {
    await using fixture = await openCommandFixture([], {
      files: { "a.txt": "before\n", ".gitattributes": "*.txt diff=spy\n" },
    });
    const { path } = fixture.repository;
    const marker = join(path, "driver-ran");
    await promisify(execFile)("git", ["config", "diff.spy.command", `touch ${marker}`], { cwd: path });
    await writeFile(join(path, "a.txt"), "after\n");
    await writeFile(join(path, "new.txt"), "new\n");
    const screen = await openChat(fixture, ["chat"], { PAGER: "sed -n '2p;$p'; echo THE-PAGER" });
    screen.type("/diff");
    screen.press("enter");
    await screen.waitFor(
      /^ {2}a\.txt \+1 -1\n {2}1 - before\n {2}1 \+ after\n {2}new\.txt new file \+1\n {2}1 \+ new$/m,
    );
    expect(screen.style("- before")?.color).toBe(1);
    await screen.waitFor(/❯$/m);
    await writeFile(join(path, "long.txt"), "line\n".repeat(100));
    screen.type("/diff");
    screen.press("enter");
    await screen.waitFor(
      /^ {2}1 - before\n {2}1 \+ new\nTHE-PAGER\n[^]*^ {2}a\.txt \+1 -1\n {2}long\.txt new file \+100\n {2}new\.txt/m,
    );
    await expect(readFile(marker)).rejects.toThrow("ENOENT");
  },
  PATIENCE_MS,
);
