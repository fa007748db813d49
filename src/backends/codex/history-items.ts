/** Converts the items of Codex's session files to those of its app-server, whose conversion to events exists. */
import { fileURLToPath } from "node:url";
import { formatShellCommand, type JsonRecord } from "../../programs/index.ts";
import { CommandItem, FileChangeItem } from "./history-record.ts";
import { Item } from "./wire.ts";

/** Names in the files that differ from the app-server's other than in their first letter. */
const RENAMED: Readonly<Record<string, string>> = { AgentMessage: "agentMessage", McpToolCall: "mcpToolCall" };

/** Returns undefined if the type or a field is unknown. */
export function toWireItem(item: JsonRecord): Item | undefined {
  return Item.safeParse(toWireFields(item)).data;
}

function toWireFields(item: JsonRecord): unknown {
  const type = String(item["type"]);
  const name = RENAMED[type] ?? type.charAt(0).toLowerCase() + type.slice(1);
  switch (name) {
    case "commandExecution": {
      const { data } = CommandItem.safeParse(item);
      if (data === undefined) return undefined;
      const { id, command, cwd, status, aggregated_output: aggregatedOutput, exit_code: exitCode } = data;
      return {
        type: name,
        id,
        command: formatShellCommand(command),
        cwd: toPath(cwd),
        status,
        aggregatedOutput,
        exitCode,
      };
    }
    case "fileChange": {
      const { data } = FileChangeItem.safeParse(item);
      if (data === undefined) return undefined;
      const changes = Object.entries(data.changes).map(([path, change]) => ({
        path,
        kind: { type: change.type, move_path: change.move_path },
        diff: change.content ?? change.unified_diff,
      }));
      return { type: name, id: data.id, status: data.status, changes };
    }
    case "agentMessage":
      return { type: name, id: item["id"], text: joinTexts(item["content"]) };
    case "reasoning":
      return { type: name, id: item["id"], summary: item["summary_text"], content: item["raw_content"] };
    case "mcpToolCall": {
      const result = item["result"] as { Ok?: unknown } | null | undefined;
      return { ...item, type: name, result: result?.Ok ?? result };
    }
    default:
      return { ...item, type: name };
  }
}

/** Codex writes the working directory of a command as a URL (0.166.0). */
function toPath(cwd: string | null | undefined): string | undefined {
  if (cwd?.startsWith("file://") !== true) return cwd ?? undefined;
  try {
    return fileURLToPath(cwd);
  } catch {
    return undefined;
  }
}

function joinTexts(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (part as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === "string")
    .join("\n");
}
