/** The `todo` tool: records the agent's plan, so that the user can see it. */
import { z } from "zod";
import { defineTool, okResult } from "./tool.ts";

const MAX_ENTRIES = 100;
const MAX_LENGTH = 500;
const STATUSES = ["pending", "in_progress", "completed"] as const;

export const todoTool = defineTool({
  name: "todo",
  description:
    "Record your plan for work of several steps, with the status of each step. The new list replaces the old one. Have one step in_progress at a time.",
  kind: "think",
  readOnly: true,
  concurrent: false, // the last call of a reply sets the plan
  input: z.strictObject({
    todos: z
      .array(
        z.strictObject({
          content: z.string().min(1).max(MAX_LENGTH),
          status: z.enum(STATUSES),
          priority: z.enum(["high", "medium", "low"]).optional(),
        }),
      )
      .max(MAX_ENTRIES),
  }),
  describe: ({ todos }) => ({ title: `plan (${todos.length} steps)` }),
  async run({ todos }, context) {
    const entries = todos.map(({ content, ...rest }) => ({ content: content.toWellFormed(), ...rest }));
    await context.record({ type: "plan.updated", entries });
    const count = (status: (typeof STATUSES)[number]) => todos.filter((entry) => entry.status === status).length;
    return okResult(
      `plan recorded: ${count("completed")} completed, ${count("in_progress")} in progress, ${count("pending")} pending`,
    );
  },
});
