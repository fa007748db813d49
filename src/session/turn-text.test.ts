import { expect, it } from "vitest";
import type { EventBody, TurnOutcome } from "../domain/index.ts";
import { DONE, openScriptedSession, waitForStop } from "./test-scripted-session.ts";

const says = (text: string, ...toolCalls: string[]): EventBody => ({
  type: "message.completed",
  messageId: `m-${text}`,
  text,
  ...(toolCalls.length > 0 && { toolCalls: toolCalls.map((toolId) => ({ toolId, name: "sh", input: {} })) }),
});
const ran = (toolId: string): EventBody[] => [
  { type: "tool.started", toolId, name: "sh", title: "sh", kind: "execute", input: {} },
  { type: "tool.ended", toolId, outcome: "ok", text: "out" },
];
const prints = (text: string, from?: string): EventBody => ({
  type: "output.text",
  text,
  ...(from !== undefined && { from }),
});

it.each<[string, EventBody[], string]>([
  ["the only message", [says("Hello.")], "Hello."],
  [
    "what follows the last tool call",
    [says("I look."), ...ran("a"), says("And."), ...ran("b"), says("Done.")],
    "Done.",
  ],
  ["several final messages", [...ran("a"), says("One."), says("Two.")], "One.\n\nTwo."],
  ["nothing if a tool call is the end", [says("I look."), ...ran("a")], ""],
  ["no message that calls a tool, even if it is recorded after the call", [...ran("a"), says("I look.", "a")], ""],
  ["no abandoned message", [{ type: "message.delta", messageId: "m", text: "Hel" }, says("Hi.")], "Hi."],
  ["no empty message", [says("Hi."), says(" \n")], "Hi."],
  ["the output of a program without messages", [prints("on"), prints("e\n"), prints("server log", "mcp")], "one\n"],
  ["no output of a program with messages", [prints("starting"), says("Hi.")], "Hi."],
])("text() is %s", async (_, events, text) => {
  await using s = await openScriptedSession((turn) => {
    turn.log.record(...events);
    return Promise.resolve(DONE);
  });
  await s.session.prompt("before").outcome;
  const turn = s.session.prompt("go");
  await s.session.queue("after");
  await s.session.idle();
  expect(await turn.text()).toBe(text);
});

it.each<[TurnOutcome, string, string]>([
  [{ status: "failed", code: "provider_auth", message: "wrong key" }, "provider_auth", "wrong key"],
  [{ status: "failed", code: "of_tomorrow", message: "new" }, "agent_failed", "new"],
  [{ status: "stalled", clock: "model", message: "silent" }, "agent_failed", "silent"],
])("text() rejects with the reason of %j", async (outcome, code, message) => {
  await using s = await openScriptedSession(() => Promise.resolve(outcome));
  await expect(s.session.prompt("go").text()).rejects.toMatchObject({ code, message });
});

it("text() of a cancelled turn rejects with interrupted", async () => {
  await using s = await openScriptedSession(async (turn) => {
    await waitForStop(turn);
    return { status: "cancelled" };
  });
  const turn = s.session.prompt("go");
  const text = expect(turn.text()).rejects.toMatchObject({ code: "interrupted" });
  await s.session.cancel();
  await text;
});
