/** The prompts of the story, and the model's replies, which depend only on the conversation. */
import { calls, fault, say, type ModelRequest, type Reply } from "../../src/testing/index.ts";

/** A model with a context of 200,000 tokens. */
export const MODEL = "anthropic/claude-haiku-4-5";
export const FIRST = "go";
export const ASIDE = "an aside";
export const SECOND = "again";

export type Label = "step 0" | "step 1" | "summary" | "step 2" | "step 3" | "second";

/** How often each reply is requested without a kill. Step 1 fails once. */
export const ASKED: Readonly<Record<Label, number>> = {
  "step 0": 1,
  "step 1": 2,
  summary: 1,
  "step 2": 1,
  "step 3": 1,
  second: 1,
};

/** Tool runs that may repeat, and those that must happen at most once, as lines of the runs file. */
export const REPEATABLE = ["look a", "look b", "look c", "both n", "look n2"];
export const ONCE = ["mark d", "stamp e", "stamp f", "bash g", "mark n1"];

/** A command that must not run twice, and that leaves a process. */
export const BASH = "sleep 300 & echo bash g >> runs";

export function toLabel({ system, messages, lastUserText }: ModelRequest): Label {
  if (system.includes("too long to continue")) return "summary";
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
        [
          counting("early", "h"), // removed since the first step
          counting("stamp", "e"), // added since the first step
          counting("stamp", "f"),
          { id: "g", name: "bash", input: { command: BASH } },
        ],
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
