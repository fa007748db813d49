import { expect, it } from "vitest";
import { say } from "../../testing/index.ts";
import { plainPaint } from "../paint.ts";
import { openCommandFixture } from "../test-command.ts";
import { renderChatHelp } from "./commands/help.ts";
import { renderGreeting } from "./start/greeting.ts";
import { SLASH_COMMANDS } from "./slash-commands.ts";
import { CHAT_TEST_MS, openChat, submitLine } from "./test-chat.ts";

it(
  "greets, shows the time of a turn, and lists the commands in columns",
  async () => {
    await using fixture = await openCommandFixture([say("hello")]);
    const screen = await openChat(fixture, [], { columns: 100, rows: 50 });
    await screen.waitFor(/Rookery \d+\.\d+\.\d+\n\/ commands · @ files/);
    submitLine(screen, "hi");
    await screen.waitFor(/ · took \d+\.\ds$/m);
    submitLine(screen, "/help");
    await screen.waitFor("Type / to complete");
    expect(screen.visible()).toMatch(/\n\n❯ \/help\nCommands\n\/help +list the commands and keys\n/);
    expect(screen.visible()).toMatch(/^\/permissions \[policy\] {2}change when it asks/m);
    expect(screen.style("/permissions")?.color).toBe(6);
  },
  CHAT_TEST_MS,
);

it(
  "says at the start what the agent lacks, and returns a prompt that cannot be sent to the input",
  async () => {
    await using fixture = await openCommandFixture();
    const screen = await openChat(fixture, ["chat", "--agent", "anthropic"], { env: { ANTHROPIC_API_KEY: "" } });
    await screen.waitFor("the agent anthropic is not ready");
    submitLine(screen, "hello there");
    await screen.waitFor("no key for Anthropic");
    await screen.waitFor("❯ hello there");
  },
  CHAT_TEST_MS,
);

it(
  "says how to get an agent if none is ready, without naming one that nobody has chosen",
  async () => {
    await using fixture = await openCommandFixture();
    const screen = await openChat(fixture, [], { env: { ANTHROPIC_API_KEY: "" } });
    const shown = await screen.waitFor(/shows a whole turn without a key\n\n─+\n❯/);
    expect(shown.split("\n").slice(0, 6)).toEqual([
      expect.stringMatching(/^Rookery /),
      "/ commands · @ files · ! shell · Shift-Tab permissions · Ctrl-D quits · /help",
      "No agent is ready yet. Quit with Ctrl-D, then one of:",
      "  export ANTHROPIC_API_KEY=…",
      "  rookery agents    lists the programs to install or to log in to",
      "  rookery demo      shows a whole turn without a key",
    ]);
  },
  CHAT_TEST_MS,
);

it("fits every command of /help into a line of 80 columns", () => {
  const lines = renderChatHelp(SLASH_COMMANDS, { width: 80, paint: plainPaint });
  expect(lines.filter((line) => line.startsWith("/"))).toHaveLength(SLASH_COMMANDS.length);
  expect(lines.filter((line) => line.startsWith(" "))).toEqual([]);
  for (const width of [20, 60, 80]) {
    const narrow = [
      ...renderChatHelp(SLASH_COMMANDS, { width, paint: plainPaint }),
      ...renderGreeting("1.0.0", { width, paint: plainPaint }),
    ];
    expect(narrow.filter((line) => line.length > width)).toEqual([]);
  }
});
