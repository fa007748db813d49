/** Asks the user something, and waits for the answer as long as it takes. */
import { z } from "zod";
import { bounded } from "./text.ts";
import { defineTool, ok } from "./tool.ts";

const MAX_QUESTION_LENGTH = 2_000;
const MOST_CHOICES = 20;

const Answer = z.object({ answer: z.string() });

export const ask = defineTool({
  name: "ask",
  description:
    "Ask the user one question that you cannot answer yourself and that changes what you do. With choices, one of them is the answer.",
  kind: "ask",
  readOnly: true,
  concurrent: false, // one question after the other
  timeoutMs: Infinity,
  input: z.strictObject({
    question: z.string().min(1).max(MAX_QUESTION_LENGTH),
    choices: z.array(z.string().min(1).max(200)).min(2).max(MOST_CHOICES).optional(),
  }),
  describe: ({ question }) => ({ title: `ask: ${question.slice(0, 200).toWellFormed()}` }),
  async run({ question, choices }, context) {
    const answer = { type: "string", ...(choices !== undefined && { enum: [...new Set(choices)] }) };
    const schema = { type: "object", properties: { answer }, required: ["answer"] };
    const { action, content } = await context.ask({ message: question.toWellFormed(), schema });
    const given = Answer.safeParse(content);
    if (action === "accept" && given.success) return ok(bounded(`the user answers: ${given.data.answer}`));
    if (action === "accept") return ok(bounded(`the user answers: ${JSON.stringify(content ?? "yes")}`));
    return ok("nobody answered: go on with the assumption that you think best, and say which one it was");
  },
});
