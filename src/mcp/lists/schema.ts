/** Makes the schema of a tool's arguments one that every provider takes, or says why there is none. */

type Schema = Readonly<Record<string, unknown>>;

const MAX_CHARS = 256 * 1024;
const MAX_DEPTH = 64;
/** Seen with Anthropic's and OpenAI's APIs in 2026: an object on top, without alternatives there, and plain names in it. */
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;
const ALTERNATIVES = ["anyOf", "oneOf", "allOf"] as const;
const NOT_ON_TOP = [...ALTERNATIVES, "not", "if", "then", "else", "enum", "const"];

export function offerable(raw: unknown): { readonly schema: Schema } | { readonly refused: string } {
  if (raw === undefined) return { schema: { type: "object", properties: {} } };
  if (!isSchema(raw)) return { refused: "its schema is not an object" };
  const excess = excessOf(raw);
  if (excess !== undefined) return { refused: excess };
  const { type = "object" } = raw;
  if (type !== "object") return { refused: `its schema is of ${JSON.stringify(type)}, and arguments are an object` };
  const schema = { type, properties: {}, ...(NOT_ON_TOP.some((key) => key in raw) ? flattened(raw) : raw) };
  const { properties } = schema as Schema;
  if (!isSchema(properties)) return { refused: "the properties in its schema are not an object" };
  const bad = Object.keys(properties).find((name) => !PROPERTY.test(name));
  if (bad !== undefined) return { refused: `no provider takes the argument name ${JSON.stringify(bad.slice(0, 100))}` };
  return { schema };
}

/** Why it is too much to be kept, if it is. */
export function excessOf(schema: Schema): string | undefined {
  if (depthOf(schema, 0) > MAX_DEPTH) return `its schema is nested more than ${MAX_DEPTH} deep`;
  if (JSON.stringify(schema).length > MAX_CHARS) return `its schema has more than ${MAX_CHARS} characters`;
  return undefined;
}

/** Says less than the original, never something else: what it leaves open, the server checks. */
function flattened(raw: Schema): Schema {
  const branches = ALTERNATIVES.flatMap((key) =>
    Array.isArray(raw[key]) ? (raw[key] as unknown[]).filter(isSchema) : [],
  );
  const rest = Object.fromEntries(Object.entries(raw).filter(([key]) => !NOT_ON_TOP.includes(key)));
  const properties = Object.assign(
    {},
    ...branches.map((branch) => branch["properties"] ?? {}),
    rest["properties"] ?? {},
  ) as Schema;
  return { ...rest, properties };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function depthOf(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return depth;
  return Object.values(value).reduce<number>((deepest, inner) => Math.max(deepest, depthOf(inner, depth + 1)), depth);
}
