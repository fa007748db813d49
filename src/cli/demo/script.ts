/** The script of the demo: a repository with a failing test, and the replies of the model that fix it. */
import { call, calls, type ScriptedReply, say } from "../../testing/model-server/script.ts";

export const DEMO_FILES = {
  "sum.mjs": `/** Adds up a list of numbers. */
export function sum(numbers) {
  return numbers.reduce((total, number) => total - number, 0);
}
`,
  "sum.test.mjs": `import assert from "node:assert/strict";
import test from "node:test";
import { sum } from "./sum.mjs";

test("a sum is the sum of its parts", () => {
  assert.equal(sum([1, 2, 3]), 6);
});
`,
};

export const DEMO_PROMPT = "A test fails. Find out why, fix it, and show that it passes.";

/** `node`: the shell command for Node. */
export function demoReplies(node: string): ScriptedReply[] {
  const test = { command: `${node} --test` };
  const mend = { path: "sum.mjs", old_text: "total - number", new_text: "total + number" };
  return [
    call("bash", test, { text: "I will run the tests first." }),
    calls(
      [
        { name: "read", input: { path: "sum.test.mjs" } },
        { name: "read", input: { path: "sum.mjs" } },
      ],
      { text: "One fails. I will read the test and the code." },
    ),
    call("edit", mend, { text: "The function subtracts instead of adding. I will fix that." }),
    call("bash", test, { text: "I will run the tests again." }),
    say("The test failed because `sum` subtracted each number. It adds them now, and the test passes."),
  ];
}
