/** Titles, kinds and locations of Gemini CLI's tools (0.61). */
import { isAbsolute, join } from "node:path";
import type { FileDiff, ToolKind } from "../../domain/index.ts";
import { diffFromEditInput } from "../acp/edits.ts";
import { completeMadeDiff } from "../file-context.ts";
import type { ToolStart } from "../program/index.ts";

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  read_many_files: "read",
  read_background_output: "read",
  list_directory: "search",
  list_background_processes: "search",
  glob: "search",
  grep_search: "search",
  search_file_content: "search",
  replace: "edit",
  write_file: "edit",
  run_shell_command: "execute",
  web_fetch: "fetch",
  google_web_search: "fetch",
  save_memory: "other",
  write_todos: "think",
  update_topic: "think",
  ask_user: "ask",
};

type Input = Readonly<Record<string, unknown>>;

export function toGeminiToolStart(id: string, name: string, input: Input, cwd: string): ToolStart {
  const path = readInputPath(input, cwd);
  const said = [input["command"], input["pattern"], input["query"], input["url"], path].find(
    (each): each is string => typeof each === "string" && each !== "",
  );
  const kind = KINDS[name] ?? "other";
  const title = said === undefined ? name : kind === "execute" ? said : `${name} ${said}`;
  return { id, name, title, kind, input, ...(path !== undefined && { locations: [{ path }] }) };
}

/** Derives the diff from the input, because the headless output has none. */
export function toGeminiDiffs(kind: ToolKind, input: unknown, cwd: string): FileDiff[] {
  const edit = kind === "edit" ? diffFromEditInput(input) : undefined;
  return edit === undefined ? [] : [completeMadeDiff({ ...edit, path: toAbsolute(edit.path, cwd) })];
}

function readInputPath(input: Input, cwd: string): string | undefined {
  const path = input["file_path"] ?? input["absolute_path"] ?? input["dir_path"] ?? input["path"];
  return typeof path === "string" && path !== "" ? toAbsolute(path, cwd) : undefined;
}

function toAbsolute(path: string, cwd: string): string {
  return isAbsolute(path) ? path : join(cwd, path);
}
