/** Removes from a foreign JSON Schema the keywords whose check may not end in a lifetime. */

/** A peer writes the schema: a regular expression or a comparison of all items can be made arbitrarily costly. */
const COSTLY: ReadonlySet<string> = new Set(["pattern", "patternProperties", "uniqueItems"]);
/** A few references that refer to one another describe more than can be checked. */
const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
/** Keywords that hold values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
/** Keywords that hold schemas by name. */
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);

/**
 * A copy of the schema without `pattern`, `patternProperties`, `uniqueItems` and the keywords in `also`: it accepts
 * more than the original, never less. Throws if the schema has references or is nested too deeply.
 */
export function boundedSchema(schema: unknown, also: readonly string[] = []): unknown {
  const isKept = (key: string): boolean => !COSTLY.has(key) && !also.includes(key);
  const each = (schemas: unknown): unknown =>
    typeof schemas === "object" && schemas !== null
      ? Object.fromEntries(Object.entries(schemas).map(([name, inner]) => [name, copied(inner)]))
      : schemas;
  const copied = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(copied);
    if (typeof inner !== "object" || inner === null) return inner;
    const kept = Object.entries(inner).filter(([key]) => isKept(key));
    if (kept.some(([key]) => REFERENCES.has(key))) throw new Error("the schema has references");
    return Object.fromEntries(
      kept.map(([key, value]) => [key, VALUES.has(key) ? value : NAMED.has(key) ? each(value) : copied(value)]),
    );
  };
  return copied(schema);
}
