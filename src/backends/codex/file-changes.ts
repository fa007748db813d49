/** Describes the file changes of Codex: title, kind, locations and diffs. */
import type { FileDiff, Location, ToolKind } from "../../domain/index.ts";
import { readFileText, type ReadFileText } from "../file-context.ts";
import type { FileUpdate } from "./wire.ts";

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

/** Returns the diffs of changes that were made. If a file no longer matches its change, it has one diff per hunk. */
export function toChangeDiffs(changes: readonly FileUpdate[], read: ReadFileText = readFileText): FileDiff[] {
  return changes.flatMap((change) => {
    const path = changePath(change);
    const { diff } = change;
    if (change.kind.type !== "update") return toWholeFileDiff(change, read);
    const after = read(path) ?? undefined;
    const before = after === undefined ? undefined : revertHunks(after, diff ?? "");
    return after === undefined || before === undefined ? toHunkDiffs(path, diff ?? "") : [{ path, before, after }];
  });
}

/** Returns the diffs of changes that are not made yet. If a file does not match its change, it has one diff per hunk. */
export function toProposedChangeDiffs(changes: readonly FileUpdate[], read: ReadFileText = readFileText): FileDiff[] {
  return changes.flatMap((change) => {
    const path = changePath(change);
    const { diff } = change;
    if (change.kind.type !== "update") return toWholeFileDiff(change, read);
    const before = read(change.path) ?? undefined;
    const after = before === undefined ? undefined : applyHunks(before, diff ?? "");
    return before === undefined || after === undefined ? toHunkDiffs(path, diff ?? "") : [{ path, before, after }];
  });
}

/** Codex reports the whole text of a file that it adds or deletes. */
function toWholeFileDiff(change: FileUpdate, read: ReadFileText): FileDiff[] {
  const path = changePath(change);
  if (change.kind.type === "add") return [{ path, before: null, after: change.diff ?? read(path) ?? null }];
  return [{ path, before: change.diff ?? null, after: null }];
}

function toHunkDiffs(path: string, diff: string): FileDiff[] {
  const hunks = parseHunks(diff);
  if (hunks.length === 0) return [{ path, before: null, after: null, truncated: true }];
  const join = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  return hunks.map(({ beforeAt, before, after }) => ({
    path,
    before: join(before),
    after: join(after),
    line: beforeAt + 1,
  }));
}

interface Hunk {
  /** First line in the text before the change, counted from 0. */
  readonly beforeAt: number;
  /** First line in the text after the change, counted from 0. */
  readonly afterAt: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Returns the text before the change, or undefined if `after` does not match the hunks. */
export function revertHunks(after: string, diff: string): string | undefined {
  const replacements = parseHunks(diff).map(({ afterAt, before, after }) => ({ at: afterAt, from: after, to: before }));
  return replaceLines(after, replacements);
}

/** Returns the text after the change, or undefined if `before` does not match the hunks. */
export function applyHunks(before: string, diff: string): string | undefined {
  const replacements = parseHunks(diff).map(({ beforeAt, before, after }) => ({
    at: beforeAt,
    from: before,
    to: after,
  }));
  return replaceLines(before, replacements);
}

interface LineReplacement {
  readonly at: number;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Returns undefined if the text does not have the lines that are to be replaced. */
function replaceLines(text: string, replacements: readonly LineReplacement[]): string | undefined {
  const lines = text.split("\n");
  const parts: (readonly string[])[] = [];
  let done = 0;
  for (const { at, from, to } of replacements) {
    if (at < done || from.some((line, index) => lines[at + index] !== line)) return undefined;
    parts.push(lines.slice(done, at), to);
    done = at + from.length;
  }
  return [...parts, lines.slice(done)].flat().join("\n");
}

/** Parses unified diff hunks. Ignores the text that Codex adds after the hunks of a moved file. */
function parseHunks(diff: string): Hunk[] {
  const hunks: { beforeAt: number; afterAt: number; before: string[]; after: string[] }[] = [];
  let left = { before: 0, after: 0 };
  for (const line of diff.split("\n")) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    const hunk = hunks.at(-1);
    if (head !== null) {
      left = { before: Number(head[2] ?? 1), after: Number(head[4] ?? 1) };
      // An empty side names the line before it.
      const beforeAt = Number(head[1]) - (left.before === 0 ? 0 : 1);
      const afterAt = Number(head[3]) - (left.after === 0 ? 0 : 1);
      hunks.push({ beforeAt, afterAt, before: [], after: [] });
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
