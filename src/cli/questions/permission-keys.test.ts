import { expect, it } from "vitest";
import { answerFromText } from "./permission-keys.ts";

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
