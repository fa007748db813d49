/** Describes zod schemas in a few words, through their JSON Schema. */
import { z } from "zod";
import { code } from "./markdown.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" });
  return rest;
}

/** One cell of a table: `string`, `"ask" or "read"`, `integer, at least 1`, `list of string`. */
export function describeType(schema: JsonSchema): string {
  const options = (schema["anyOf"] ?? schema["oneOf"]) as JsonSchema[] | undefined;
  if (options !== undefined) return [...new Set(options.map(describeType))].join(" or ");
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => code(JSON.stringify(value))).join(", ");
  if ("const" in schema) return code(JSON.stringify(schema["const"]));
  switch (schema["type"]) {
    case "array":
      return `list of ${describeType((schema["items"] ?? {}) as JsonSchema)}`;
    case "object":
      return describeObject(schema);
    case "integer":
    case "number":
      return [schema["type"], ...bounds(schema)].join(", ");
    case "string":
      return typeof schema["format"] === "string" ? `string (${schema["format"]})` : "string";
    default:
      return typeof schema["type"] === "string" ? schema["type"] : "any JSON value";
  }
}

function describeObject(schema: JsonSchema): string {
  const properties = Object.keys(schema["properties"] ?? {});
  if (properties.length > 0) return `table of ${properties.map(code).join(", ")}`;
  const values = schema["additionalProperties"];
  return isSchema(values) ? `table of ${describeType(values)}` : "table";
}

function bounds(schema: JsonSchema): string[] {
  const known = [
    ["minimum", "at least"],
    ["exclusiveMinimum", "greater than"],
    ["maximum", "at most"],
    ["exclusiveMaximum", "less than"],
  ] as const;
  return known.flatMap(([key, words]) => {
    const value = schema[key];
    return typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER ? [`${words} ${value}`] : [];
  });
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}
