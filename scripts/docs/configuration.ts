/** The configuration reference: keys, types and bounds from the zod schema, meanings from `configuration-meanings.ts`. */
import { ConfigTable } from "../../src/config/schema.ts";
import { CONFIGURATION_KEYS, CONFIGURATION_TABLES } from "./configuration-meanings.ts";
import { code, page, table } from "./markdown.ts";
import { describeType, jsonSchemaOf, type JsonSchema } from "./schema.ts";

/** Every key that a `rookery.toml` may have, with `NAME` for a name of your own, such as `agents.NAME.budget.usd`. */
export function configurationKeys(): ReadonlyMap<string, JsonSchema> {
  const keys = new Map<string, JsonSchema>();
  collect("", jsonSchemaOf(ConfigTable), keys);
  return keys;
}

export function configurationPage(): string {
  const keys = configurationKeys();
  const unknown = Object.keys(CONFIGURATION_KEYS).filter((key) => !keys.has(key));
  if (unknown.length > 0) throw new Error(`configuration-meanings.ts describes unknown keys: ${unknown.join(", ")}`);
  return page("Configuration reference", "src/config/schema.ts", [
    "[Configuration](../configuration.md) explains where the files are and how they combine. An unknown key is an error that names the nearest known one. `NAME` stands for a name of your choice. Times are in seconds.",
    ...CONFIGURATION_TABLES.map(({ prefix, title, text }) => section(prefix, title, text, keys)),
  ]);
}

function section(prefix: string, title: string, text: string, keys: ReadonlyMap<string, JsonSchema>): string {
  const rows = [...keys].flatMap(([key, schema]) => {
    if (ownerOf(key) !== prefix) return [];
    const entry = CONFIGURATION_KEYS[key];
    if (entry === undefined) throw new Error(`configuration-meanings.ts does not describe ${key}`);
    const { meaning, fallback = "" } = entry;
    return [[code(key.slice(prefix.length + 1)), describeType(schema), fallback, meaning]];
  });
  return [`## ${title}`, text, table(["key", "type", "default", "meaning"], rows)].join("\n\n");
}

/** The longest table of the page that the key is in. */
function ownerOf(key: string): string | undefined {
  return CONFIGURATION_TABLES.map(({ prefix }) => prefix)
    .filter((prefix) => key.startsWith(`${prefix}.`))
    .toSorted((one, other) => other.length - one.length)[0];
}

function collect(path: string, schema: JsonSchema, keys: Map<string, JsonSchema>): void {
  const options = (schema["anyOf"] ?? []) as JsonSchema[];
  for (const option of options) collect(path, option, keys);
  for (const [name, inner] of Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>)) {
    const key = path === "" ? name : `${path}.${name}`;
    if (!isTable(inner)) keys.set(key, inner);
    collect(key, inner, keys);
  }
  const values = schema["additionalProperties"];
  if (typeof values === "object" && values !== null && isTable(values as JsonSchema)) {
    collect(`${path}.NAME`, values as JsonSchema, keys);
  }
  const items = schema["items"] as JsonSchema | undefined;
  if (path.endsWith(".stages") && items !== undefined) collect(path, items, keys);
}

function isTable(schema: JsonSchema): boolean {
  if (schema["properties"] !== undefined) return true;
  const values = schema["additionalProperties"] as JsonSchema | undefined;
  return values?.["properties"] !== undefined;
}
