/** Checks a structured result against its tool's schema, softly: a result is not thrown away because of it. */
type Check = (content: unknown) => string | undefined;

const checks = new WeakMap<object, Check>();
const MAX_CHARS = 500;
/** A server writes both the schema and the content: what can take for ever to check is not checked. */
const COSTLY = new Set(["pattern", "patternProperties", "format", "uniqueItems"]);
/** Few references say more than can be checked in a lifetime. */
const REFERENCES = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
/** What stands in them are values or names, not schemas. */
const VALUES = new Set(["const", "enum", "default", "examples"]);
const NAMED = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);

/** What is wrong, if anything. A schema that is itself wrong finds nothing, and neither does one with references. */
export async function mismatch(
  schema: Readonly<Record<string, unknown>>,
  content: unknown,
): Promise<string | undefined> {
  if (content === undefined) return "there is none";
  let check = checks.get(schema);
  if (check === undefined) checks.set(schema, (check = await compiled(schema)));
  return check(content)?.slice(0, MAX_CHARS);
}

async function compiled(schema: Readonly<Record<string, unknown>>): Promise<Check> {
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/sdk/validation/ajv");
  try {
    const validate = new AjvJsonSchemaValidator().getValidator(cheap(schema) as typeof schema);
    return (content) => {
      const { valid, errorMessage } = validate(content);
      return valid ? undefined : errorMessage;
    };
  } catch {
    return () => undefined;
  }
}

/** Throws where there are references. */
function cheap(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(cheap);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key]) => !COSTLY.has(key));
  if (kept.some(([key]) => REFERENCES.has(key))) throw new Error("it has references");
  return Object.fromEntries(
    kept.map(([key, value]) => [key, VALUES.has(key) ? value : NAMED.has(key) ? eachCheap(value) : cheap(value)]),
  );
}

function eachCheap(schemas: unknown): unknown {
  if (typeof schemas !== "object" || schemas === null) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, cheap(schema)]));
}
