import { expect, it } from "vitest";
import { checkFixture, detail, ids } from "./test-fixture.ts";

it.concurrent.each<[number, string, RegExp]>([
  [1, "prints-empty-lines", /an empty line/],
  [1, "prints-latin-1", /not UTF-8/],
  [1, "prints-batches", /not a JSON object/],
  [1, "no-jsonrpc", /without "jsonrpc":"2.0"/],
  [1, "ends-in-half-a-line", /in the middle of a line/],
  [2, "ids-as-numbers", /the id 42 instead of "42"/],
  [2, "ids-as-null", /the id null instead of "rookery-1"/],
  [3, "neither-result-nor-error", /_rookery\/check was answered with neither/],
  [3, "answers-twice", /session\/new was answered more than once/],
  [5, "answers-version-2", /version 1 was answered with 2/],
  [5, "dies-at-once", /the agent ended \(exit code 3\); its last line on stderr: fixture: no configuration/],
  [7, "unknown-update", /params.update.sessionUpdate must be .*"notice".*, is "mood_update"/],
  [7, "unknown-method", /"session\/ponder" is not a request of the protocol/],
  [8, "empty-session-id", /an empty session id/],
  [8, "wants-authentication", /session\/new was answered with the error -32000/],
  [9, "dies-when-prompted", /the agent ended \(exit code 3\)/],
  [9, "odd-stop-reason", /answered with {"stopReason":"bored"}/],
  [11, "cancel-fails", /the error -32603 "aborted"/],
  [13, "opens-terminals", /called terminal\/create/],
  [13, "elicits", /called elicitation\/create/],
  [17, "load-fails", /the error -32603 "cannot load <session>"/],
  [17, "load-forgets-user", /the user's message was not replayed/],
  [17, "load-forgets-agent", /the agent's message was not replayed/],
  [17, "load-goes-on", /agent_message_chunk came after session\/load was answered/],
  [20, "delete-fails", /session\/delete was answered with the error/],
  [20, "delete-keeps", /still returns a deleted session/],
  [20, "close-fails", /session\/close was answered with the error/],
  [21, "value-not-offered", /the option "effort" has the value "extreme"/],
  [22, "option-not-set", /does not show "high"/],
  [23, "refuses-audio", /audio: .* "cannot read audio"/],
  [23, "refuses-resource", /embeddedContext: .* "cannot read resource"/],
  [24, "dies-of-errors", /after failed requests, session\/new: the agent ended/],
  [25, "relative-diff", /the diff of "greeting.txt" is not an absolute path/],
])("reports the fault with check %i: %s", async (id, wrong, seen) => {
  const report = await checkFixture(wrong, { only: [id] });
  expect(ids(report, "fail")).toEqual([id]);
  expect(detail(report, id)).toMatch(seen);
});

it("fails check 11 and leaves check 12 not seen if the agent never answers a cancelled prompt", async () => {
  const report = await checkFixture("cancel-hangs", { only: [11, 12], timeoutMs: 1_500 });
  expect(ids(report, "fail")).toEqual([11]);
  expect(detail(report, 11)).toBe("session/prompt was not answered");
  expect(ids(report, "not_seen")).toEqual([12]);
});

it("fails check 24 and stops the agent if it keeps running after the end of its input", async () => {
  const report = await checkFixture("stays-after-eof", { only: [24], timeoutMs: 1_500 });
  expect(detail(report, 24)).toBe("the agent kept running after the end of stdin");
});

it("reports an error code that is not a number as invalid, not as an unknown method", async () => {
  expect(detail(await checkFixture("odd-error-code", { only: [7, 24] }), 7)).toMatch(/error.code must be integer/);
});

it.concurrent.each<[string, string, number[]]>([
  ["extends the protocol with names that start with _", "extends", [7, 9, 10]],
  ["sends an update before the answer to session/new", "updates-early", [7, 8, 10]],
  ["does not persist a warning that it sent as a message", "warns", [17]],
  ["reports its usage after a cancelled turn", "usage-after-cancel", [11, 12]],
  ["asks for permission before anything else in a turn that is cancelled", "asks-before-it-starts", [11, 12, 20]],
])("reports nothing for an agent that %s", async (_, harmless, only) => {
  expect(ids(await checkFixture(harmless, { only }), "pass")).toEqual(only);
});

it("reports cancelling as not seen if every turn ends before it can be cancelled", async () => {
  const report = await checkFixture("turn-too-fast", { only: [11, 12, 20], settleMs: 500 });
  expect(report.results.map(({ status }) => status)).toEqual(["not_seen", "not_seen", "not_seen"]);
  expect(detail(report, 11)).toMatch(/use a slower prompt/);
  expect(report.ok).toBe(true);
});

it("reports closing as not seen if the prompt always ends just before the session is closed", async () => {
  const report = await checkFixture("turn-ends-when-probed", { only: [20] });
  expect(ids(report, "not_seen")).toEqual([20]);
  expect(detail(report, 20)).toMatch(/use a slower prompt/);
  expect(report.ok).toBe(true);
});

it("does not use capabilities that the agent does not advertise", async () => {
  const report = await checkFixture("offers-nothing");
  expect(ids(report, "not_offered")).toEqual([17, 18, 19, 20, 21, 22, 23]);
  expect(ids(report, "fail")).toEqual([]);
});

it("reports checks that need a prompt as not seen if no prompt works", async () => {
  const report = await checkFixture("prompt-fails", { only: [9, 11, 12, 13, 17, 18, 23] });
  expect(ids(report, "not_seen")).toEqual([11, 12, 13, 17, 18, 23]);
});

it("authenticates with the given method if the agent requires it", async () => {
  const report = await checkFixture("wants-authentication", { only: [8, 9], authenticate: "key" });
  expect(ids(report, "pass")).toEqual([8, 9]);
  const refused = await checkFixture("wants-authentication", { only: [8, 9], authenticate: "other" });
  expect(detail(refused, 8)).toMatch(/authenticate was answered with the error -32602/);
});
