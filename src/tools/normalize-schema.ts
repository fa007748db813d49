/** Normalizes a tool's schema into one that every provider accepts, or rejects it with a reason. */

type Schema = Record<string, unknown>;

export class SchemaRefusal extends Error {}

const COMBINATION_KEYWORDS = ["allOf", "anyOf", "oneOf"] as const;
/** Limits chains and cycles of references. */
const MAX_REFERENCES = 8;
/** Limits all combinations of a schema together, because branches that refer to each other multiply. */
const MAX_BRANCHES = 200;

/**
 * Makes the top level `type: "object"` with `properties` and without combinations, as Anthropic, OpenAI and Google
 * require. The result may be less strict than the original, never different: the tool's source still validates
 * arguments against the original schema. Throws `SchemaRefusal` if that is impossible.
 */
export function normalizeSchema(input: unknown): Schema {
  if (input === undefined || input === null) return { type: "object", properties: {} };
  if (!isSchema(input)) throw new SchemaRefusal("its schema is not an object");
  const schema = mergeBranches(resolveTopLevelRef(input));
  const type = schema["type"];
  const object = type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
  if (!object) throw new SchemaRefusal(`its arguments have the type ${JSON.stringify(type)} instead of "object"`);
  if (schema["enum"] !== undefined || schema["const"] !== undefined) {
    throw new SchemaRefusal("its top-level schema uses enum or const");
  }
  const { properties = {}, required } = schema;
  if (!isSchema(properties)) throw new SchemaRefusal("its properties are not an object");
  if (required !== undefined && !isStringArray(required))
    throw new SchemaRefusal("its required list is not an array of strings");
  const { not: _, ...rest } = schema;
  return { ...rest, type: "object", properties };
}

/** Resolves a top-level `$ref`, which some generators emit for a schema in `$defs`. */
function resolveTopLevelRef(input: Schema): Schema {
  let schema = input;
  for (let hop = 0; typeof schema["$ref"] === "string"; hop += 1) {
    const { $ref, ...beside } = schema;
    const target = hop < MAX_REFERENCES ? resolvePointer(input, $ref) : undefined;
    if (!isSchema(target)) throw new SchemaRefusal(`its schema has the unsupported reference "${$ref}"`);
    schema = { ...beside, ...target };
  }
  return schema;
}

/**
 * Merges the properties of all branches. A property is required if every branch of a choice, or any part of `allOf`,
 * requires it.
 */
function mergeBranches(schema: Schema, root = schema, left = { branches: MAX_BRANCHES }): Schema {
  let result = schema;
  for (const word of COMBINATION_KEYWORDS) {
    const { [word]: branches, ...rest } = result;
    if (branches === undefined) continue;
    if (!Array.isArray(branches) || !branches.every(isSchema))
      throw new SchemaRefusal(`its ${word} is not an array of objects`);
    left.branches -= branches.length;
    if (left.branches < 0) throw new SchemaRefusal(`it has more than ${MAX_BRANCHES} branches`);
    const parts = branches.map((branch) => mergeBranches(resolveBranch(root, branch), root, left));
    const names = parts.map(({ required }) => (isStringArray(required) ? required : []));
    const required = word === "allOf" ? names.flat() : intersectNames(names);
    result = {
      ...rest,
      properties: mergeProperties([rest, ...parts]),
      required: [...new Set([...(isStringArray(rest["required"]) ? rest["required"] : []), ...required])],
    };
  }
  return result;
}

function intersectNames([first = [], ...others]: readonly string[][]): string[] {
  const sets = others.map((names) => new Set(names));
  return first.filter((name) => sets.every((names) => names.has(name)));
}

function resolveBranch(root: Schema, branch: Schema): Schema {
  const { $ref } = branch;
  const target = typeof $ref === "string" ? resolvePointer(root, $ref) : branch;
  if (!isSchema(target)) throw new SchemaRefusal(`its schema has the unsupported reference "${String($ref)}"`);
  const type = target["type"];
  if (type !== undefined && type !== "object") throw new SchemaRefusal("one of its branches is not an object schema");
  return target;
}

/** A property that branches describe differently becomes an `anyOf` of their descriptions. */
function mergeProperties(parts: readonly Schema[]): Schema {
  const found = new Map<string, Map<string, unknown>>();
  for (const { properties } of parts) {
    if (!isSchema(properties)) continue;
    for (const [name, property] of Object.entries(properties)) {
      const kinds = found.get(name) ?? new Map<string, unknown>();
      found.set(name, kinds.set(JSON.stringify(property), property));
    }
  }
  return Object.fromEntries(
    Array.from(found, ([name, kinds]) => [
      name,
      kinds.size === 1 ? [...kinds.values()][0] : { anyOf: [...kinds.values()] },
    ]),
  );
}

function resolvePointer(root: Schema, reference: string): unknown {
  if (reference === "#" || !reference.startsWith("#/")) return undefined;
  const keys = reference.slice(2).split("/");
  const step = (value: unknown, key: string) =>
    isSchema(value) ? value[key.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  return keys.reduce<unknown>(step, root);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
