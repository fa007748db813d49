import { expect, it, vi } from "vitest";
import type { Answer } from "../../session/method-types.ts";
import { terminalIo } from "../task/test-service.ts";
import { parseDecision } from "./ask-permission.ts";
import { RequestPrompter } from "./request-prompter.ts";

it("says what the choices are after a wrong answer, and asks again", async () => {
  const io = terminalIo();
  const answers: Answer[] = [];
  await using prompter = new RequestPrompter({
    io,
    atTerminal: true,
    answer: async (_sessionId, _requestId, answer) => void answers.push(answer),
    onBusy: () => undefined,
  });
  prompter.ask("ses_1", { requestId: "r1", tool: "bash", input: { command: "ls" } });
  const asked = () => io.text().match(/Allow bash/g)?.length;
  await vi.waitFor(() => expect(asked()).toBe(1));
  io.terminalInput.write("maybe\u001b[2J\n");
  await vi.waitFor(() => expect(asked()).toBe(2));
  expect(io.text()).toContain(
    '"maybe[2J" is not an answer: type y (yes, once), a (always in this session), n (no) or n and a reason\n',
  );
  expect(io.text().match(/command: ls/g)).toHaveLength(1);
  io.terminalInput.write("\n");
  await vi.waitFor(() => expect(asked()).toBe(3));
  expect(io.text()).toContain("no answer: type y");
  io.terminalInput.write("y\n");
  await vi.waitFor(() => expect(answers).toEqual([{ decision: "allow", scope: "once" }]));
});

it.each<[string, Answer | undefined]>([
  ["n use npm test", { decision: "deny", message: "use npm test" }],
  ["No, not here", { decision: "deny", message: "not here" }],
  ["no", { decision: "deny" }],
  ["nothing", undefined],
  ["wait, stop", undefined],
])("reads %s as an answer", (typed, answer) => {
  expect(parseDecision(typed)).toEqual(answer);
});

it.each<[string, object]>([
  ["a", { decision: "allow", scope: "session", prefix: "npm test" }],
  ["always", { decision: "allow", scope: "session", prefix: "npm test" }],
  ["A", { decision: "allow", scope: "session", prefix: "npm test" }], // Caps Lock
  ["every", { decision: "allow", scope: "session" }],
  ["y", { decision: "allow", scope: "once" }],
])("parses %j at a question about a command that starts with npm test", (typed, answer) => {
  expect(parseDecision(typed, "npm test")).toEqual(answer);
});
