/** Patterns for paths: `*`, `?`, `[ab]`, `{a,b}` and `**` for any folders. Matching takes no longer than the path times the pattern. */
import { setImmediate as nextTick } from "node:timers/promises";
import { ToolRefusal } from "../tool.ts";

const MOST_ALTERNATIVES = 200;
const MAX_LENGTH = 1_000;
/** Of all alternatives together: a path is compared with each of them. */
const MAX_EXPANDED_LENGTH = 10_000;
/** How long the event loop may wait for the matching of many paths. */
const SLICE_MS = 10;

/** Throws a ToolRefusal where braces or brackets are left open, or there are too many alternatives. */
export function pathMatcher(pattern: string): (path: string) => boolean {
  if (pattern.length > MAX_LENGTH) throw new ToolRefusal(`a pattern has at most ${MAX_LENGTH} characters`);
  const plain = pattern.replace(/^(\.\/)+/, "");
  const alternatives = [...new Set(expanded(plain))];
  if (alternatives.join("").length > MAX_EXPANDED_LENGTH) {
    throw new ToolRefusal(
      `the alternatives of the pattern have more than ${MAX_EXPANDED_LENGTH} characters: use fewer braces`,
    );
  }
  const all = alternatives.map((alternative) => alternative.split("/").map(segmentOf));
  return (path) => {
    const names = path.split("/");
    return all.some((segments) => matchesSegments(segments, names));
  };
}

/** The paths that match, in their order. Lets other work go on in between, and rejects when the signal fires. */
export async function matchingPaths(
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

/** Each brace gives as many patterns as it has alternatives. */
function expanded(pattern: string): string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (done.length + waiting.length > MOST_ALTERNATIVES) {
      throw new ToolRefusal(`the pattern has more than ${MOST_ALTERNATIVES} alternatives: use fewer braces`);
    }
    const brace = firstBrace(next);
    if (brace === undefined) done.push(next);
    else for (const one of brace.alternatives) waiting.push(next.slice(0, brace.start) + one + next.slice(brace.end));
  }
  return done;
}

function firstBrace(pattern: string) {
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
  throw new ToolRefusal(`a { of the pattern has no }: ${pattern}`);
}

/** What one character of a name must be; undefined for any number of any. */
type Sign = ((character: string) => boolean) | undefined;
/** The signs of one name, or any number of folders. */
export type Segment = readonly Sign[] | "folders";

/** What stands between two slashes of a pattern. Throws a ToolRefusal for a [ without a ]. */
export function segmentOf(text: string): Segment {
  if (text === "**") return "folders";
  const signs: Sign[] = [];
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    if (character === "*") {
      if (signs.length === 0 || signs.at(-1) !== undefined) signs.push(undefined);
    } else if (character === "?") signs.push(() => true);
    else if (character === "[") {
      const end = characters.indexOf("]", at + 2);
      if (end === -1) throw new ToolRefusal(`a [ of the pattern has no ]: ${text}`);
      signs.push(oneOf(characters.slice(at + 1, end)));
      at = end;
    } else {
      const wanted = character === "\\" ? (characters[(at += 1)] ?? "\\") : character;
      signs.push((given) => given === wanted);
    }
  }
  return signs;
}

function oneOf(set: readonly string[]): (character: string) => boolean {
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

/** Whatever was tried for the last `**` alone needs trying again: what an earlier one could take, it can too. */
export function matchesSegments(segments: readonly Segment[], names: readonly string[]): boolean {
  return greedily(segments, names, {
    isAny: (segment) => segment === "folders",
    fits: (segment, name) => segment !== "folders" && matchesName(segment, Array.from(name)),
  });
}

function matchesName(signs: readonly Sign[], characters: readonly string[]): boolean {
  return greedily(signs, characters, {
    isAny: (sign) => sign === undefined,
    fits: (sign, character) => sign?.(character) === true,
  });
}

interface Kind<Wanted> {
  isAny(wanted: Wanted): boolean;
  fits(wanted: Wanted, given: string): boolean;
}

function greedily<Wanted>(wanted: readonly Wanted[], given: readonly string[], kind: Kind<Wanted>): boolean {
  let [at, place] = [0, 0];
  let again: { at: number; place: number } | undefined;
  while (place < given.length) {
    if (at < wanted.length && kind.isAny(wanted[at] as Wanted)) {
      at += 1;
      again = { at, place };
    } else if (at < wanted.length && kind.fits(wanted[at] as Wanted, given[place] ?? "")) {
      at += 1;
      place += 1;
    } else if (again !== undefined) {
      again.place += 1;
      ({ at, place } = again);
    } else return false;
  }
  while (at < wanted.length && kind.isAny(wanted[at] as Wanted)) at += 1;
  return at === wanted.length;
}
