/** The part of JSON Schema 2020-12 that the protocol's schema uses; any other keyword is refused, never skipped. */

import { isObject, members } from "../object.ts";
import { anyOf, discriminated, oneOf } from "./forms.ts";
import { at, type Check, type Violation } from "./violation.ts";

export type Schema = boolean | Readonly<Record<string, unknown>>;
export type Definitions = Readonly<Record<string, Schema>>;

/** One check per definition, with every keyword read before the first value comes. */
export function compile(definitions: Definitions): ReadonlyMap<string, Check> {
  const checks = new Map<string, Check>();
  const compiler: Compiler = {
    schema: (schema) => compileSchema(schema, compiler),
    reference: (name) => (value, path) => known(checks, name)(value, path),
  };
  for (const [name, schema] of Object.entries(definitions)) checks.set(name, compiler.schema(schema));
  return checks;
}

interface Compiler {
  schema(schema: unknown): Check;
  /** Found when it is used, because definitions refer to later ones. */
  reference(name: string): Check;
}

type Keyword = (argument: unknown, compiler: Compiler, schema: Readonly<Record<string, unknown>>) => Check | undefined;

const ANNOTATIONS = /^(?:title|description|default|x-.+)$/;

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  $ref: (target, compiler) => compiler.reference(String(target).replace("#/$defs/", "")),
  type: (types) => ofType(asArray(types).map(String)),
  const: (wanted) => oneOfValues([wanted]),
  enum: (values) => oneOfValues(asArray(values)),
  properties: (properties, compiler) => {
    const checks = Object.entries(properties as object).map(([key, schema]) => [key, compiler.schema(schema)] as const);
    return (value, path) =>
      isObject(value)
        ? first(checks, ([key, check]) => present(value, key) && check(value[key], at(path, key)))
        : undefined;
  },
  required: (keys) => (value, path) => {
    if (!isObject(value)) return undefined;
    const missing = asArray(keys)
      .map(String)
      .find((key) => !present(value, key));
    return missing === undefined ? undefined : { path: at(path, missing), expected: "a value", got: undefined };
  },
  additionalProperties: (allowed, compiler, { properties }) => {
    const check = compiler.schema(allowed);
    const named = new Set(isObject(properties) ? Object.keys(properties) : []);
    return (value, path) =>
      isObject(value)
        ? first(Object.entries(value), ([key, item]) => (named.has(key) ? undefined : check(item, at(path, key))))
        : undefined;
  },
  unevaluatedProperties: (allowed) => {
    if (allowed !== true) throw new Error("unevaluatedProperties is only known as true");
    return undefined;
  },
  items: (schema, compiler) => {
    const check = compiler.schema(schema);
    return (value, path) =>
      Array.isArray(value) ? first(value.entries(), ([index, item]) => check(item, at(path, index))) : undefined;
  },
  allOf: (schemas, compiler) => {
    const checks = asArray(schemas).map((schema) => compiler.schema(schema));
    return (value, path) => first(checks, (check) => check(value, path));
  },
  anyOf: (schemas, compiler) => anyOf(asArray(schemas).map((schema) => compiler.schema(schema))),
  oneOf: (schemas, compiler, { discriminator }) =>
    isObject(discriminator)
      ? byName(String(discriminator["propertyName"]), asArray(schemas), compiler)
      : oneOf(asArray(schemas).map((schema) => compiler.schema(schema))),
  discriminator: () => undefined, // read by oneOf
  not: (schema, compiler) => {
    const check = compiler.schema(schema);
    return (value, path) => (check(value, path) ? undefined : { path, expected: "another form", got: value });
  },
  minimum: (limit) => inRange(Number(limit), Infinity),
  maximum: (limit) => inRange(-Infinity, Number(limit)),
  minLength: (length) => (value, path) =>
    typeof value === "string" && Array.from(value).length < Number(length)
      ? { path, expected: `at least ${Number(length)} characters`, got: value }
      : undefined,
  format: (name) => {
    const range = FORMATS[String(name)];
    if (range === undefined) throw new Error(`the format ${String(name)} is not known`);
    return inRange(...range);
  },
};

/** `uri` and `double` say nothing that could be wrong: a format is an annotation but for the width of integers. */
const FORMATS: Readonly<Record<string, readonly [number, number]>> = {
  uint16: [0, 65_535],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, 2 ** 64],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
  double: [-Infinity, Infinity],
  uri: [-Infinity, Infinity],
};

function compileSchema(schema: unknown, compiler: Compiler): Check {
  if (schema === true) return () => undefined;
  if (schema === false) return (value, path) => ({ path, expected: "nothing", got: value });
  if (!isObject(schema)) throw new Error(`${JSON.stringify(schema)} is not a schema`);
  const checks = Object.entries(schema).flatMap(([name, argument]) => {
    const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
    if (keyword === undefined && !ANNOTATIONS.test(name)) throw new Error(`the keyword ${name} is not known`);
    return keyword?.(argument, compiler, schema) ?? [];
  });
  return (value, path) => first(checks, (check) => check(value, path));
}

function ofType(types: readonly string[]): Check {
  return (value, path) => {
    const kind = kindOf(value);
    if (types.includes(kind) || (kind === "integer" && types.includes("number"))) return undefined;
    return { path, expected: types.join(" or "), got: value };
  };
}

function oneOfValues(values: readonly unknown[]): Check {
  return (value, path) =>
    values.includes(value)
      ? undefined
      : { path, expected: values.map((each) => JSON.stringify(each)).join(" or "), got: value };
}

function byName(property: string, schemas: readonly unknown[], compiler: Compiler): Check {
  const forms = schemas.map((schema) => {
    const { const: name } = members(members(schema, "properties"), property);
    if (name === undefined) throw new Error(`a form has no constant ${property}`);
    return [name, compiler.schema(schema)] as const;
  });
  return discriminated(property, new Map(forms));
}

function inRange(least: number, most: number): Check {
  return (value, path) =>
    typeof value === "number" && (value < least || value > most)
      ? { path, expected: `between ${least} and ${most}`, got: value }
      : undefined;
}

function known(checks: ReadonlyMap<string, Check>, name: string): Check {
  const check = checks.get(name);
  if (check === undefined) throw new Error(`there is no definition ${name}`);
  return check;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function first<T>(items: Iterable<T>, check: (item: T) => Violation | false | undefined): Violation | undefined {
  for (const item of items) {
    const failure = check(item);
    if (failure) return failure;
  }
  return undefined;
}

const present = (value: object, key: string): boolean => Object.hasOwn(value, key);
const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
