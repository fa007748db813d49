/** The `ask` tool: asks the user a question and waits for the answer without a time limit. */
import { z } from "zod";
import { truncateMiddle } from "./truncate.ts";
import { defineTool, okResult } from "./tool.ts";

const MAX_QUESTION_LENGTH = 2_000;
const MAX_CHOICES = 20;

const Answer = z.object({ answer: z.string() });

export const askTool = defineTool({
  name: "ask",
  description:
    "Ask the user one question that you cannot answer yourself and whose answer changes what you do. If you give choices, the user picks one of them or answers in other words.",
  kind: "ask",
  readOnly: true,
  concurrent: false, // one question at a time
  timeoutMs: Infinity,
  input: z.strictObject({
    question: z.string().min(1).max(MAX_QUESTION_LENGTH),
    choices: z.array(z.string().min(1).max(200)).min(2).max(MAX_CHOICES).optional(),
  }),
  describe: ({ question }) => ({ title: `ask: ${question.slice(0, 200).toWellFormed()}` }),
  async run({ question, choices }, context) {
    const offered = [...new Set(choices)].map((choice) => ({ const: choice, title: choice }));
    const answer = { type: "string", ...(offered.length > 0 && { anyOf: [...offered, { type: "string" }] }) };
    const schema = { type: "object", properties: { answer }, required: ["answer"] };
    const { action, content } = await context.ask({ message: question.toWellFormed(), schema });
    const parsed = Answer.safeParse(content);
    if (action === "accept" && parsed.success)
      return okResult(truncateMiddle(`the user answered: ${parsed.data.answer}`));
    if (action === "accept") return okResult(truncateMiddle(`the user answered: ${JSON.stringify(content ?? "yes")}`));
    return okResult("nobody answered: continue with the assumption that you think is best, and say which one you made");
  },
});
