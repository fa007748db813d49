/** Describes the items of a Codex turn as tool calls. */
import type { ToolKind, ToolOutcome } from "../../domain/index.ts";
import type { ToolEnd, ToolStart } from "../program/index.ts";
import { diffsOf, kindOfChanges, placesOf, titleOf } from "./changes.ts";
import { kindOfLine, lineOf } from "./shell.ts";
import type { ItemOf, ToolItem } from "./wire.ts";

export function startOf(item: ToolItem): ToolStart {
  const { id } = item;
  switch (item.type) {
    case "commandExecution":
      return { id, ...commandCall(item.command, item.cwd ?? undefined) };
    case "fileChange": {
      const { changes } = item;
      const call = { name: "apply_patch", title: titleOf(changes), kind: kindOfChanges(changes), input: { changes } };
      return { id, ...call, locations: placesOf(changes) };
    }
    case "mcpToolCall": {
      const title = `mcp__${item.server}__${item.tool}`;
      return { id, name: title, title, kind: "other", input: item.arguments };
    }
    case "dynamicToolCall":
      return { id, name: item.tool, title: item.tool, kind: "other", input: item.arguments };
    case "collabAgentToolCall": {
      const prompt = item.prompt ?? undefined;
      const title = prompt === undefined ? item.tool : `${item.tool}: ${prompt.slice(0, 200)}`;
      return { id, name: item.tool, title, kind: "other", input: { prompt } };
    }
    case "webSearch":
      return { id, name: "web_search", title: searchTitle(item), kind: "fetch", input: { query: item.query } };
    case "imageView":
      return {
        id,
        name: "view_image",
        title: `View ${item.path}`,
        kind: "read",
        input: { path: item.path },
        locations: [{ path: item.path }],
      };
  }
}

export function commandCall(
  command: string,
  cwd: string | undefined,
): { name: string; title: string; kind: ToolKind; input: unknown } {
  const line = lineOf(command);
  const input = { command: line, ...(cwd !== undefined && { cwd }) };
  return { name: "exec_command", title: line, kind: kindOfLine(line), input };
}

export function endOf(item: ToolItem): ToolEnd {
  switch (item.type) {
    case "commandExecution":
      return { outcome: outcomeOf(item.status), text: outputOf(item) };
    case "fileChange": {
      const { changes, status } = item;
      const outcome = outcomeOf(status);
      if (outcome !== "ok") return { outcome, text: `the change was not applied: ${titleOf(changes)}` };
      const { diffs, rest } = diffsOf(changes);
      return { outcome, text: [titleOf(changes), ...rest].join("\n"), locations: placesOf(changes), diffs };
    }
    case "mcpToolCall": {
      const { status, result, error } = item;
      return { outcome: outcomeOf(status), text: error?.message ?? textOfContent(result?.content ?? []) };
    }
    case "dynamicToolCall":
      return { outcome: outcomeOf(item.status), text: textOfContent(item.contentItems ?? []) };
    case "collabAgentToolCall":
      return { outcome: outcomeOf(item.status), text: "" };
    case "webSearch":
      return { outcome: "ok", text: searchTitle(item) };
    case "imageView":
      return { outcome: "ok", text: "" };
  }
}

function outputOf({ aggregatedOutput, exitCode }: ItemOf<"commandExecution">): string {
  const output = aggregatedOutput ?? "";
  if (exitCode === undefined || exitCode === null || exitCode === 0) return output;
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${output}${gap}exit code ${exitCode}`;
}

/** Maps the status of an item, of `app-server` or `exec`. */
export function outcomeOf(status: string): ToolOutcome {
  switch (status) {
    case "completed":
      return "ok";
    case "failed":
      return "failed";
    case "declined":
      return "denied";
    case "interrupted":
      return "cancelled";
    default:
      return "unknown";
  }
}

function searchTitle({ query, action }: ItemOf<"webSearch">): string {
  if (query !== "") return query;
  return action?.url ?? "Search the web";
}

function textOfContent(content: readonly unknown[]): string {
  return content
    .map((part) => {
      const { text } = part as { text?: unknown };
      return typeof text === "string" ? text : "";
    })
    .filter((text) => text !== "")
    .join("\n");
}
