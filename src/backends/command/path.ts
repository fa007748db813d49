/** Where something is in a program's JSON: names and places in lists, with dots between, such as `items.0.text`. */

export type Path = readonly string[];

export function pathOf(text: string): Path {
  return text.split(".");
}

/** Undefined where there is nothing. */
export function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return at;
}
