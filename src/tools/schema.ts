/** Makes of a tool's schema one that every provider takes, where that is harmless, and says why where it is not. */

type Schema = Record<string, unknown>;

export class SchemaRefusal extends Error {}

const COMBINED = ["allOf", "anyOf", "oneOf"] as const;
/** A reference may lead to a reference; a circle of them ends here. */
const MOST_REFERENCES = 8;
/** Of all combinations together: forms that refer to each other would multiply. */
const MOST_BRANCHES = 200;

/**
 * The APIs of Anthropic, OpenAI and Google want `type: "object"` with properties at the top, and no combination
 * there. What is mended tells a model less than the schema did, never something else: whoever offers the tool checks
 * its arguments by its own schema.
 */
export function mendSchema(given: unknown): Schema {
  if (given === undefined || given === null) return { type: "object", properties: {} };
  if (!isSchema(given)) throw new SchemaRefusal("its schema is not an object");
  const schema = combined(followed(given));
  const type = schema["type"];
  const object = type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
  if (!object) throw new SchemaRefusal(`its arguments are ${JSON.stringify(type)} instead of an object`);
  if (schema["enum"] !== undefined || schema["const"] !== undefined) {
    throw new SchemaRefusal("its schema lists whole values");
  }
  const { properties = {}, required } = schema;
  if (!isSchema(properties)) throw new SchemaRefusal("its properties are not an object");
  if (required !== undefined && !isNames(required)) throw new SchemaRefusal("its required names are not a list");
  const { not: _, ...rest } = schema;
  return { ...rest, type: "object", properties };
}

/** Some generators put the whole schema into `$defs` and a reference on top. */
function followed(given: Schema): Schema {
  let schema = given;
  for (let hop = 0; typeof schema["$ref"] === "string"; hop += 1) {
    const { $ref, ...beside } = schema;
    const target = hop < MOST_REFERENCES ? at(given, $ref) : undefined;
    if (!isSchema(target)) throw new SchemaRefusal(`its schema refers to "${$ref}"`);
    schema = { ...beside, ...target };
  }
  return schema;
}

/** The properties of all branches; required is what every choice requires, or any part of an `allOf`. */
function combined(schema: Schema, root = schema, left = { branches: MOST_BRANCHES }): Schema {
  let result = schema;
  for (const word of COMBINED) {
    const { [word]: branches, ...rest } = result;
    if (branches === undefined) continue;
    if (!Array.isArray(branches) || !branches.every(isSchema)) throw new SchemaRefusal(`its ${word} is not a list`);
    left.branches -= branches.length;
    if (left.branches < 0) throw new SchemaRefusal(`it has more than ${MOST_BRANCHES} forms`);
    const parts = branches.map((branch) => combined(resolved(root, branch), root, left));
    const names = parts.map(({ required }) => (isNames(required) ? required : []));
    const required = word === "allOf" ? names.flat() : inAll(names);
    result = {
      ...rest,
      properties: merged([rest, ...parts]),
      required: [...new Set([...(isNames(rest["required"]) ? rest["required"] : []), ...required])],
    };
  }
  return result;
}

function inAll([first = [], ...others]: readonly string[][]): string[] {
  const sets = others.map((names) => new Set(names));
  return first.filter((name) => sets.every((names) => names.has(name)));
}

function resolved(root: Schema, branch: Schema): Schema {
  const { $ref } = branch;
  const target = typeof $ref === "string" ? at(root, $ref) : branch;
  if (!isSchema(target)) throw new SchemaRefusal(`its schema refers to "${String($ref)}"`);
  const type = target["type"];
  if (type !== undefined && type !== "object") throw new SchemaRefusal("it takes something else than an object");
  return target;
}

/** A property that branches describe differently is any of what they say. */
function merged(parts: readonly Schema[]): Schema {
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

function at(root: Schema, reference: string): unknown {
  if (reference === "#" || !reference.startsWith("#/")) return undefined;
  const keys = reference.slice(2).split("/");
  const step = (value: unknown, key: string) =>
    isSchema(value) ? value[key.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  return keys.reduce<unknown>(step, root);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
