/** What is said in the story of the matrix, and what the model answers: always the same to the same conversation. */
import { calls, fault, say, type ModelRequest, type Reply } from "../testing/index.ts";

/** Its context is of 200,000 tokens. */
export const MODEL = "anthropic/claude-haiku-4-5";
export const FIRST = "go";
export const ASIDE = "an aside";
export const SECOND = "again";

export type Label = "step 0" | "step 1" | "summary" | "step 2" | "step 3" | "second";

/** How often each is asked for where nothing is killed: step 1 fails once. */
export const ASKED: Readonly<Record<Label, number>> = {
  "step 0": 1,
  "step 1": 2,
  summary: 1,
  "step 2": 1,
  "step 3": 1,
  second: 1,
};

/** What may run twice, and what at most once: as the files of the tools have them. */
export const REPEATABLE = ["look a", "look b", "look c", "both n", "look n2"];
export const ONCE = ["mark d", "stamp e", "stamp f", "bash g", "mark n1"];

/** For each tool that must not be repeated silently. */
export const BASH = "sleep 300 & echo bash g >> runs";

export function labelOf({ system, messages, lastUserText }: ModelRequest): Label {
  if (system.includes("too long to go on with")) return "summary";
  if (lastUserText.endsWith(SECOND)) return "second";
  const replies = messages.filter(({ role }) => role === "assistant").length;
  const isSummarized = messages[0]?.text.includes("This is the summary") === true;
  if (isSummarized) return replies === 0 ? "step 2" : "step 3";
  return replies === 0 ? "step 0" : "step 1";
}

export function replyTo(label: Label, isFirst: boolean): Reply {
  switch (label) {
    case "step 0":
      return calls([...["a", "b", "c"].map((id) => counting("look", id)), counting("mark", "d")], {
        text: ["Looking ", "around."],
      });
    case "step 1":
      if (isFirst) return fault(529);
      return calls(
        [counting("stamp", "e"), counting("stamp", "f"), { id: "g", name: "bash", input: { command: BASH } }],
        {
          text: "Stamping.",
          usage: { input: 180_000, output: 100 }, // the context is nearly full
        },
      );
    case "summary":
      return say("Looked around and stamped.");
    case "step 2":
      return calls([counting("both", "n")], { text: "Both." });
    case "step 3":
      return say(["All ", "is done."]);
    case "second":
      return say("Once more.");
  }
}

function counting(name: string, id: string) {
  return { id, name, input: { id } };
}
