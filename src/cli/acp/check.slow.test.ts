import { join } from "node:path";
import { expect, it } from "vitest";
import type { CheckReport } from "../../acp/devtools/check/index.ts";
import { call, say, type Script } from "../../testing/index.ts";
import { linkCodeCache, BUILT_COMMAND, openCommandFixture, type CommandFixture } from "../test-command.ts";

/** Writes a file first. Replies slowly enough to be cancelled if the prompt asks it to count. */
const model: Script = ({ lastUserText, messages }) => {
  if (!lastUserText.includes("Count")) {
    const hasWritten = messages.some(({ toolResults }) => toolResults.length > 0);
    return hasWritten ? say(["Hel", "lo."]) : call("write", { path: "made.txt", content: "hello\n" });
  }
  return say(
    Array.from({ length: 500 }, (_, index) => `${index}\n`),
    { chunkDelayMs: 20 },
  );
};

const ROOKERY = [process.execPath, BUILT_COMMAND, "acp"];

async function checkAgent(fixture: CommandFixture, command: readonly string[]): Promise<CheckReport> {
  linkCodeCache(join(fixture.home, ".rookery"));
  const { stdout, stderr } = await fixture.rookery(["acp", "check", "--json", "--", ...command]);
  expect(stderr).toBe("");
  return JSON.parse(stdout) as CheckReport;
}

it("rookery acp passes every check of the conformance runner", { timeout: 120_000 }, async () => {
  await using fixture = await openCommandFixture(model);
  const report = await checkAgent(fixture, ROOKERY);
  expect(report.results.filter(({ status }) => status !== "pass")).toEqual([]);
  expect(report.ok).toBe(true);
});

/** Each of some 30 checks starts two processes. */
it.runIf(process.env["ROOKERY_SLOW"] === "1")(
  "the report of the conformance runner is the same behind the proxy",
  { timeout: 120_000 },
  async () => {
    await using fixture = await openCommandFixture(model);
    await using other = await openCommandFixture(model); // without the file that the first run writes
    const report = await checkAgent(fixture, ROOKERY);
    expect(await checkAgent(other, [...ROOKERY, "proxy", "--", ...ROOKERY])).toEqual(report);
  },
);

it("reports a failed check as text and as the exit code", async () => {
  await using fixture = await openCommandFixture();
  const silly = "process.stdin.once('data', () => console.log('hello'))";
  const args = ["acp", "check", "--only", "1,5", "--timeout", "1", "--", process.execPath, "-e", silly];
  const { code, stdout } = await fixture.rookery(args);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^ 1 {2}M {2}fail .*\n[^]*^ 5 {2}M {2}fail /m)]);
}, 30_000);
