/** Every change of a single field in a JSON value, for fuzzing what reads it. */

export interface Mutation {
  /** Such as `update.content[0].text = null`. */
  readonly name: string;
  /** The JSON text of the changed value. */
  readonly json: string;
}

/** Each value that a field is replaced by, as JSON text; undefined removes the field. */
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

/** Every field at every depth, each replaced by every replacement. `skip` leaves fields alone, by their path. */
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
