import { expect, it } from "vitest";
import { fault, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { CHAT_TEST_MS, openChat, submitLine } from "./test-chat.ts";

const STALLED = fault("stall", { text: ["part one ", "part two", " part three", " part four"], afterEvents: 4 });

it(
  "takes a message for the next step back into the input with Esc",
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
  "interrupts a turn of another chat, which sees that its message was taken back",
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
