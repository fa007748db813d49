import { expect, it } from "vitest";
import { isAlive } from "../../stdx/index.ts";
import { call, say, type Script } from "../../testing/index.ts";
import { parseEventLines } from "../test-command.ts";
import { openMcpFixture, SCRIPTED, stdio } from "./test-scene.ts";

const script: Script = ({ toolResults }) => (toolResults.length === 0 ? call("s__hang") : say("Went on."));

it("ends a server of a killed Rookery at the next start, and records its call as unknown", async () => {
  await using fixture = await openMcpFixture({ s: stdio(SCRIPTED, "ignore-term") }, { script });
  const run = fixture.start(["run", "go", "--permissions", "all", "--json"]);
  await run.waitForOutput(/"type":"tool\.started"/);
  run.child.kill("SIGKILL");
  const left = parseEventLines((await run.ended).stdout).find((event) => event.type === "process.started");
  if (left?.type !== "process.started") throw new Error("no server was started");
  expect(isAlive(left)).toBe(true);
  await fixture.rookery(["sessions"]);
  expect(isAlive(left)).toBe(false);
  const again = await fixture.rookery(["run", "--session", "last", "--json"]);
  expect(parseEventLines(again.stdout).filter((event) => event.type === "tool.ended")).toMatchObject([
    { outcome: "unknown" },
  ]);
  expect(again.code).toBe(0);
});
