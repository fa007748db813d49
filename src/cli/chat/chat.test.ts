import { expect, it } from "vitest";
import { say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

it("streams an answer, keeps it in the scrollback and quits", async () => {
  await using fixture = await openCommandFixture([say("# Title\n\nHello **world**.\n\n- one\n- two\n")]);
  const screen = fixture.screen([]);
  await screen.waitFor("❯");
  screen.type("hi there");
  screen.press("enter");
  await screen.waitFor("done ·");
  expect(screen.visible()).toContain("❯ hi there");
  expect(screen.visible()).toContain("Hello world.\n\n• one\n• two");
  expect(screen.style("world")?.bold).toBe(true);
  screen.press("ctrl-d");
  expect(await screen.exited).toBe(0);
  expect(screen.all()).toMatch(/^continue with: rookery chat \w{8}$/m);
});
