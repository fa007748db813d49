/** Describes the items of a Codex turn as tool calls. */
import type { ToolKind, ToolOutcome } from "../../domain/index.ts";
import type { ToolEnd, ToolStart } from "../program/index.ts";
import {
  toChangeDiffs,
  toProposedChangeDiffs,
  classifyChanges,
  toChangeLocations,
  formatChanges,
} from "./file-changes.ts";
import { classifyShellLine, extractShellLine } from "./shell.ts";
import type { ItemOf, ToolItem } from "./wire.ts";

export function toItemStart(item: ToolItem): ToolStart {
  const { id } = item;
  switch (item.type) {
    case "commandExecution":
      return { id, ...toCommandCall(item.command, item.cwd ?? undefined) };
    case "fileChange": {
      const { changes } = item;
      const call = {
        name: "apply_patch",
        title: formatChanges(changes),
        kind: classifyChanges(changes),
        input: { changes },
      };
      const proposeDiffs = () => toProposedChangeDiffs(changes);
      return { id, ...call, locations: toChangeLocations(changes), proposeDiffs };
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
      return { id, name: "web_search", title: formatSearchTitle(item), kind: "fetch", input: { query: item.query } };
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

export function toCommandCall(
  command: string,
  cwd: string | undefined,
): { name: string; title: string; kind: ToolKind; input: { command: string; cwd?: string } } {
  const line = extractShellLine(command);
  const input = { command: line, ...(cwd !== undefined && { cwd }) };
  return { name: "exec_command", title: line, kind: classifyShellLine(line), input };
}

export function toItemEnd(item: ToolItem): ToolEnd {
  switch (item.type) {
    case "commandExecution":
      return { outcome: toItemOutcome(item.status), text: formatCommandOutput(item) };
    case "fileChange": {
      const { changes, status } = item;
      const outcome = toItemOutcome(status);
      if (outcome !== "ok") return { outcome, text: `the change was not applied: ${formatChanges(changes)}` };
      const diffs = toChangeDiffs(changes);
      return { outcome, text: formatChanges(changes), locations: toChangeLocations(changes), diffs };
    }
    case "mcpToolCall": {
      const { status, result, error } = item;
      return { outcome: toItemOutcome(status), text: error?.message ?? joinContentText(result?.content ?? []) };
    }
    case "dynamicToolCall":
      return { outcome: toItemOutcome(item.status), text: joinContentText(item.contentItems ?? []) };
    case "collabAgentToolCall":
      return { outcome: toItemOutcome(item.status), text: "" };
    case "webSearch":
      return { outcome: "ok", text: formatSearchTitle(item) };
    case "imageView":
      return { outcome: "ok", text: "" };
  }
}

function formatCommandOutput({ aggregatedOutput, exitCode }: ItemOf<"commandExecution">): string {
  const output = aggregatedOutput ?? "";
  if (exitCode === undefined || exitCode === null || exitCode === 0) return output;
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${output}${gap}exit code ${exitCode}`;
}

/** Maps the status of an item, of `app-server` or `exec`. */
export function toItemOutcome(status: string): ToolOutcome {
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

function formatSearchTitle({ query, action }: ItemOf<"webSearch">): string {
  if (query !== "") return query;
  return action?.url ?? "Search the web";
}

function joinContentText(content: readonly unknown[]): string {
  return content
    .map((part) => {
      const { text } = part as { text?: unknown };
      return typeof text === "string" ? text : "";
    })
    .filter((text) => text !== "")
    .join("\n");
}
