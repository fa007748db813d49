import { expect, it } from "vitest";
import { openCommandFixture } from "../test-command.ts";

it("exits with a message if the named session does not exist", async () => {
  await using fixture = await openCommandFixture();
  await using screen = fixture.screen(["chat", "nope"]);
  expect(await screen.exited).toBe(1);
  expect(screen.all()).toBe("rookery: no session nope; list all sessions: rookery sessions");
});
