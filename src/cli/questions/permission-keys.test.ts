import { expect, it } from "vitest";
import { plainPaint } from "../paint.ts";
import { answerFromText } from "./permission-keys.ts";
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
])("takes %j at a permission question (as another command: %s)", (typed, isCommand, answer) => {
  expect(answerFromText(request, typed, isCommand)).toEqual(answer);
});

it("says what else the keys do while it waits for a second a", () => {
  const style = { width: 120, paint: plainPaint, isAlwaysAsked: true, question: [] };
  expect(renderDecision(request, style)).toEqual([
    "  press a again to allow every bash in this session without asking · y once · Esc goes back",
  ]);
});
