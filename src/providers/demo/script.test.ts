import { expect, it } from "vitest";
import type { CompletionMessage } from "../../domain/model.ts";
import { DEMO_PROMPT, nextDemoReply } from "./script.ts";

/** Plays the script. `fails` says which calls fail, by the name of the tool and the number of its call. */
function play(fails: (name: string, call: number) => boolean): string[] {
  const messages: CompletionMessage[] = [{ role: "user", parts: [{ type: "text", text: DEMO_PROMPT }] }];
  const shown: string[] = [];
  const counts = new Map<string, number>();
  for (let step = 0; step < 10; step += 1) {
    const { text, calls } = nextDemoReply(messages);
    shown.push([text, ...calls.map(({ name }) => name)].join(" | "));
    messages.push({ role: "assistant", text, calls: calls.map((call, at) => ({ ...call, toolId: `${step}-${at}` })) });
    if (calls.length === 0) break;
    const results = calls.map(({ name }, at) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return { toolId: `${step}-${at}`, name, text: "", failed: fails(name, counts.get(name) ?? 0) };
    });
    messages.push({ role: "tool", results });
  }
  messages.push({ role: "user", parts: [{ type: "text", text: "Thanks. And now?" }] });
  return [...shown, nextDemoReply(messages).text];
}

const NOTHING_MORE =
  "This model is scripted for the demo and has nothing more to say. Start a task with your own agent.";

it("finds, fixes and checks the failing test", () => {
  expect(play((name, call) => name === "bash" && call === 1)).toEqual([
    "I will run the tests first. | bash",
    "I will read the test and the code. | read | read",
    "The function subtracts instead of adding. I will fix that. | edit",
    "I will run the tests again. | bash",
    "The test failed because `sum` subtracted each number. It adds them now, and the test passes.",
    NOTHING_MORE,
  ]);
});

it.each([
  ["the edit is denied", "edit", 1, "The change was not made, so the test still fails: `sum` subtracts each number."],
  [
    "the second run is denied",
    "bash",
    2,
    "`sum` subtracted each number. It adds them now, but the tests could not be run again.",
  ],
])("claims no success if %s", (_, tool, call, last) => {
  expect(play((name, count) => name === tool && count === call).slice(-2)).toEqual([last, NOTHING_MORE]);
});
