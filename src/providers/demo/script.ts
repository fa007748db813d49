/** The script of the demo: a repository with a failing test, and what the scripted model does about it. */
import type { CompletionMessage } from "../../domain/model.ts";

export const DEMO_FILES: Readonly<Record<string, string>> = {
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

export interface DemoReply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
}

const RUN_TESTS = { name: "bash", input: { command: "node --test" } };
const EDIT = { name: "edit", input: { path: "sum.mjs", old_text: "total - number", new_text: "total + number" } };

const STEPS: readonly DemoReply[] = [
  { text: "I will run the tests first.", calls: [RUN_TESTS] },
  {
    text: "I will read the test and the code.",
    calls: ["sum.test.mjs", "sum.mjs"].map((path) => ({ name: "read", input: { path } })),
  },
  { text: "The function subtracts instead of adding. I will fix that.", calls: [EDIT] },
  { text: "I will run the tests again.", calls: [RUN_TESTS] },
];

/** Returns the next reply. It depends only on the conversation, so a demo continues after a crash. */
export function nextDemoReply(messages: readonly CompletionMessage[]): DemoReply {
  const last = messages.at(-1);
  const hasFailed = last?.role === "tool" && last.results.some(({ failed }) => failed);
  const replies = messages.filter(({ role }) => role === "assistant").length;
  const previous = STEPS[replies - 1];
  if (previous?.calls.includes(EDIT) === true && hasFailed) {
    return finalReply("The change was not made, so the test still fails: `sum` subtracts each number.");
  }
  const step = last?.role === "tool" || replies === 0 ? STEPS[replies] : undefined;
  if (step !== undefined) return step;
  if (replies > STEPS.length || last?.role !== "tool") {
    return finalReply(
      "This model is scripted for the demo and has nothing more to say. Start a task with your own agent.",
    );
  }
  return finalReply(
    hasFailed
      ? "`sum` subtracted each number. It adds them now, but the tests could not be run again."
      : "The test failed because `sum` subtracted each number. It adds them now, and the test passes.",
  );
}

function finalReply(text: string): DemoReply {
  return { text, calls: [] };
}
