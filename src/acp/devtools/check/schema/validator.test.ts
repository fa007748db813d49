import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { agentMessageTable } from "./generated/agent-messages.ts";
import { loadAgentMessageChecks } from "./messages.ts";
import { compileDefinitions, type SchemaDefinitions, type JsonSchemaNode } from "./validator.ts";

const require = createRequire(import.meta.url);

/** Describes the first violation. Undefined if the value is valid. */
function violation(schema: JsonSchemaNode, value: unknown, others: SchemaDefinitions = {}): string | undefined {
  const found = compileDefinitions({ ...others, It: schema }).get("It")?.(value, "it");
  return found && `${found.path} must be ${found.expected}`;
}

const TEXT = { type: "object", properties: { kind: { const: "text" }, text: { type: "string" } }, required: ["text"] };
const NUMBER = { type: "object", properties: { kind: { const: "number" }, number: { type: "integer" } } };

it.each<[string, JsonSchemaNode, unknown[], [unknown, string][]]>([
  ["type", { type: ["string", "null"] }, ["a", null], [[1, "it must be string or null"]]],
  [
    "integer",
    { type: "integer" },
    [1, -1, 1e20],
    [
      [1.5, "it must be integer"],
      ["1", "it must be integer"],
    ],
  ],
  ["number", { type: "number" }, [1, 1.5], [[null, "it must be number"]]],
  [
    "object",
    { type: "object" },
    [{}],
    [
      [[], "it must be object"],
      [null, "it must be object"],
    ],
  ],
  ["const", { const: "a" }, ["a"], [["b", 'it must be "a"']]],
  ["enum", { enum: ["a", "b"] }, ["a", "b"], [["c", 'it must be "a" or "b"']]],
  [
    "properties",
    { properties: { a: { type: "string" } } },
    [{ a: "" }, {}, { b: 1 }, 7],
    [[{ a: 1 }, "it.a must be string"]],
  ],
  ["required", { required: ["a"] }, [{ a: null }, 7], [[{}, "it.a must be a value"]]],
  [
    "additionalProperties",
    { properties: { a: { type: "string" } }, additionalProperties: { type: "number" } },
    [{ a: "x", b: 1 }],
    [[{ b: "x" }, "it.b must be number"]],
  ],
  ["items", { items: { type: "string" } }, [[], ["a"], "no array"], [[["a", 1], "it.1 must be string"]]],
  ["allOf", { allOf: [{ type: "object" }, { required: ["a"] }] }, [{ a: 1 }], [[{}, "it.a must be a value"]]],
  ["anyOf", { anyOf: [{ type: "string" }, { type: "null" }] }, ["a", null], [[1, "it must be string or null"]]],
  [
    "anyOf, followed furthest",
    { anyOf: [TEXT, { type: "null" }] },
    [{ text: "a" }],
    [[{ text: 1 }, "it.text must be string"]],
  ],
  ["oneOf", { oneOf: [{ minimum: 1 }, { maximum: 3 }] }, [0, 4], [[2, "it must be exactly one form"]]],
  ["not", { not: { const: "a" } }, ["b"], [["a", "it must be another form"]]],
  ["minimum", { minimum: 0 }, [0, "x"], [[-1, "it must be between 0 and Infinity"]]],
  ["maximum", { maximum: 9 }, [9], [[10, "it must be between -Infinity and 9"]]],
  ["minLength", { minLength: 2 }, ["ab", "🐦🐦"], [["🐦", "it must be at least 2 characters"]]],
  ["format", { format: "uint32" }, [0, 4_294_967_295], [[4_294_967_296, "it must be between 0 and 4294967295"]]],
  ["true and false", { properties: { a: true, b: false } }, [{ a: 1 }], [[{ b: 1 }, "it.b must be nothing"]]],
  [
    "annotations",
    { title: "T", description: "D", default: 1, "x-side": "agent", type: "string" },
    ["a"],
    [[1, "it must be string"]],
  ],
  [
    "discriminator",
    { oneOf: [TEXT, NUMBER], discriminator: { propertyName: "kind" } },
    [{ kind: "text", text: "a" }, { kind: "number" }, { kind: "_mine", text: 1 }],
    [
      [{ kind: "text", text: 1 }, "it.text must be string"],
      [{ kind: "other" }, 'it.kind must be "text" or "number"'],
      [{}, 'it.kind must be "text" or "number"'],
      ["text", "it must be object"],
    ],
  ],
])("supports %s", (_, schema, valid, invalid) => {
  expect(valid.map((value) => violation(schema, value))).toEqual(valid.map(() => undefined));
  expect(invalid.map(([value]) => violation(schema, value))).toEqual(invalid.map(([, why]) => why));
});

