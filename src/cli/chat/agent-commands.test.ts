import { expect, it } from "vitest";
import { readAcpRecord } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { CHAT_TEST_MS, configureAcpAgent, openChat, submitLine } from "./test-chat.ts";

it(
  "completes the commands of the agent's program, and sends the chosen one to it",
  async () => {
    await using fixture = await openCommandFixture();
    const record = await configureAcpAgent(fixture, {
      on: { "session/new": { steps: [REPORT] } },
      prompts: [[{ say: "hello" }], [{ say: "reviewed" }]],
    });
    const screen = await openChat(fixture, ["chat", "--agent", "other"]);
    submitLine(screen, "hi");
    await screen.waitFor("done ·");
    screen.type("/rev");
    await screen.waitFor(/\/review \[what\]\s+other: Reviews the changes/);
    screen.press("tab");
    await screen.waitFor(/❯ \/review *$/m);
    submitLine(screen, "the tests");
    await screen.waitFor("reviewed");
    expect(JSON.stringify((await readAcpRecord(record)).at(-1))).toContain("/review the tests");
    expect(screen.visible()).not.toContain("the agent's help"); // the chat has a command of that name
  },
  CHAT_TEST_MS,
);

const REPORT = {
  update: {
    sessionUpdate: "available_commands_update",
    availableCommands: [
      { name: "review", description: "Reviews the \u202echanges", input: { hint: "[what]" } },
      { name: "help", description: "the agent's help" },
    ],
  },
};

it(
  "refuses an unknown command as the first input of the built-in agent",
  async () => {
    await using fixture = await openCommandFixture();
    const screen = await openChat(fixture);
    await screen.waitFor("anthropic");
    submitLine(screen, "/hlep");
    await screen.waitFor("there is no command /hlep (did you mean /help?)");
    expect(fixture.server.requests).toEqual([]);
  },
  CHAT_TEST_MS,
);
