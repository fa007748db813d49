import { afterEach, expect, it } from "vitest";
import { call, say, type Script } from "../../testing/index.ts";
import { hasTerminals, openPlace, type Place } from "../spawned.ts";

let place: Place;
afterEach(() => place[Symbol.asyncDispose]());

const tasks = [{ prompt: "make it", title: "Maker" }];
const script: Script = ({ messages, toolResults: [told] }) => {
  if (messages[0]?.text !== "go") return told === undefined ? call("bash", { command: "echo x >> x" }) : say("made");
  return told === undefined ? call("delegate", { tasks }) : say("Heard.");
};

it("a child is listed as one, its parent and it name each other, and the last session is the parent", async () => {
  place = await openPlace(script);
  await place.rookery(["run", "go", "--permissions", "all"]);
  const rows = (await place.rookery(["sessions"])).stdout.trimEnd().split("\n");
  expect(rows.map((row) => row.split(/ {2,}/).at(-1))).toEqual(["↳ Maker", "go"]);
  const [child = "", parent = ""] = rows.map((row) => row.split(" ")[0]);
  const shown = (await place.rookery(["sessions", "show", "last"])).stdout;
  expect(shown).toMatch(new RegExp(`^session +${parent}\n`));
  expect(shown).toMatch(new RegExp(`^child +${child} done Maker$`, "m"));
  expect((await place.rookery(["sessions", "show", child])).stdout).toMatch(new RegExp(`^child of +${parent}$`, "m"));
});

it.runIf(hasTerminals)("the person at the terminal is asked for a child, by its name", async () => {
  place = await openPlace(script);
  const running = place.terminal(["run", "go"]);
  await running.said(/Maker[^]*echo x >> x[^]*Allow [^\n]*\? /);
  running.child.stdin.write("y\n");
  expect((await running.ended).stdout).toContain("Heard.");
  expect(await place.repository.read("x")).toBe("x\n");
});