it("follows references, including forward and recursive ones", () => {
  const tree = { type: "object", properties: { children: { items: { $ref: "#/$defs/It" } } } };
  expect(violation(tree, { children: [{ children: [] }] })).toBeUndefined();
  expect(violation(tree, { children: [{ children: [7] }] })).toBe("it.children.0.children.0 must be object");
  expect(violation({ $ref: "#/$defs/Later" }, 1, { Later: { type: "string" } })).toBe("it must be string");
});

it.each<[string, JsonSchemaNode]>([
  ["an unknown keyword", { type: "string", pattern: "^a" }],
  ["a nested unknown keyword", { properties: { a: { anyOf: [{ maxLength: 3 }] } } }],
  ["a name that every object inherits", { constructor: {} }],
  ["an unknown format", { format: "date" }],
  ["closed objects", { unevaluatedProperties: false }],
  ["a value that is not a schema", { items: "string" }],
  ["a form without a discriminator value", { oneOf: [{ type: "object" }], discriminator: { propertyName: "kind" } }],
])("throws for %s", (_, schema) => {
  expect(() => compileDefinitions({ It: schema })).toThrow(/unknown|supports only|not a schema|no constant/);
});

/** A valid and an invalid value for definitions of agent messages. */
const SAMPLES: [string, unknown, unknown][] = [
  ["InitializeResponse", { protocolVersion: 1, authMethods: [{ id: "a", name: "A" }] }, { protocolVersion: 70_000 }],
  [
    "NewSessionResponse",
    { sessionId: "s", modes: null, configOptions: [] },
    { sessionId: "s", modes: { currentModeId: "a" } },
  ],
  ["PromptResponse", { stopReason: "end_turn" }, { stopReason: "bored" }],
  ["ListSessionsResponse", { sessions: [{ sessionId: "s", cwd: "/" }] }, { sessions: [{ sessionId: "s" }] }],
  [
    "SessionNotification",
    { sessionId: "s", update: { sessionUpdate: "plan", entries: [] } },
    { sessionId: "s", update: {} },
  ],
  ["UsageUpdate", { used: 1, size: 2, cost: { amount: 0.5, currency: "USD" } }, { used: -1, size: 2 }],
  ["Notice", { severity: "loud", title: "x" }, { severity: "info", title: "" }],
  ["Error", { code: -32_601, message: "no" }, { code: 2 ** 40, message: "no" }],
  ["ElicitationPropertySchema", { type: "colour" }, { type: "string", minLength: -1 }],
];

it("gives the same results with the table as with the whole schema", () => {
  const whole = require("@agentclientprotocol/sdk/schema/v1/schema.json") as { $defs: SchemaDefinitions };
  const [wide, slim] = [compileDefinitions(whole.$defs), compileDefinitions(agentMessageTable.$defs)];
  for (const [name, valid, invalid] of SAMPLES) {
    for (const checks of [wide, slim]) {
      expect(checks.get(name)?.(valid, name), name).toBeUndefined();
      expect(checks.get(name)?.(invalid, name), name).toBeDefined();
    }
  }
});

it("knows the direction of each method and accepts every extension", async () => {
  const messages = await loadAgentMessageChecks();
  expect(messages.request("session/prompt", {})).toBe('"session/prompt" is not a request of the protocol');
  expect(messages.notification("session/new", {})).toBe('"session/new" is not a notification of the protocol');
  expect(messages.notification("$/cancel_request", { requestId: 1 })).toBeUndefined();
  expect(messages.request("_mine/ask", "anything")).toBeUndefined();
  expect(messages.result("_mine/ask", null)).toBeUndefined();
  expect(messages.result("session/close", null)).toBe("session/close: result must be object, is null");
  expect(messages.request("constructor", {})).toBe('"constructor" is not a request of the protocol');
});
