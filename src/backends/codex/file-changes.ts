/** Describes the file changes of Codex: title, kind, locations and diffs. */
import { readFileSync, statSync } from "node:fs";
import type { FileDiff, Location, ToolKind } from "../../domain/index.ts";
import type { FileUpdate } from "./wire.ts";

/** Longer files are not read; the hunks are recorded instead. */
const MAX_FILE_BYTES = 256 * 1024;

export function classifyChanges(changes: readonly FileUpdate[]): ToolKind {
  if (changes.length > 0 && changes.every(({ kind }) => kind.type === "delete")) return "delete";
  const isMoved = ({ kind, diff }: FileUpdate) => moveTarget(kind) !== undefined && parseHunks(diff ?? "").length === 0;
  return changes.length > 0 && changes.every(isMoved) ? "move" : "edit";
}

export function toChangeLocations(changes: readonly FileUpdate[]): Location[] {
  return changes.map((change) => ({ path: changePath(change) }));
}

export function formatChanges(changes: readonly FileUpdate[]): string {
  return changes.map(formatChange).join(", ");
}

/**
 * Returns the diffs of changes that were made. Reads the files synchronously, because a later event must not overtake
 * this one. If a file no longer matches its change, `rest` has the hunks instead.
 */
export function toChangeDiffs(
  changes: readonly FileUpdate[],
  read = readSmallFile,
): { diffs: FileDiff[]; rest: string[] } {
  const diffs: FileDiff[] = [];
  const rest: string[] = [];
  for (const change of changes) {
    const diff = toChangeDiff(change, read);
    if (diff !== undefined) diffs.push(diff);
    else if (typeof change.diff === "string") rest.push(`${formatChange(change)}\n${change.diff}`);
  }
  return { diffs, rest };
}

function toChangeDiff(change: FileUpdate, read: typeof readSmallFile): FileDiff | undefined {
  const path = changePath(change);
  switch (change.kind.type) {
    case "add":
      return { path, before: null, after: change.diff ?? read(path) ?? null };
    case "delete":
      return { path, before: change.diff ?? null, after: null };
    case "update": {
      const after = read(path);
      const hunks = change.diff ?? undefined;
      const before = after === undefined || hunks === undefined ? undefined : revertHunks(after, hunks);
      return after === undefined || before === undefined ? undefined : { path, before, after };
    }
  }
}

interface Hunk {
  /** First line in the text after the change, counted from 0. */
  readonly at: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Returns the text before the change, or undefined if `after` does not match the hunks. */
export function revertHunks(after: string, diff: string): string | undefined {
  const lines = after.split("\n");
  const parts: (readonly string[])[] = [];
  let from = 0;
  for (const { at, before, after } of parseHunks(diff)) {
    if (at < from || after.some((line, index) => lines[at + index] !== line)) return undefined;
    parts.push(lines.slice(from, at), before);
    from = at + after.length;
  }
  return [...parts, lines.slice(from)].flat().join("\n");
}

/** Parses unified diff hunks. Ignores the text that Codex adds after the hunks of a moved file. */
function parseHunks(diff: string): Hunk[] {
  const hunks: { at: number; before: string[]; after: string[] }[] = [];
  let left = { before: 0, after: 0 };
  for (const line of diff.split("\n")) {
    const head = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    const hunk = hunks.at(-1);
    if (head !== null) {
      left = { before: Number(head[1] ?? 1), after: Number(head[3] ?? 1) };
      // An empty hunk names the line before it.
      hunks.push({ at: Number(head[2]) - (left.after === 0 ? 0 : 1), before: [], after: [] });
    } else if (hunk !== undefined && (left.before > 0 || left.after > 0)) {
      const [mark, text] = [line[0], line.slice(1)];
      if (mark === "\\") continue; // "\ No newline at end of file"
      if (mark !== "+") {
        hunk.before.push(text);
        left.before -= 1;
      }
      if (mark !== "-") {
        hunk.after.push(text);
        left.after -= 1;
      }
    }
  }
  return hunks;
}

function changePath({ path, kind }: FileUpdate): string {
  return moveTarget(kind) ?? path;
}

function moveTarget({ move_path }: FileUpdate["kind"]): string | undefined {
  return move_path ?? undefined;
}

function formatChange({ path, kind }: FileUpdate): string {
  const target = moveTarget(kind);
  if (target !== undefined) return `Move ${path} to ${target}`;
  return `${{ add: "Write", delete: "Delete", update: "Edit" }[kind.type]} ${path}`;
}

/** Returns undefined if the file is missing or too long. */
function readSmallFile(path: string): string | undefined {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MAX_FILE_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
