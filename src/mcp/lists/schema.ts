/** Turns the input schema of a tool into one that every provider accepts, or says why that is impossible. */

type Schema = Readonly<Record<string, unknown>>;

const MAX_CHARS = 256 * 1024;
const MAX_DEPTH = 64;
/**
 * Observed with the APIs of Anthropic and OpenAI in 2026: a top-level object without alternatives, and plain property
 * names.
 */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const ALTERNATIVES = ["anyOf", "oneOf", "allOf"] as const;
const FORBIDDEN_AT_TOP = [...ALTERNATIVES, "not", "if", "then", "else", "enum", "const"];

export function toProviderSchema(raw: unknown): { readonly schema: Schema } | { readonly refused: string } {
  if (raw === undefined) return { schema: { type: "object", properties: {} } };
  if (!isSchema(raw)) return { refused: "its schema is not an object" };
  const excess = findExcess(raw);
  if (excess !== undefined) return { refused: excess };
  const { type = "object" } = raw;
  if (type !== "object")
    return { refused: `its schema has the type ${JSON.stringify(type)}, but arguments must be an object` };
  const schema = {
    type,
    properties: {},
    ...(FORBIDDEN_AT_TOP.some((key) => key in raw) ? mergeAlternatives(raw) : raw),
  };
  const { properties } = schema as Schema;
  if (!isSchema(properties)) return { refused: "the properties in its schema are not an object" };
  const bad = Object.keys(properties).find((name) => !PROPERTY_NAME.test(name));
  if (bad !== undefined)
    return { refused: `providers do not accept the argument name ${JSON.stringify(bad.slice(0, 100))}` };
  return { schema };
}

/** Returns why a schema is too large, or undefined. */
export function findExcess(schema: Schema): string | undefined {
  if (measureDepth(schema, 0) > MAX_DEPTH) return `its schema is nested more than ${MAX_DEPTH} levels deep`;
  if (JSON.stringify(schema).length > MAX_CHARS) return `its schema has more than ${MAX_CHARS} characters`;
  return undefined;
}

/** Merges the alternatives. The result may be less strict, never different: the server validates the arguments. */
function mergeAlternatives(raw: Schema): Schema {
  const branches = ALTERNATIVES.flatMap((key) =>
    Array.isArray(raw[key]) ? (raw[key] as unknown[]).filter(isSchema) : [],
  );
  const rest = Object.fromEntries(Object.entries(raw).filter(([key]) => !FORBIDDEN_AT_TOP.includes(key)));
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

function measureDepth(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return depth;
  return Object.values(value).reduce<number>(
    (deepest, inner) => Math.max(deepest, measureDepth(inner, depth + 1)),
    depth,
  );
}
