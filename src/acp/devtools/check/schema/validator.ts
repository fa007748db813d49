/**
 * Implements the subset of JSON Schema 2020-12 that the protocol's schema uses. An unknown keyword throws; it is never
 * skipped.
 */

import { isJsonObject, getObjectMember } from "../../../wire/json-object.ts";
import { checkAnyOf, checkDiscriminated, checkOneOf } from "./combinators.ts";
import { appendPath, type SchemaCheck, type SchemaViolation } from "./violation.ts";

export type JsonSchemaNode = boolean | Readonly<Record<string, unknown>>;
export type SchemaDefinitions = Readonly<Record<string, JsonSchemaNode>>;

/** Compiles one check per definition. Throws for an unknown keyword before the first value is checked. */
export function compileDefinitions(definitions: SchemaDefinitions): ReadonlyMap<string, SchemaCheck> {
  const checks = new Map<string, SchemaCheck>();
  const compiler: Compiler = {
    schema: (schema) => compileSchema(schema, compiler),
    reference: (name) => (value, path) => getDefinition(checks, name)(value, path),
  };
  for (const [name, schema] of Object.entries(definitions)) checks.set(name, compiler.schema(schema));
  return checks;
}

interface Compiler {
  schema(schema: unknown): SchemaCheck;
  /** Resolved on use, because a definition may refer to a later one. */
  reference(name: string): SchemaCheck;
}

type Keyword = (
  argument: unknown,
  compiler: Compiler,
  schema: Readonly<Record<string, unknown>>,
) => SchemaCheck | undefined;

const ANNOTATIONS = /^(?:title|description|default|x-.+)$/;

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  $ref: (target, compiler) => compiler.reference(String(target).replace("#/$defs/", "")),
  type: (types) => checkType(asArray(types).map(String)),
  const: (wanted) => checkEnum([wanted]),
  enum: (values) => checkEnum(asArray(values)),
  properties: (properties, compiler) => {
    const checks = Object.entries(properties as object).map(([key, schema]) => [key, compiler.schema(schema)] as const);
    return (value, path) =>
      isJsonObject(value)
        ? findFirst(checks, ([key, check]) => hasKey(value, key) && check(value[key], appendPath(path, key)))
        : undefined;
  },
  required: (keys) => (value, path) => {
    if (!isJsonObject(value)) return undefined;
    const missing = asArray(keys)
      .map(String)
      .find((key) => !hasKey(value, key));
    return missing === undefined ? undefined : { path: appendPath(path, missing), expected: "a value", got: undefined };
  },
  additionalProperties: (allowed, compiler, { properties }) => {
    const check = compiler.schema(allowed);
    const named = new Set(isJsonObject(properties) ? Object.keys(properties) : []);
    return (value, path) =>
      isJsonObject(value)
        ? findFirst(Object.entries(value), ([key, item]) =>
            named.has(key) ? undefined : check(item, appendPath(path, key)),
          )
        : undefined;
  },
  unevaluatedProperties: (allowed) => {
    if (allowed !== true) throw new Error("unevaluatedProperties supports only true");
    return undefined;
  },
  items: (schema, compiler) => {
    const check = compiler.schema(schema);
    return (value, path) =>
      Array.isArray(value)
        ? findFirst(value.entries(), ([index, item]) => check(item, appendPath(path, index)))
        : undefined;
  },
  allOf: (schemas, compiler) => {
    const checks = asArray(schemas).map((schema) => compiler.schema(schema));
    return (value, path) => findFirst(checks, (check) => check(value, path));
  },
  anyOf: (schemas, compiler) => checkAnyOf(asArray(schemas).map((schema) => compiler.schema(schema))),
  oneOf: (schemas, compiler, { discriminator }) =>
    isJsonObject(discriminator)
      ? compileDiscriminated(String(discriminator["propertyName"]), asArray(schemas), compiler)
      : checkOneOf(asArray(schemas).map((schema) => compiler.schema(schema))),
  discriminator: () => undefined, // handled by oneOf
  not: (schema, compiler) => {
    const check = compiler.schema(schema);
    return (value, path) => (check(value, path) ? undefined : { path, expected: "another form", got: value });
  },
  minimum: (limit) => checkRange(Number(limit), Infinity),
  maximum: (limit) => checkRange(-Infinity, Number(limit)),
  minLength: (length) => (value, path) =>
    typeof value === "string" && Array.from(value).length < Number(length)
      ? { path, expected: `at least ${Number(length)} characters`, got: value }
      : undefined,
  format: (name) => {
    const range = FORMATS[String(name)];
    if (range === undefined) throw new Error(`unknown format ${String(name)}`);
    return checkRange(...range);
  },
};

/** `uri` and `double` accept every value: a format is an annotation, except for the width of integers. */
const FORMATS: Readonly<Record<string, readonly [number, number]>> = {
  uint16: [0, 65_535],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, 2 ** 64],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
  double: [-Infinity, Infinity],
  uri: [-Infinity, Infinity],
};

function compileSchema(schema: unknown, compiler: Compiler): SchemaCheck {
  if (schema === true) return () => undefined;
  if (schema === false) return (value, path) => ({ path, expected: "nothing", got: value });
  if (!isJsonObject(schema)) throw new Error(`${JSON.stringify(schema)} is not a schema`);
  const checks = Object.entries(schema).flatMap(([name, argument]) => {
    const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
    if (keyword === undefined && !ANNOTATIONS.test(name)) throw new Error(`unknown keyword ${name}`);
    return keyword?.(argument, compiler, schema) ?? [];
  });
  return (value, path) => findFirst(checks, (check) => check(value, path));
}

function checkType(types: readonly string[]): SchemaCheck {
  return (value, path) => {
    const kind = jsonTypeOf(value);
    if (types.includes(kind) || (kind === "integer" && types.includes("number"))) return undefined;
    return { path, expected: types.join(" or "), got: value };
  };
}

function checkEnum(values: readonly unknown[]): SchemaCheck {
  return (value, path) =>
    values.includes(value)
      ? undefined
      : { path, expected: values.map((each) => JSON.stringify(each)).join(" or "), got: value };
}

function compileDiscriminated(property: string, schemas: readonly unknown[], compiler: Compiler): SchemaCheck {
  const forms = schemas.map((schema) => {
    const { const: name } = getObjectMember(getObjectMember(schema, "properties"), property);
    if (name === undefined) throw new Error(`a form of oneOf has no constant ${property}`);
    return [name, compiler.schema(schema)] as const;
  });
  return checkDiscriminated(property, new Map(forms));
}

function checkRange(least: number, most: number): SchemaCheck {
  return (value, path) =>
    typeof value === "number" && (value < least || value > most)
      ? { path, expected: `between ${least} and ${most}`, got: value }
      : undefined;
}

function getDefinition(checks: ReadonlyMap<string, SchemaCheck>, name: string): SchemaCheck {
  const check = checks.get(name);
  if (check === undefined) throw new Error(`unknown definition ${name}`);
  return check;
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function findFirst<T>(
  items: Iterable<T>,
  check: (item: T) => SchemaViolation | false | undefined,
): SchemaViolation | undefined {
  for (const item of items) {
    const failure = check(item);
    if (failure) return failure;
  }
  return undefined;
}

const hasKey = (value: object, key: string): boolean => Object.hasOwn(value, key);
const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
