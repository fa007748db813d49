import { expect, it } from "vitest";
import type { ProgramScreen } from "../../../test/support/screen.ts";
import { fault, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { CHAT_TEST_MS, openChat, submitLine } from "./test-chat.ts";

const STALLED = fault("stall", { text: ["part one ", "part two", " part three", " part four"], afterEvents: 4 });

it(
  "moves a message for the next step back into the input with Esc",
  async () => {
    await using fixture = await openCommandFixture([STALLED, say("second answer")]);
    const screen = await openChat(fixture, ["chat"]);
    submitLine(screen, "go");
    await screen.waitFor("part one");
    submitLine(screen, "rather so");
    await screen.waitFor("⋯ for the next step: rather so");
    screen.press("escape");
    await screen.waitFor(/cancelled ·[^]*\n❯ rather so\n/);
    expect(screen.visible()).not.toContain("⋯");
    screen.type(" please");
    screen.press("enter");
    await screen.waitFor("second answer");
    expect(screen.all()).toContain("❯ rather so please");
    expect(fixture.server.requests).toHaveLength(2);
    const again = fixture.screen(["-c"]);
    await again.waitFor(/❯ go\n[^]*\nwithdrawn: rather so\n[^]*❯ rather so please/);
  },
  CHAT_TEST_MS,
);

it(
  "interrupts a turn of another chat, which sees that its message was withdrawn",
  async () => {
    await using fixture = await openCommandFixture([STALLED]);
    const first = await openChat(fixture, ["chat"]);
    submitLine(first, "go");
    await first.waitFor("part one");
    submitLine(first, "rather so");
    await first.waitFor("⋯ for the next step: rather so");
    const second = fixture.screen(["chat", "last"]);
    await second.waitFor(/drives this session[^]*⋯ for the next step: rather so/);
    second.press("escape");
    await second.waitFor(/cancelled ·[^]*\n❯ rather so\n/);
    await first.waitFor(/withdrawn: rather so[^]*cancelled ·/);
    expect(fixture.server.requests).toHaveLength(1);
  },
  CHAT_TEST_MS,
);

it.each<[string, (screen: ProgramScreen) => Promise<void>]>([
  ["/quit", async (screen) => submitLine(screen, "/quit")],
  [
    "Ctrl-D twice",
    async (screen) => {
      screen.press("ctrl-d");
      await screen.waitFor("press Ctrl-D again to quit");
      screen.press("ctrl-d");
    },
  ],
  [
    "Ctrl-C twice",
    async (screen) => {
      screen.press("ctrl-c");
      await screen.waitFor(/cancelled ·[^]*❯ later one[^]*press Ctrl-C again to quit/);
      screen.press("ctrl-c");
    },
  ],
])(
  "keeps follow-ups for the next chat after %s",
  async (_, quit) => {
    await using fixture = await openCommandFixture([STALLED, say("second answer")]);
    const screen = await openChat(fixture, ["chat"]);
    submitLine(screen, "go");
    await screen.waitFor("part one");
    for (const text of ["later one", "later two"]) {
      screen.type(text);
      screen.press("alt-enter");
      await screen.waitFor(`after this turn: ${text}`);
    }
    await quit(screen);
    expect(await screen.exited).toBe(0);
    expect(screen.all()).toMatch(
      /not sent: later one[^]*later two\nthe next chat of this session has it in its input\n[^]*continue with: rookery chat/,
    );
    const again = fixture.screen(["-c"]);
    await again.waitFor(/cancelled ·[^]*\n❯ later one\n\n {2}later two\n/);
    again.press("enter");
    await again.waitFor(/second answer[^]*done ·/);
    again.press("ctrl-d");
    expect(await again.exited).toBe(0);
    const third = fixture.screen(["-c"]);
    await third.waitFor(/second answer[^]*\n❯ ?\n/);
    expect(third.visible()).not.toContain("not sent");
  },
  CHAT_TEST_MS,
);

it(
  "prints unsent input when a chat without a session ends",
  async () => {
    await using fixture = await openCommandFixture([]);
    const screen = await openChat(fixture, ["chat"]);
    submitLine(screen, "!echo started; sleep 60");
    await screen.waitFor(/❯ !echo started; sleep 60\n[^]*❯ ?\n/);
    submitLine(screen, "later one");
    await screen.waitFor("later one");
    screen.type("half a thought");
    await screen.waitFor("❯ half a thought");
    process.kill(screen.pid, "SIGTERM");
    await screen.exited;
    expect(screen.all()).toMatch(/not sent: later one[^]*not sent: half a thought/);
    expect(screen.all()).not.toContain("the next chat of this session");
  },
  CHAT_TEST_MS,
);

it(
  "keeps prompts that wait for a shell command for the next chat of the session, but drops further commands",
  async () => {
    await using fixture = await openCommandFixture([say("first answer")]);
    const screen = await openChat(fixture, ["chat"]);
    submitLine(screen, "go");
    await screen.waitFor(/first answer[^]*done ·/);
    for (const line of ["!sleep 60", "later one", "!echo no", "later two"]) {
      submitLine(screen, line);
      await screen.waitFor(`❯ ${line}\n`);
    }
    process.kill(screen.pid, "SIGTERM");
    await screen.exited;
    expect(screen.all()).toMatch(
      /not run: !echo no\nnot sent: later one\nnot sent: later two\nthe next chat of this session has it in its input/,
    );
    const again = fixture.screen(["-c"]);
    await again.waitFor(/first answer[^]*\n❯ later one\n\n {2}later two\n/);
  },
  CHAT_TEST_MS,
);
