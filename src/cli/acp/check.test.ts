import { expect, it } from "vitest";
import type { CheckReport } from "../../acp/check/index.ts";
import { say, type Script } from "../../testing/index.ts";
import { MAIN, openPlace } from "../spawned.ts";

/** Slow enough to be cancelled where it is asked to count. */
const model: Script = ({ lastUserText }) => {
  if (!lastUserText.includes("Count")) return say(["Hel", "lo."]);
  return say(
    Array.from({ length: 500 }, (_, index) => `${index}\n`),
    { chunkDelayMs: 20 },
  );
};

it("rookery acp passes every check of its own conformance runner", async () => {
  await using place = await openPlace(model);
  const { code, stdout, stderr } = await place.rookery(["acp", "check", "--json", "--", process.execPath, MAIN, "acp"]);
  const report = JSON.parse(stdout) as CheckReport;
  const open = report.results.filter(({ status }) => status !== "pass");
  expect({ open, stderr }).toEqual({ open: [], stderr: "" });
  expect(code).toBe(0);
}, 60_000);
