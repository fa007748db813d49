import { expect, it } from "vitest";
import { plainPaint } from "../paint.ts";
import { answerFromText, commandOf } from "./permission-keys.ts";
import { renderDecision } from "./request-view.ts";

const request = { requestId: "r", kind: "permission", tool: "bash", input: { command: "npm test" } } as never;
const ONCE = { decision: "allow", scope: "once" };

it.each([
  ["yes", false, ONCE],
  ["Yes.", false, ONCE],
  ["yes", true, { decision: "deny", message: "Run this command instead: yes" }],
  ["no", false, { decision: "deny" }],
  ["", false, { decision: "deny" }],
  ["yes, but in another folder", false, { decision: "deny", message: "yes, but in another folder" }],
  ["npm run check", undefined, { decision: "deny", message: "Run this command instead: npm run check" }],
])("parses %j at a permission question (as another command: %s)", (typed, isCommand, answer) => {
  expect(answerFromText(request, typed, isCommand)).toEqual(answer);
});

it("says what else the keys do while it waits for a second a", () => {
  const style = { width: 120, paint: plainPaint, isAlwaysAsked: true, question: [] };
  expect(renderDecision(request, style)).toEqual([
    "  press a again to allow every bash in this session without asking · y once · Esc goes back",
  ]);
});

it("offers the first words of a command before the whole tool", () => {
  const asked = { requestId: "r", tool: "bash", input: { command: "npm test" }, prefix: "npm test" };
  const style = { width: 120, paint: plainPaint, question: [] };
  expect(renderDecision(asked, style)).toEqual([
    "  y yes · n no · a always npm test … · e edit the command · Esc interrupts",
  ]);
  expect(renderDecision(asked, { ...style, isAlwaysAsked: true })).toEqual([
    '  press a again to allow "npm test …" in this session without asking · A every bash · y once · Esc goes back',
  ]);
});

it.each([
  [{ command: "npm test" }, "npm test"],
  [{ command: "npm", args: ["test"] }, "npm test"],
  [{ command: ["bash", "-lc", "npm test; ls"] }, "npm test; ls"],
  [{ path: "a" }, undefined],
])("reads the command of %j", (input, command) => {
  expect(commandOf({ requestId: "r", tool: "bash", input })).toBe(command);
});
