/** Mutates JSON values and lines for fuzz tests. */
import type { Random } from "./test-fuzz.ts";

export interface Mutation {
  /** For example `update.content[0].text = null`. */
  readonly name: string;
  /** The JSON text of the changed value. */
  readonly json: string;
}

/** Replacement values as JSON text; undefined removes the field. */
export const REPLACEMENTS: Readonly<Record<string, string | undefined>> = {
  null: "null",
  number: "5",
  "negative number": "-1.5",
  boolean: "true",
  "empty string": '""',
  string: '"other"',
  "empty object": "{}",
  "empty list": "[]",
  "list of null": "[null]",
  "deep nesting": `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
  "deep object": `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  "huge string": JSON.stringify("x".repeat(400_000)),
  nothing: undefined,
};

const MARK = "\u0001mark\u0001";

/** Returns every field at every depth with every replacement. `skip` excludes fields by path. */
export function mutationsOf(value: unknown, skip: (path: string) => boolean = () => false): Mutation[] {
  return pathsOf(value).flatMap((path) => {
    const name = formatPath(path);
    if (skip(name)) return [];
    return Object.entries(REPLACEMENTS).map(([what, text]) => ({
      name: `${name} = ${what}`,
      json: replaced(value, path, text),
    }));
  });
}

/** Returns the JSON text of the value with one random field replaced. */
export function mutateField(random: Random, value: unknown): string {
  const paths = pathsOf(value);
  const path = paths[random.below(paths.length)];
  if (path === undefined) return JSON.stringify(value);
  const texts = Object.values(REPLACEMENTS);
  return replaced(
    value,
    path,
    random.chance(0.2) ? JSON.stringify(random.value(3)) : texts[random.below(texts.length)],
  );
}

/** Damages a line: cuts it, doubles it, inserts noise, removes characters, or replaces a field. */
export function mutateLine(random: Random, line: string): string {
  const at = random.below(line.length + 1);
  switch (random.below(8)) {
    case 0:
      return line.slice(0, at);
    case 1:
      return `${line}\n${line}`;
    case 2:
      return `${line.slice(0, at)}${random.text(6)}${line.slice(at)}`;
    case 3:
      return `${line.slice(0, at)}${line.slice(at + 1 + random.below(5))}`;
    default:
      return isJson(line) ? mutateField(random, JSON.parse(line)) : random.text(40);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  const keys: (string | number)[] = Array.isArray(value) ? value.map((_, at) => at) : Object.keys(value);
  return keys.flatMap((key) => {
    const at = [...path, key];
    return [at, ...pathsOf((value as Record<string | number, unknown>)[key], at)];
  });
}

function replaced(value: unknown, path: Path, text: string | undefined): string {
  const copy = structuredClone(value) as Record<string | number, unknown>;
  let parent = copy;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string | number, unknown>;
  const last = path.at(-1) ?? "";
  if (text !== undefined) parent[last] = MARK;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else Reflect.deleteProperty(parent, last);
  return JSON.stringify(copy).replace(JSON.stringify(MARK), () => text ?? "");
}

function formatPath(path: Path): string {
  return path.map((key, at) => (typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`)).join("");
}
