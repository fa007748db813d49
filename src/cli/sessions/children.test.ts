import { afterEach, expect, it } from "vitest";
import { call, say, type Script } from "../../testing/index.ts";
import { hasPseudoTerminals, openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const tasks = [{ prompt: "make it", title: "Maker" }];
const script: Script = ({ messages, toolResults: [told] }) => {
  if (messages[0]?.text !== "go") return told === undefined ? call("bash", { command: "echo x >> x" }) : say("made");
  return told === undefined ? call("delegate", { tasks }) : say("Heard.");
};

it("lists a child session, links it with its parent, and resolves last to the parent", async () => {
  fixture = await openCommandFixture(script);
  await fixture.rookery(["run", "go", "--permissions", "all"]);
  const rows = (await fixture.rookery(["sessions"])).stdout.trimEnd().split("\n");
  expect(rows.map((row) => row.split(/ {2,}/).at(-1))).toEqual(["go", "↳ Maker"]);
  const [parent = "", child = ""] = rows.map((row) => row.split(" ")[0]);
  const shown = (await fixture.rookery(["sessions", "show", "last"])).stdout;
  expect(shown).toMatch(new RegExp(`^session +${parent} \\(ses_\\w+${parent}\\)\n`));
  expect(shown).toMatch(new RegExp(`^child +${child} done Maker$`, "m"));
  expect((await fixture.rookery(["sessions", "show", child])).stdout).toMatch(new RegExp(`^child of +${parent}$`, "m"));
});

it.runIf(hasPseudoTerminals)("asks the person at the terminal for a child session, by its name", async () => {
  fixture = await openCommandFixture(script);
  const running = fixture.terminal(["run", "go"]);
  await running.waitForOutput(/Maker[^]*echo x >> x[^]*Allow [^\n]*\? /);
  running.child.stdin.write("y\n");
  expect((await running.ended).stdout).toContain("Heard.");
  expect(await fixture.repository.read("x")).toBe("x\n");
});
