import { expect, it } from "vitest";
import { boundedSchema } from "./json-schema.ts";

it("removes patterns, pattern properties and unique items at every level", () => {
  const schema = {
    type: "object",
    patternProperties: { "^(a+)+$": { type: "string" } },
    properties: {
      pattern: { type: "string", pattern: "^(a+)+$" },
      list: { items: { pattern: "x" }, uniqueItems: true },
    },
  };
  expect(boundedSchema(schema)).toEqual({
    type: "object",
    properties: { pattern: { type: "string" }, list: { items: {} } },
  });
});

it("keeps values unchanged even if they look like keywords", () => {
  const schema = { enum: [{ pattern: "x" }], default: { pattern: "x" } };
  expect(boundedSchema(schema)).toEqual(schema);
});

it("throws if the schema has references", () => {
  expect(() => boundedSchema({ properties: { a: { $ref: "#" } } })).toThrow("references");
});

it.each([
  ["not", { not: { pattern: "^x" } }, {}],
  ["if", { if: { pattern: "^x" }, then: { minLength: 5 }, else: { maxLength: 3 } }, {}],
  ["contains", { contains: { pattern: "^x" }, minContains: 0, maxContains: 1 }, {}],
  ["oneOf", { oneOf: [{ pattern: "^x" }, { pattern: "^y" }] }, { anyOf: [{}, {}] }],
  [
    "oneOf beside anyOf",
    { oneOf: [{ pattern: "^x" }, true], anyOf: [{ minLength: 1 }] },
    { anyOf: [{ minLength: 1 }] },
  ],
  ["additionalProperties", { patternProperties: { "^x-": {} }, additionalProperties: false }, {}],
  [
    "unevaluatedProperties",
    { allOf: [{ patternProperties: { "^x-": {} } }], unevaluatedProperties: false },
    { allOf: [{}] },
  ],
])("accepts everything that the original accepts: %s", (_, schema, bounded) => {
  expect(boundedSchema(schema)).toEqual(bounded);
});

it.each([
  [{ not: { const: "x" } }],
  [{ if: { const: 1 }, then: { minimum: 1 } }],
  [{ contains: { const: 1 }, maxContains: 1 }],
  [{ oneOf: [{ type: "string" }, { type: "number" }] }],
  [{ properties: { a: {} }, additionalProperties: false, unevaluatedProperties: false }],
])("changes nothing in %j", (schema) => {
  expect(boundedSchema(schema)).toEqual(schema);
});
