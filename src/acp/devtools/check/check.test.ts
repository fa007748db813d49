import { expect, it } from "vitest";
import { CHECK_IDS } from "./catalog.ts";
import { checkFixture, detail, ids } from "./test-fixture.ts";

/** Each check starts the agent. `npm test` runs one check for each fault, `npm run test:slow` all of them. */
const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";

it(
  "passes every check for a conforming agent, with equal reports for equal behavior",
  { timeout: 120_000 },
  async () => {
    const [report, again] = await Promise.all([checkFixture("nothing"), checkFixture("nothing")]);
    expect(ids(report, "pass")).toEqual(CHECK_IDS);
    expect(report).toMatchObject({ protocolVersion: 1, agent: { name: "fixture", version: "1.0.0" }, ok: true });
    expect(report.results.filter((result) => "detail" in result)).toEqual([]);
    expect(again).toEqual(report);
  },
);

it.concurrent.each<[number, string, RegExp]>([
  [1, "prints-logs", /not JSON: "starting…"/],
  [2, "ids-as-strings", /the id "2" instead of 2/],
  [3, "result-and-error", /initialize was answered with both/],
  [4, "answers-notifications", /the notification .* was answered with .*"id":null/],
  [5, "bad-capability", /agentCapabilities.mcpCapabilities.http must be boolean, is "yes"/],
  [6, "echoes-version", /version 65535 was answered with 65535/],
  [7, "bad-chunk", /session\/update: params.update.content.text must be string, is 17/],
  [8, "same-session-id", /the same session id twice/],
  [9, "prompt-fails", /the error -32603 "the model is gone" {"status":500}/],
  [10, "updates-another-session", /agent_message_chunk carried another session's id/],
  [11, "cancel-ignored", /the prompt was cancelled, but session\/prompt was answered with {"stopReason":"end_turn"}/],
  [12, "updates-after-cancel", /agent_message_chunk came after/],
  [13, "reads-files", /called fs\/read_text_file/],
  [14, "boolean-option", /"id":"fast"/],
  [15, "terminal-auth", /"id":"login"/],
  [16, "deaf-to-extensions", /_rookery\/check was not answered/],
  [17, "load-replays-late", /not replayed before the answer, and user_message_chunk came after/],
  [18, "resume-replays", /session\/resume replayed user_message_chunk/],
  [19, "list-ignores-cwd", /sessions for a directory that has none/],
  [20, "close-ends-turn", /was closed, but session\/prompt was answered with {"stopReason":"end_turn"}/],
  [21, "mode-not-offered", /the current mode is "yolo", but the offered modes are \["ask","code"\]/],
  [22, "part-of-the-options", /lacks the option "model"/],
  [23, "refuses-image", /image: .* "cannot read image"/],
  [24, "internal-error-for-unknown", /rookery\/unknown was answered with the error -32603/],
  [25, "relative-location", /the location ".\/greeting.txt" is not an absolute path/],
  [26, "edit-without-diff", /for the edit "Write greeting.txt" had no diff/],
])("fails only check %i for an agent with the fault %s", async (id, wrong, seen) => {
  const report = await checkFixture(wrong, {
    ...(wrong === "deaf-to-extensions" && { timeoutMs: 4_000 }),
    ...(!IS_SLOW_RUN && { only: [id] }),
  });
  expect(ids(report, "fail")).toEqual([id]);
  expect(detail(report, id)).toMatch(seen);
  expect(report.ok).toBe(id === 24 || id === 26);
});
