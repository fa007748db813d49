/** What Codex changes in files: as places, as texts before and after, and in words. */
import { readFileSync, statSync } from "node:fs";
import type { FileDiff, Location, ToolKind } from "../../domain/index.ts";
import type { FileUpdate } from "./wire.ts";

/** A longer file is not read: its hunks say enough. */
const MOST_BYTES = 256 * 1024;

export function kindOfChanges(changes: readonly FileUpdate[]): ToolKind {
  if (changes.length > 0 && changes.every(({ kind }) => kind.type === "delete")) return "delete";
  const isMoved = ({ kind, diff }: FileUpdate) => targetOf(kind) !== undefined && hunksOf(diff ?? "").length === 0;
  return changes.length > 0 && changes.every(isMoved) ? "move" : "edit";
}

export function placesOf(changes: readonly FileUpdate[]): Location[] {
  return changes.map((change) => ({ path: pathOf(change) }));
}

export function titleOf(changes: readonly FileUpdate[]): string {
  return changes.map(wordsOf).join(", ");
}

/**
 * Once a change was made. A file is read at once, for an event that waits would come after those that follow it; where
 * its text is not what the change left behind, it was changed again, and only the hunks are known.
 */
export function diffsOf(changes: readonly FileUpdate[], read = readText): { diffs: FileDiff[]; rest: string[] } {
  const diffs: FileDiff[] = [];
  const rest: string[] = [];
  for (const change of changes) {
    const diff = diffOf(change, read);
    if (diff !== undefined) diffs.push(diff);
    else if (typeof change.diff === "string") rest.push(`${wordsOf(change)}\n${change.diff}`);
  }
  return { diffs, rest };
}

function diffOf(change: FileUpdate, read: typeof readText): FileDiff | undefined {
  const path = pathOf(change);
  switch (change.kind.type) {
    case "add":
      return { path, before: null, after: change.diff ?? read(path) ?? null };
    case "delete":
      return { path, before: change.diff ?? null, after: null };
    case "update": {
      const after = read(path);
      const hunks = change.diff ?? undefined;
      const before = after === undefined || hunks === undefined ? undefined : undone(after, hunks);
      return after === undefined || before === undefined ? undefined : { path, before, after };
    }
  }
}

interface Hunk {
  /** Where it begins in the text after the change, from 0. */
  readonly at: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** The text before the change; undefined where this is not the text after it. */
export function undone(after: string, diff: string): string | undefined {
  const lines = after.split("\n");
  const parts: (readonly string[])[] = [];
  let from = 0;
  for (const { at, before, after } of hunksOf(diff)) {
    if (at < from || after.some((line, index) => lines[at + index] !== line)) return undefined;
    parts.push(lines.slice(from, at), before);
    from = at + after.length;
  }
  return [...parts, lines.slice(from)].flat().join("\n");
}

/** Behind the hunks of a file that was moved stand an empty line and words: they are none of the text. */
function hunksOf(diff: string): Hunk[] {
  const hunks: { at: number; before: string[]; after: string[] }[] = [];
  let left = { before: 0, after: 0 };
  for (const line of diff.split("\n")) {
    const head = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    const hunk = hunks.at(-1);
    if (head !== null) {
      left = { before: Number(head[1] ?? 1), after: Number(head[3] ?? 1) };
      // A hunk that leaves nothing names the line before it.
      hunks.push({ at: Number(head[2]) - (left.after === 0 ? 0 : 1), before: [], after: [] });
    } else if (hunk !== undefined && (left.before > 0 || left.after > 0)) {
      const [mark, text] = [line[0], line.slice(1)];
      if (mark === "\\") continue; // that the file has no newline at its end
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

function pathOf({ path, kind }: FileUpdate): string {
  return targetOf(kind) ?? path;
}

function targetOf({ move_path }: FileUpdate["kind"]): string | undefined {
  return move_path ?? undefined;
}

function wordsOf({ path, kind }: FileUpdate): string {
  const target = targetOf(kind);
  if (target !== undefined) return `Move ${path} to ${target}`;
  return `${{ add: "Write", delete: "Delete", update: "Edit" }[kind.type]} ${path}`;
}

/** Undefined where there is none, or it is too long. */
function readText(path: string): string | undefined {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MOST_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
