/** Removes the keywords of a foreign JSON Schema that can be made arbitrarily expensive to check. */

/** A peer writes the schema: a regular expression or a comparison of all items can take forever. */
const COSTLY: ReadonlySet<string> = new Set(["pattern", "patternProperties", "uniqueItems"]);
/** A few mutually recursive references can describe more than can be checked. */
const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
/** Keywords that hold values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
/** Keywords that hold schemas by name. */
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords that accept less if the schema in them accepts more. They are removed if that schema changed. */
const INVERTING: ReadonlySet<string> = new Set(["not", "if", "contains"]);
/** Keywords that mean nothing, or something else, without the one before the colon. */
const DEPENDENT: Readonly<Record<string, readonly string[]>> = {
  if: ["then", "else"],
  contains: ["minContains", "maxContains"],
  patternProperties: ["additionalProperties"],
};

/**
 * Returns a copy of the schema without `pattern`, `patternProperties`, `uniqueItems` and the keywords in `also`. The
 * copy accepts everything that the original accepts, and more. Throws if the schema has references or is nested too
 * deeply for the stack.
 */
export function boundedSchema(schema: unknown, also: readonly string[] = []): unknown {
  return new SchemaCopier(new Set([...COSTLY, ...also])).copy(schema);
}

type Keywords = Record<string, unknown>;

class SchemaCopier {
  readonly #costly: ReadonlySet<string>;
  /** How many keywords were removed so far. */
  #removed = 0;

  constructor(costly: ReadonlySet<string>) {
    this.#costly = costly;
  }

  copy(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((each) => this.copy(each));
    if (typeof schema !== "object" || schema === null) return schema;
    const before = this.#removed;
    const kept: Keywords = {};
    const dropped = new Set<string>();
    const drop = (key: string): void => {
      this.#removed += 1;
      for (const name of [key, ...(DEPENDENT[key] ?? [])]) dropped.add(name);
    };
    for (const [key, value] of Object.entries(schema)) {
      if (REFERENCES.has(key)) throw new Error("the schema has references");
      if (this.#costly.has(key)) {
        drop(key);
        continue;
      }
      const removed = this.#removed;
      kept[key] = this.#copyValue(key, value);
      if (this.#removed === removed) continue;
      if (INVERTING.has(key)) drop(key);
      // Without its pattern, an alternative may match values of another one, but `oneOf` requires exactly one match.
      if (key !== "oneOf") continue;
      drop(key);
      if (!("anyOf" in schema)) kept.anyOf = kept.oneOf;
    }
    if (this.#removed > before) for (const key of ["unevaluatedProperties", "unevaluatedItems"]) dropped.add(key);
    return Object.fromEntries(Object.entries(kept).filter(([key]) => !dropped.has(key)));
  }

  #copyValue(key: string, value: unknown): unknown {
    if (VALUES.has(key)) return value;
    if (!NAMED.has(key) || typeof value !== "object" || value === null) return this.copy(value);
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, this.copy(schema)]));
  }
}
