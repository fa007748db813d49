/**
 * Parses and matches `.gitignore` patterns like git. The time is at most proportional to path length times pattern
 * length.
 */
import { nextLoopSlice } from "../../../stdx/index.ts";
import { matchesGlobSegments, parseGlobSegment, type GlobSegment } from "./glob-pattern.ts";

/** The rules of one file. They apply to everything below `base`. */
export interface IgnoreFile {
  /** Relative to the root of the repository. Empty for the root itself. */
  readonly base: string;
  readonly rules: readonly IgnoreRule[];
  /** Total length of the rules, which bounds the cost of matching one path. */
  readonly length: number;
}

interface IgnoreRule {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  /** `path` is relative to the base; `name` is its last part. */
  matches(path: string, name: string): boolean;
}

/** Longer lines are ignored: nobody writes such patterns, and each costs time for every file. */
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

/** Number of rules that are matched without a pause: at most 4 KB, a few milliseconds. */
const RULES_PER_SLICE = 4;

/**
 * Whether git would ignore the path. `files` has the outermost file first. Parent directories are not checked. Yields
 * to other work in between, because the rules of a hostile repository can take 100 ms for one path.
 */
export async function isIgnored(files: readonly IgnoreFile[], path: string, isFolder: boolean): Promise<boolean> {
  const name = path.slice(path.lastIndexOf("/") + 1);
  for (let at = files.length - 1; at >= 0; at -= 1) {
    const { base, rules } = files[at] as IgnoreFile;
    const below = base === "" ? path : path.slice(base.length + 1);
    for (let last = rules.length - 1; last >= 0; last -= 1) {
      const rule = rules[last] as IgnoreRule;
      const slice = last % RULES_PER_SLICE === 0 ? nextLoopSlice() : undefined;
      if (slice !== undefined) await slice;
      if (rule.foldersOnly && !isFolder) continue;
      if (rule.matches(below, name)) return !rule.negated;
    }
  }
  return false;
}

function parseRule(line: string): IgnoreRule | undefined {
  if (line.startsWith("#")) return undefined;
  let pattern = trimTrailingSpaces(line);
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const isAnchored = pattern.includes("/");
  if (pattern.startsWith("/")) pattern = pattern.slice(1);
  if (pattern === "") return undefined;
  const matches = isAnchored ? createRuleMatcher(pattern) : createNameMatcher(pattern);
  return matches && { negated, foldersOnly, matches };
}

/** A trailing space counts only after a backslash. */
function trimTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && line[end - 2] !== "\\") end -= 1;
  return line.slice(0, end);
}

/** Returns undefined for a pattern with an unclosed bracket, which matches nothing. */
function createNameMatcher(pattern: string): IgnoreRule["matches"] | undefined {
  if (!/[*?[\\]/.test(pattern)) return (_, name) => name === pattern;
  const ending = pattern.slice(1);
  if (pattern.startsWith("*") && !/[*?[\\]/.test(ending)) return (_, name) => name.endsWith(ending);
  const segment = tryParseSegment(pattern);
  return segment && ((_, name) => matchesGlobSegments([segment], [name]));
}

function createRuleMatcher(pattern: string): IgnoreRule["matches"] | undefined {
  if (!/[*?[\\]/.test(pattern)) return (path) => path === pattern;
  const texts = pattern.split("/");
  if (texts.at(-1) === "**") texts.push("*"); // the content of the directory, not the directory itself
  const segments: GlobSegment[] = [];
  for (const text of texts) {
    const segment = tryParseSegment(text);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  return (path) => matchesGlobSegments(segments, path.split("/"));
}

function tryParseSegment(text: string): GlobSegment | undefined {
  try {
    return parseGlobSegment(text);
  } catch {
    return undefined;
  }
}
