/** Patterns of a `.gitignore` file, as git reads them. Matching takes no longer than the path times the pattern. */
import { nextLoopSlice } from "../../../stdx/index.ts";
import { matchesSegments, segmentOf, type Segment } from "./pattern.ts";

/** The rules of one file. They hold for what is below `base`. */
export interface IgnoreFile {
  /** Relative to the root of the repository; empty for the root itself. */
  readonly base: string;
  readonly rules: readonly IgnoreRule[];
  /** How much text the rules have: what matching one path costs at most. */
  readonly length: number;
}

interface IgnoreRule {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  /** `path` is relative to the base, `name` its last part. */
  matches(path: string, name: string): boolean;
}

/** A longer line is ignored: no pattern that a person writes is longer, and each costs time for each file. */
const MAX_PATTERN_LENGTH = 1_000;

export function parseIgnoreFile(text: string, base: string): IgnoreFile {
  const rules: IgnoreRule[] = [];
  let length = 0;
  for (const line of text.replace(/^\ufeff/, "").split("\n")) {
    if (line.length > MAX_PATTERN_LENGTH) continue;
    const rule = parseRule(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (rule === undefined) continue;
    rules.push(rule);
    length += line.length;
  }
  return { base, rules, length };
}

/** Rules that are matched in one piece: 4 KB of the longest ones, some milliseconds of work. */
const RULES_IN_A_PIECE = 4;

/**
 * Whether git would leave the path out. `files`: outermost first. Folders above the path are not looked at. Others have
 * their turns in between: rules of a hostile repository can take 100 ms for one path.
 */
export async function isIgnored(files: readonly IgnoreFile[], path: string, isFolder: boolean): Promise<boolean> {
  const name = path.slice(path.lastIndexOf("/") + 1);
  for (let at = files.length - 1; at >= 0; at -= 1) {
    const { base, rules } = files[at] as IgnoreFile;
    const below = base === "" ? path : path.slice(base.length + 1);
    for (let last = rules.length - 1; last >= 0; last -= 1) {
      const rule = rules[last] as IgnoreRule;
      const slice = last % RULES_IN_A_PIECE === 0 ? nextLoopSlice() : undefined;
      if (slice !== undefined) await slice;
      if (rule.foldersOnly && !isFolder) continue;
      if (rule.matches(below, name)) return !rule.negated;
    }
  }
  return false;
}

function parseRule(line: string): IgnoreRule | undefined {
  if (line.startsWith("#")) return undefined;
  let pattern = withoutTrailingSpaces(line);
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const isAnchored = pattern.includes("/");
  if (pattern.startsWith("/")) pattern = pattern.slice(1);
  if (pattern === "") return undefined;
  const matches = isAnchored ? pathRule(pattern) : nameRule(pattern);
  return matches && { negated, foldersOnly, matches };
}

/** A space at the end counts only behind a backslash. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && line[end - 2] !== "\\") end -= 1;
  return line.slice(0, end);
}

/** Undefined for a pattern with a [ that is never closed, which matches nothing. */
function nameRule(pattern: string): IgnoreRule["matches"] | undefined {
  if (!/[*?[\\]/.test(pattern)) return (_, name) => name === pattern;
  const ending = pattern.slice(1);
  if (pattern.startsWith("*") && !/[*?[\\]/.test(ending)) return (_, name) => name.endsWith(ending);
  const segment = parsedSegment(pattern);
  return segment && ((_, name) => matchesSegments([segment], [name]));
}

function pathRule(pattern: string): IgnoreRule["matches"] | undefined {
  if (!/[*?[\\]/.test(pattern)) return (path) => path === pattern;
  const texts = pattern.split("/");
  if (texts.at(-1) === "**") texts.push("*"); // what is in the folder, not the folder itself
  const segments: Segment[] = [];
  for (const text of texts) {
    const segment = parsedSegment(text);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  return (path) => matchesSegments(segments, path.split("/"));
}

function parsedSegment(text: string): Segment | undefined {
  try {
    return segmentOf(text);
  } catch {
    return undefined;
  }
}
