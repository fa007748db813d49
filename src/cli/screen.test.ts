import { expect, it } from "vitest";
import { openCommandFixture } from "./test-command.ts";

it("renders what the built command prints on a terminal", async () => {
  await using fixture = await openCommandFixture();
  const screen = fixture.screen(["--help"], { columns: 100, rows: 30 });
  expect(await screen.exited).toBe(0);
  expect(screen.all()).toMatch(/^Usage: rookery|^rookery/m);
  expect(screen.svg("help")).toMatch(/^<svg [^]*rookery[^]*<\/svg>\n$/);
});
