import { expect, it } from "vitest";
import { say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { CHAT_TEST_MS } from "./test-chat.ts";

it(
  "opens a chat that sends the prompt of the command line first, and continues it with -c and another prompt",
  async () => {
    await using fixture = await openCommandFixture([say("the bug is fixed"), say("the docs too")]);
    const screen = fixture.screen(["fix the bug"]);
    await screen.waitFor("the bug is fixed");
    expect(screen.visible()).toMatch(/❯ fix the bug\n[^]*the bug is fixed/);
    await screen.waitFor("done ·");
    screen.press("ctrl-d");
    expect(await screen.exited).toBe(0);
    const next = fixture.screen(["-c", "and the docs"]);
    await next.waitFor(/❯ fix the bug[^]*❯ and the docs\n[^]*the docs too/, { scrollback: true });
    await next.waitFor("done ·");
    next.press("up");
    await next.waitFor(/^❯ and the docs$/m);
  },
  CHAT_TEST_MS,
);

it(
  "keeps a prompt that cannot be sent in the input, with one message",
  async () => {
    await using fixture = await openCommandFixture();
    const env = { ANTHROPIC_API_KEY: "" };
    const screen = fixture.screen(["--agent", "anthropic", "fix the bug"], { env });
    await screen.waitFor(/the agent anthropic is not ready[^]*❯ fix the bug/);
    expect(screen.visible().match(/not ready|no key/g)).toHaveLength(1);
  },
  CHAT_TEST_MS,
);

it(
  "sends the prompt first in plain lines too",
  async () => {
    await using fixture = await openCommandFixture([say("the bug is fixed")]);
    const screen = fixture.screen(["fix the bug"], { env: { NO_COLOR: "1" } });
    await screen.waitFor(/the bug is fixed[^]*^>$/m);
  },
  CHAT_TEST_MS,
);

it("says what to use for a prompt without a terminal", async () => {
  await using fixture = await openCommandFixture();
  const { code, stderr } = await fixture.rookery(["fix the bug"]);
  expect(stderr).toBe("rookery: a chat needs a terminal; without one, use: rookery run 'fix the bug'\n");
  expect(code).toBe(2);
});
