/** Titles, kinds and locations of Claude Code's tools (2.1.325). */
import type { Location, ToolKind } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import type { ToolStart } from "../program/index.ts";
import { numberAt, textAt } from "./record-fields.ts";

/** Tools of MCP servers and unknown tools are of kind `other`. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: "read",
  NotebookRead: "read",
  ListMcpResources: "read",
  ReadMcpResource: "read",
  Grep: "search",
  Glob: "search",
  LS: "search",
  ToolSearch: "search",
  Edit: "edit",
  MultiEdit: "edit",
  Write: "edit",
  NotebookEdit: "edit",
  Bash: "execute",
  BashOutput: "execute",
  KillShell: "execute",
  Monitor: "execute",
  WebFetch: "fetch",
  WebSearch: "fetch",
  TodoWrite: "think",
  Agent: "think",
  Task: "think",
  EnterPlanMode: "think",
  ExitPlanMode: "ask",
  AskUserQuestion: "ask",
};

/** The input field that serves as the title of a call. */
const TITLE_FIELDS: Readonly<Record<string, string>> = {
  Bash: "command",
  Agent: "description",
  Task: "description",
};
const SUBJECT_FIELDS = ["file_path", "notebook_path", "path", "pattern", "query", "url", "skill"];

export function toClaudeToolStart(id: string, name: string, input: JsonRecord): ToolStart {
  return {
    id,
    name,
    title: toToolTitle(name, input),
    kind: KINDS[name] ?? "other",
    input,
    locations: toLocations(input),
  };
}

/** Returns an unknown tool's name alone: Rookery finds its own tools by that name. */
function toToolTitle(name: string, input: JsonRecord): string {
  const whole = TITLE_FIELDS[name];
  if (whole !== undefined) return textAt(input, whole) ?? name;
  if (KINDS[name] === undefined) return name;
  const pattern = name === "Grep" || name === "Glob" ? textAt(input, "pattern") : undefined;
  const what = pattern ?? SUBJECT_FIELDS.map((field) => textAt(input, field)).find((text) => text !== undefined);
  return what === undefined ? name : `${name} ${what}`;
}

function toLocations(input: JsonRecord): Location[] {
  const path = textAt(input, "file_path") ?? textAt(input, "notebook_path");
  if (path === undefined) return [];
  const line = numberAt(input, "offset");
  return [line !== undefined && Number.isInteger(line) && line > 0 ? { path, line } : { path }];
}
