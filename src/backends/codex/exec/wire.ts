/** Parses the events of `codex exec --json` (0.166.0) and converts its items to those of `app-server`. */
import { z } from "zod";
import { Item } from "../wire.ts";

const text = z.string();

const Change = z.object({ path: text, kind: z.enum(["add", "delete", "update"]) });
const RawExecItem = z.looseObject({ id: text, type: text });
const Todo = z.object({ items: z.array(z.object({ text, completed: z.boolean() })) });
const counts = z.number().catch(0);

export const ExecEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("thread.started"), thread_id: text }),
  z.object({ type: z.literal("turn.started") }),
  z.object({
    type: z.literal("turn.completed"),
    usage: z.object({
      input_tokens: counts,
      cached_input_tokens: counts,
      cache_write_input_tokens: counts,
      output_tokens: counts,
      reasoning_output_tokens: counts,
    }),
  }),
  z.object({ type: z.literal("turn.failed"), error: z.object({ message: text }) }),
  z.object({ type: z.literal("error"), message: text }),
  z.object({ type: z.enum(["item.started", "item.updated", "item.completed"]), item: RawExecItem }),
]);
export type ExecEvent = z.infer<typeof ExecEvent>;
export type ExecItem = z.infer<typeof RawExecItem>;

/** `id` replaces the item's own id, which repeats in every turn. Returns undefined for other items. */
export function convertExecItem(given: ExecItem, id: string): Item | undefined {
  return Item.safeParse(translateItem({ ...given, id })).data;
}

/** Returns the entries of a plan. */
export function readTodos(given: ExecItem): z.infer<typeof Todo>["items"] | undefined {
  return given.type === "todo_list" ? Todo.safeParse(given).data?.items : undefined;
}

/** Returns the text of a warning, which is an item in `exec`. */
export function readWarning(given: ExecItem): string | undefined {
  const { message } = given as { message?: unknown };
  return given.type === "error" && typeof message === "string" ? message : undefined;
}

function translateItem(given: ExecItem): unknown {
  switch (given.type) {
    case "agent_message":
      return { ...given, type: "agentMessage" };
    case "reasoning":
      return { ...given, summary: [given["text"]] };
    case "command_execution":
      return {
        ...given,
        type: "commandExecution",
        aggregatedOutput: given["aggregated_output"],
        exitCode: given["exit_code"],
      };
    case "file_change": {
      const changes = z.array(Change).safeParse(given["changes"]).data ?? [];
      return {
        ...given,
        type: "fileChange",
        changes: changes.map(({ path, kind }) => ({ path, kind: { type: kind } })),
      };
    }
    case "mcp_tool_call":
      return { ...given, type: "mcpToolCall" };
    case "web_search":
      return { ...given, type: "webSearch" };
    default:
      return given;
  }
}
