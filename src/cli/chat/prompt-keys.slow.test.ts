/** The picker of models, the completion of folders, Ctrl-L and Shift-Tab on a rendered screen. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { CHAT_TEST_MS, openChat, submitLine } from "./test-chat.ts";

it(
  "lists the models in a picker of limited height, below the conversation",
  async () => {
    await using fixture = await openCommandFixture([say("an answer to keep")]);
    const screen = await openChat(fixture, [], { rows: 40 });
    submitLine(screen, "hi");
    await screen.waitFor("done ·");
    submitLine(screen, "/model");
    const shown = await screen.waitFor(/Switch the model of anthropic \d+ of \d+/);
    expect(shown).toContain("an answer to keep");
    const picker = shown.slice(shown.indexOf("Switch the model")).split("\n");
    expect(picker.findIndex((line) => line.includes("Esc cancels"))).toBe(11);
    screen.type("haiku");
    await screen.waitFor(/filter: haiku\n❯ +anthropic\/\S*haiku/);
  },
  CHAT_TEST_MS,
);

it(
  "lists what a folder has after its slash, and sends the name of the folder with Enter",
  async () => {
    await using fixture = await openCommandFixture([say("seen")], {
      files: { "src/deep/a.ts": "", "src/b.ts": "", ".gitignore": "dist/\n" },
    });
    await mkdir(join(fixture.repository.path, "dist"));
    await writeFile(join(fixture.repository.path, "dist/built.js"), "");
    const screen = await openChat(fixture);
    screen.type("see @src/");
    const shown = await screen.waitFor(/→ src\/deep\/\s+src\/b\.ts/);
    expect(shown).not.toContain("a.ts");
    screen.press("tab");
    await screen.waitFor(/❯ see @src\/deep\/\s+→ src\/deep\/a\.ts/);
    screen.press("enter");
    await screen.waitFor(/^❯ see @src\/deep\/$[^]*seen/m);
    await screen.waitFor("done ·");
    screen.type("@dist/"); // git ignores it
    await screen.waitFor("→ dist/built.js");
  },
  CHAT_TEST_MS,
);

it(
  "clears the screen with Ctrl-L and keeps the scrollback and the input",
  async () => {
    await using fixture = await openCommandFixture([say("an answer")]);
    const screen = await openChat(fixture);
    submitLine(screen, "hi");
    await screen.waitFor("done ·");
    screen.type("a draft");
    await screen.waitFor("❯ a draft");
    screen.type("\x0c");
    const shown = await screen.waitFor(/^\n?─+\n❯ a draft\n.*anthropic/);
    expect(shown).not.toContain("an answer");
    expect(screen.all()).toContain("an answer");
    expect(screen.all().match(/a draft/g)).toHaveLength(1);
  },
  CHAT_TEST_MS,
);

it(
  "switches the permissions with Shift-Tab, before the first prompt and in a session",
  async () => {
    await using fixture = await openCommandFixture([say("an answer")]);
    const screen = await openChat(fixture);
    await screen.waitFor(/^anthropic/m);
    screen.press("shift-tab");
    await screen.waitFor("permissions: read");
    submitLine(screen, "hi");
    await screen.waitFor("done ·");
    const { stdout } = await fixture.rookery(["sessions", "events", "last", "--json"]);
    expect(stdout).toContain('"permissions":"read"');
    screen.press("shift-tab");
    await screen.waitFor(/^anthropic ((?!permissions).)*$/m);
  },
  CHAT_TEST_MS,
);

it.each([
  ["permission", call("bash", { command: "echo hi" }), "Allow bash?"],
  ["choice", call("ask", { question: "Which color?", choices: ["Red", "Blue"] }), "Enter answers"],
])(
  "quits with Ctrl-D pressed twice when the agent asks for a %s",
  async (_, asking, shown) => {
    await using fixture = await openCommandFixture([asking]);
    const screen = await openChat(fixture);
    submitLine(screen, "go");
    await screen.waitFor(shown); // the question has the keyboard focus
    screen.press("ctrl-d");
    await screen.waitFor("press Ctrl-D again to quit");
    screen.press("ctrl-d");
    expect(await screen.exited).toBe(0);
  },
  CHAT_TEST_MS,
);
