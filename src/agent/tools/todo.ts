/** Keeps the agent's plan, where everyone can see it. */
import { z } from "zod";
import { defineTool, ok } from "./tool.ts";

const MOST_ENTRIES = 100;
const MAX_LENGTH = 500;
const STATUSES = ["pending", "in_progress", "completed"] as const;

export const todo = defineTool({
  name: "todo",
  description:
    "Write down your plan for work of several steps, and what has become of each. The whole list replaces the one before. Have one step in_progress at a time.",
  kind: "think",
  readOnly: true,
  concurrent: false, // the last one of a reply is the plan
  input: z.strictObject({
    todos: z
      .array(
        z.strictObject({
          content: z.string().min(1).max(MAX_LENGTH),
          status: z.enum(STATUSES),
          priority: z.enum(["high", "medium", "low"]).optional(),
        }),
      )
      .max(MOST_ENTRIES),
  }),
  describe: ({ todos }) => ({ title: `plan (${todos.length} steps)` }),
  async run({ todos }, context) {
    const entries = todos.map(({ content, ...rest }) => ({ content: content.toWellFormed(), ...rest }));
    await context.record({ type: "plan.updated", entries });
    const count = (status: (typeof STATUSES)[number]) => todos.filter((entry) => entry.status === status).length;
    return ok(
      `the plan was kept: ${count("completed")} done, ${count("in_progress")} in progress, ${count("pending")} to do`,
    );
  },
});
