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
export function convertExecItem(item: ExecItem, id: string): Item | undefined {
  return Item.safeParse(translateItem({ ...item, id })).data;
}

/** Returns the entries of a plan. */
export function readTodos(item: ExecItem): z.infer<typeof Todo>["items"] | undefined {
  return item.type === "todo_list" ? Todo.safeParse(item).data?.items : undefined;
}

/** Returns the text of a warning, which is an item in `exec`. */
export function readWarning(item: ExecItem): string | undefined {
  const { message } = item as { message?: unknown };
  return item.type === "error" && typeof message === "string" ? message : undefined;
}

function translateItem(item: ExecItem): unknown {
  switch (item.type) {
    case "agent_message":
      return { ...item, type: "agentMessage" };
    case "reasoning":
      return { ...item, summary: [item["text"]] };
    case "command_execution":
      return {
        ...item,
        type: "commandExecution",
        aggregatedOutput: item["aggregated_output"],
        exitCode: item["exit_code"],
      };
    case "file_change": {
      const changes = z.array(Change).safeParse(item["changes"]).data ?? [];
      return {
        ...item,
        type: "fileChange",
        changes: changes.map(({ path, kind }) => ({ path, kind: { type: kind } })),
      };
    }
    case "mcp_tool_call":
      return { ...item, type: "mcpToolCall" };
    case "web_search":
      return { ...item, type: "webSearch" };
    default:
      return item;
  }
}
