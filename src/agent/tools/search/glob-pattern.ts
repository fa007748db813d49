/**
 * Matches paths with glob patterns: `*`, `?`, `[ab]`, `{a,b}`, and `**` for any directories. The time is at most
 * proportional to path length times pattern length.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import { ToolRefusal } from "../tool-refusal.ts";

const MAX_ALTERNATIVES = 200;
const MAX_LENGTH = 1_000;
/** Maximum length of all alternatives together. A path is compared with each of them. */
const MAX_EXPANDED_LENGTH = 10_000;
/** How long matching may block the event loop. */
const SLICE_MS = 10;

/** Throws a ToolRefusal for an unclosed brace or bracket, or for too many alternatives. */
export function createPathMatcher(pattern: string): (path: string) => boolean {
  if (pattern.length > MAX_LENGTH)
    throw new ToolRefusal(`the pattern is longer than ${MAX_LENGTH} characters: use a shorter one`);
  const plain = pattern.replace(/^(\.\/)+/, "");
  const alternatives = [...new Set(expandBraces(plain))];
  if (alternatives.join("").length > MAX_EXPANDED_LENGTH) {
    throw new ToolRefusal(
      `the alternatives of the pattern have more than ${MAX_EXPANDED_LENGTH} characters: use fewer braces`,
    );
  }
  const all = alternatives.map((alternative) => alternative.split("/").map(parseGlobSegment));
  return (path) => {
    const names = path.split("/");
    return all.some((segments) => matchesGlobSegments(segments, names));
  };
}

/** Returns the matching paths in their order. Yields to other work regularly. Rejects when the signal fires. */
export async function filterPaths(
  paths: readonly string[],
  matches: (path: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  let started = performance.now();
  for (const path of paths) {
    if (matches(path)) found.push(path);
    if (performance.now() - started < SLICE_MS) continue;
    await nextTick();
    signal.throwIfAborted();
    started = performance.now();
  }
  return found;
}

/** Expands each brace into its alternatives. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (done.length + waiting.length > MAX_ALTERNATIVES) {
      throw new ToolRefusal(`the pattern has more than ${MAX_ALTERNATIVES} alternatives: use fewer braces`);
    }
    const brace = findFirstBrace(next);
    if (brace === undefined) done.push(next);
    else for (const one of brace.alternatives) waiting.push(next.slice(0, brace.start) + one + next.slice(brace.end));
  }
  return done;
}

function findFirstBrace(pattern: string) {
  const start = pattern.indexOf("{");
  if (start === -1) return undefined;
  const alternatives: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < pattern.length; at += 1) {
    const sign = pattern[at];
    if (sign === "{") depth += 1;
    if (sign === "}") depth -= 1;
    if (depth === 0 || (depth === 1 && sign === ",")) {
      alternatives.push(pattern.slice(from, at));
      from = at + 1;
    }
    if (depth === 0) return { start, end: at + 1, alternatives };
  }
  throw new ToolRefusal(`the pattern has a { without a }: ${pattern}`);
}

/** Tests one character of a name. Undefined matches any number of any characters. */
type CharacterTest = ((character: string) => boolean) | undefined;
/** The tests for one name, or any number of directories. */
export type GlobSegment = readonly CharacterTest[] | "folders";

/** Parses the part of a pattern between two slashes. Throws a ToolRefusal for an unclosed bracket. */
export function parseGlobSegment(text: string): GlobSegment {
  if (text === "**") return "folders";
  const tests: CharacterTest[] = [];
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    if (character === "*") {
      if (tests.length === 0 || tests.at(-1) !== undefined) tests.push(undefined);
    } else if (character === "?") tests.push(() => true);
    else if (character === "[") {
      const end = characters.indexOf("]", at + 2);
      if (end === -1) throw new ToolRefusal(`the pattern has a [ without a ]: ${text}`);
      tests.push(createSetTest(characters.slice(at + 1, end)));
      at = end;
    } else {
      const expected = character === "\\" ? (characters[(at += 1)] ?? "\\") : character;
      tests.push((actual) => actual === expected);
    }
  }
  return tests;
}

function createSetTest(set: readonly string[]): (character: string) => boolean {
  const not = set[0] === "!" || set[0] === "^";
  const members = not ? set.slice(1) : set;
  return (character) => {
    for (let at = 0; at < members.length; at += 1) {
      const [low = "", dash, high] = members.slice(at, at + 3);
      const isRange = dash === "-" && high !== undefined;
      if (isRange ? low <= character && character <= high : low === character) return !not;
      if (isRange) at += 2;
    }
    return not;
  };
}

/** Only the last `**` needs backtracking: anything that an earlier one could match, the last one can match too. */
export function matchesGlobSegments(segments: readonly GlobSegment[], names: readonly string[]): boolean {
  return matchGreedily(segments, names, {
    isAny: (segment) => segment === "folders",
    matches: (segment, name) => segment !== "folders" && matchesName(segment, Array.from(name)),
  });
}

function matchesName(tests: readonly CharacterTest[], characters: readonly string[]): boolean {
  return matchGreedily(tests, characters, {
    isAny: (test) => test === undefined,
    matches: (test, character) => test?.(character) === true,
  });
}

interface WildcardRules<Test> {
  isAny(test: Test): boolean;
  matches(test: Test, text: string): boolean;
}

function matchGreedily<Test>(tests: readonly Test[], texts: readonly string[], rules: WildcardRules<Test>): boolean {
  let [testIndex, textIndex] = [0, 0];
  let retry: { testIndex: number; textIndex: number } | undefined;
  while (textIndex < texts.length) {
    if (testIndex < tests.length && rules.isAny(tests[testIndex] as Test)) {
      testIndex += 1;
      retry = { testIndex, textIndex };
    } else if (testIndex < tests.length && rules.matches(tests[testIndex] as Test, texts[textIndex] ?? "")) {
      testIndex += 1;
      textIndex += 1;
    } else if (retry !== undefined) {
      retry.textIndex += 1;
      ({ testIndex, textIndex } = retry);
    } else return false;
  }
  while (testIndex < tests.length && rules.isAny(tests[testIndex] as Test)) testIndex += 1;
  return testIndex === tests.length;
}
