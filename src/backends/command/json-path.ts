/** A path into a program's JSON: keys and list indexes separated by dots, such as `items.0.text`. */

export type JsonPath = readonly string[];

export function parseJsonPath(text: string): JsonPath {
  return text.split(".");
}

/** Returns undefined if the path does not exist. */
export function readJsonPath(value: unknown, path: JsonPath): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return at;
}
