import { expect, it } from "vitest";
import { call, fault, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { openChat, submitLine } from "./test-chat.ts";

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
  await screen.waitFor("Allow bash? echo first");
  screen.type("yy"); // the second one answers nothing
  await screen.waitFor("Allow bash? echo second");
  screen.type("n");
  await screen.waitFor("Allow bash? echo third");
  screen.type("e");
  await screen.waitFor("run instead: echo third");
  screen.type(" again");
  screen.press("enter");
  await screen.waitFor("finished");
  const sent = JSON.stringify(fixture.server.requests.at(-1)?.messages);
  expect(sent).toContain("Run this command instead: echo third again");
  expect(screen.all()).toMatch(
    /❯ go\n\n✓ bash: echo first — allowed by you[^\n]*\n⊘ bash: echo second — denied\n⊘ bash: echo third — denied: Run this command instead: echo third again\n\nfinished/,
  ); // one entry for each call, and nothing of the questions
  expect(screen.all()).not.toContain("? ");
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

it("treats a sentence typed at a question as the reason for a denial, whatever its letters", async () => {
  await using fixture = await openCommandFixture([call("bash", { command: "echo one" }), say("finished")]);
  const screen = await openChat(fixture, ["chat"]);
  submitLine(screen, "go");
  await screen.waitFor(
    /\? Allow bash\? echo one\n {2}y yes · n no · a always echo … · e edit the command · Esc interrupts/,
  );
  screen.type("yes, but not now");
  await screen.waitFor("reason: yes, but not now");
  screen.press("enter");
  await screen.waitFor("finished");
  expect(JSON.stringify(fixture.server.requests.at(-1)?.messages)).toContain("yes, but not now");
  expect(screen.all()).not.toMatch(/✓ .*echo one/);
}, 90_000);

it("allows a tool for the session after a twice, and opens the whole diff with d", async () => {
  const content = Array.from({ length: 60 }, (_, index) => `line ${index}\n`).join("");
  await using fixture = await openCommandFixture([
    call("write", { path: "src/big.txt", content }),
    call("bash", { command: "echo one" }),
    call("bash", { command: "echo two" }),
    say("finished"),
  ]);
  const screen = await openChat(fixture, ["chat"], { env: { PAGER: "cat" } });
  submitLine(screen, "go");
  await screen.waitFor("Allow write?");
  expect(screen.visible()).toContain("src/big.txt new file +60"); // the diff leaves room for its title
  expect(screen.all()).not.toContain("line 59");
  screen.type("d");
  await screen.waitFor(/line 59\n[^]*Allow write\?/);
  screen.type("y");
  await screen.waitFor("Allow bash? echo one");
  screen.type("a");
  await screen.waitFor('press a again to allow "echo …" in this session');
  screen.type("a");
  await screen.waitFor("finished");
  expect(screen.all()).toMatch(/✓ .*echo one[^]*✓ .*echo two/);
}, 90_000);

it("goes back from the second a to the question with Esc, and interrupts with another Esc", async () => {
  await using fixture = await openCommandFixture([call("bash", { command: "echo one" }), say("never")]);
  const screen = await openChat(fixture, ["chat"]);
  submitLine(screen, "go");
  await screen.waitFor("Allow bash? echo one");
  screen.type("a");
  await screen.waitFor(/press a again to allow "echo …"[^]* · A every\s+bash · y once ·\s+Esc\s+goes back/);
  screen.press("escape");
  await screen.waitFor(/\? Allow bash\? echo one\n {2}y yes · n no · a always/);
  expect(screen.all()).not.toContain("cancelled");
  screen.press("escape");
  await screen.waitFor("cancelled ·");
  expect(fixture.server.requests).toHaveLength(1);
}, 90_000);

it.each(["escape", "ctrl-c"] as const)(
  "keeps a line for the call that %s interrupted at its question",
  async (key) => {
    await using fixture = await openCommandFixture([call("bash", { command: "npm test" }), say("never")]);
    const screen = await openChat(fixture, ["chat"]);
    submitLine(screen, "go");
    await screen.waitFor("Allow bash? npm test");
    screen.press(key);
    await screen.waitFor(/❯ go\n\n⊘ bash: npm test — interrupted\ncancelled ·/);
    await using again = fixture.screen(["-c"]);
    await again.waitFor(/❯ go\n\n⊘ bash: npm test — interrupted\ncancelled ·/);
    const { stdout } = await fixture.rookery(["sessions", "show", "last"]);
    expect(stdout).toMatch(/› go\n+⊘ bash: npm test — interrupted\ncancelled ·/);
  },
  90_000,
);

it("lists with /permissions what is always allowed, and revokes it", async () => {
  await using fixture = await openCommandFixture([
    call("bash", { command: "echo one" }),
    say("finished"),
    call("bash", { command: "echo two" }),
    say("finished again"),
  ]);
  const screen = await openChat(fixture, ["chat"]);
  submitLine(screen, "go");
  await screen.waitFor("Allow bash? echo one");
  screen.type("aa");
  await screen.waitFor("done ·");
  submitLine(screen, "/permissions");
  await screen.waitFor(/Permissions[^]*revoke bash: echo … +always allowed in this session; ask again/);
  screen.type("revoke");
  await screen.waitFor(/❯ revoke bash: echo …/);
  screen.press("enter");
  await screen.waitFor("permissions: bash: echo … asks again");
  submitLine(screen, "again");
  await screen.waitFor("Allow bash? echo two");
}, 90_000);

it("interrupts with Ctrl-C before it quits, and says why a turn failed", async () => {
  await using fixture = await openCommandFixture([
    fault("stall", { text: ["part one ", "part two", " part three", " part four"], afterEvents: 4 }),
    fault(401),
  ]);
  const screen = await openChat(fixture);
  submitLine(screen, "go");
  await screen.waitFor("part one");
  screen.press("ctrl-d");
  await screen.waitFor("press Ctrl-D again to quit");
  screen.press("ctrl-c");
  await screen.waitFor("cancelled ·");
  await screen.waitFor("press Ctrl-C again to quit");
  screen.type("again");
  await screen.waitFor(/❯ again\n(?!press)/);
  screen.press("enter");
  await screen.waitFor(/! .*refused the key[^]*failed ·/);
}, 90_000);

it("interrupts with one Ctrl-C at a question to which Esc went back from a reason", async () => {
  await using fixture = await openCommandFixture([call("bash", { command: "echo one" }), say("finished")]);
  const screen = await openChat(fixture, ["chat"]);
  submitLine(screen, "go");
  await screen.waitFor("Allow bash? echo one");
  screen.type("not this");
  await screen.waitFor("reason: not this");
  screen.press("escape");
  await screen.waitFor("y yes");
  screen.press("ctrl-c");
  await screen.waitFor("cancelled ·");
}, 90_000);
