/** Builds the table of messages that an agent may send from the schema in the protocol's package. */

type Node = Record<string, unknown>;

const DROPPED = /^(?:title|description|default|x-.+|unevaluatedProperties)$/;
const SUBSCHEMAS = ["items", "not"];
const LISTS = ["anyOf", "oneOf", "allOf"];

export function buildSchemaTable(schema: { readonly $defs: Readonly<Record<string, Node>> }): Node {
  const entries = Object.entries(schema.$defs);
  const methods = (suffix: string, sides: readonly string[]) =>
    Object.fromEntries(
      entries
        .filter(([name, def]) => name.endsWith(suffix) && sides.includes(String(def["x-side"])))
        .map(([name, def]) => [String(def["x-method"]), name]),
    );
  const tables = {
    results: methods("Response", ["agent"]),
    requests: methods("Request", ["client"]),
    notifications: methods("Notification", ["client", "protocol"]),
  };
  const roots = ["Error", "RequestId", ...Object.values(tables).flatMap((table) => Object.values(table))];
  const definitions: Node = {};
  for (const name of roots) collect(name, schema.$defs, definitions);
  return { ...tables, $defs: definitions };
}

function collect(name: string, from: Readonly<Record<string, Node>>, into: Node): void {
  if (name in into) return;
  const definition = slim(from[name]);
  into[name] = definition;
  for (const [, reference = ""] of JSON.stringify(definition).matchAll(/"#\/\$defs\/(\w+)"/g)) {
    collect(reference, from, into);
  }
}

function slim(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => !DROPPED.test(key) && !(key === "additionalProperties" && value === true),
  );
  const node = Object.fromEntries(kept.map(([key, value]) => [key, slimKeyword(key, value)]));
  return onlyReference(node) ?? constants(node) ?? node;
}

function slimKeyword(key: string, value: unknown): unknown {
  if (LISTS.includes(key)) return (value as unknown[]).map(slim);
  if (SUBSCHEMAS.includes(key) || key === "additionalProperties") return slim(value);
  if (key !== "properties") return value;
  return Object.fromEntries(Object.entries(value as Node).map(([name, schema]) => [name, slim(schema)]));
}

/** Unwraps a reference that was wrapped to hold a description. */
function onlyReference(node: Node): unknown {
  const { allOf } = node as { allOf?: unknown[] };
  return Object.keys(node).length === 1 && allOf?.length === 1 ? allOf[0] : undefined;
}

/** Turns a choice of described constants into a list of values. */
function constants(node: Node): unknown {
  const forms = (node as { oneOf?: Node[] }).oneOf;
  if (Object.keys(node).length !== 1 || forms === undefined) return undefined;
  if (!forms.every((form) => Object.keys(form).join() === "type,const" && form["type"] === "string")) return undefined;
  return { enum: forms.map((form) => form["const"]) };
}
