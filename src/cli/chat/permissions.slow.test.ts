import { expect, it } from "vitest";
import { call, fault, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

it("allows with y, denies with n, and gives a reason with e", async () => {
  await using fixture = await openCommandFixture([
    call("bash", { command: "echo first" }),
    call("bash", { command: "echo second" }),
    call("bash", { command: "echo third" }),
    say("finished"),
  ]);
  const screen = fixture.screen(["chat"]);
  await screen.waitFor("❯");
  screen.type("go");
  screen.press("enter");
  await screen.waitFor("Allow bash?");
  expect(screen.all()).toContain("command: echo first");
  screen.type("yy"); // the second one answers nothing
  await screen.waitFor("command: echo second");
  await screen.waitFor("Allow bash?");
  screen.type("n");
  await screen.waitFor("command: echo third");
  await screen.waitFor("Allow bash?");
  screen.type("e");
  await screen.waitFor("reason: echo third");
  screen.press("ctrl-c");
  screen.type("not now, please");
  screen.press("enter");
  await screen.waitFor("finished");
  const sent = JSON.stringify(fixture.server.requests.at(-1)?.messages);
  expect(sent).toContain("not now, please");
  expect(screen.all()).toMatch(/✓ .*echo first/);
  expect(screen.all()).not.toContain("does not need an answer");
}, 90_000);

it("interrupts with Esc, quits with Ctrl-C twice, and continues with -c", async () => {
  await using fixture = await openCommandFixture([
    fault("stall", { text: ["part one ", "part two", " part three", " part four"], afterEvents: 4 }),
    say("second answer"),
  ]);
  const screen = fixture.screen([]);
  await screen.waitFor("❯");
  screen.type("first question");
  screen.press("enter");
  await screen.waitFor("part one");
  screen.press("escape");
  await screen.waitFor("cancelled");
  screen.press("ctrl-c");
  await screen.waitFor("press Ctrl-C again to quit");
  screen.press("ctrl-c");
  expect(await screen.exited).toBe(0);

  const again = fixture.screen(["-c"]);
  await again.waitFor("first question");
  again.type("second question");
  again.press("enter");
  await again.waitFor("second answer");
  expect(again.all()).toContain("cancelled");
}, 90_000);
