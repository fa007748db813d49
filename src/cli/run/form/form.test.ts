import { describe, expect, it } from "vitest";
import { closeOpenChoices, type FormField, parseFormFields } from "../../../domain/form-fields.ts";
import { parseFieldInput } from "./parse-input.ts";
import { formatFieldPrompt, formatField, formatHeading } from "./format-form.ts";
import { formatAddress } from "./ask.ts";

function field(property: Record<string, unknown>, required = false): FormField {
  const [found] =
    parseFormFields({ type: "object", properties: { a: property }, required: required ? ["a"] : [] }) ?? [];
  if (found === undefined) throw new Error("no field");
  return found;
}

const COLOURS = { type: "string", enum: ["red", "green"] };
const TITLED = { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] }; // prettier-ignore
const SEVERAL = { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["x", "y", "z"] } };

describe("parseFieldInput", () => {
  it.each<[string, Record<string, unknown>, string, unknown]>([
    ["keeps text unchanged", { type: "string" }, " two words ", " two words "],
    ["parses an email address", { type: "string", format: "email" }, "me@example.org", "me@example.org"],
    ["a URL", { type: "string", format: "uri" }, "https://example.org", "https://example.org"],
    ["a date", { type: "string", format: "date" }, "2024-02-29", "2024-02-29"],
    ["a time", { type: "string", format: "date-time" }, "2024-02-29T01:02:03.5+02:00", "2024-02-29T01:02:03.5+02:00"],
    ["keeps text of an unknown format", { type: "string", format: "colour" }, "red", "red"],
    ["counts emoji as characters", { type: "string", maxLength: 2 }, "😀😀", "😀😀"],
    ["a number", { type: "number", minimum: 0 }, " 1.5e3 ", 1500],
    ["a whole number", { type: "integer" }, "-7", -7],
    ["a yes", { type: "boolean" }, "Yes", true],
    ["a no", { type: "boolean" }, "f", false],
    ["a choice", COLOURS, "green", "green"],
    ["a choice by its number", COLOURS, "2", "green"],
    ["a choice by its title", TITLED, "green", "g"],
    ["finds a choice with titles of older servers", { ...COLOURS, enumNames: ["Red", "Green"] }, "Green", "green"],
    ["prefers a value that is a number to a position", { type: "string", enum: ["2", "1"] }, "2", "2"],
    ["several", SEVERAL, "z, 1, z", ["z", "x"]],
    ["several with titles", { type: "array", items: { anyOf: TITLED.oneOf } }, "Red,g", ["r", "g"]],
    ["Enter as the default", { type: "integer", default: 3 }, "", 3],
    ["Enter as the default that is false", { type: "boolean", default: false }, "", false],
    ["Enter as several", { ...SEVERAL, default: ["y"] }, "", ["y"]],
  ])("%s", (_, property, typed, value) => {
    expect(parseFieldInput(field(property), typed)).toEqual({ value });
  });

  it.each<[Record<string, unknown>, string, string]>([
    [{ type: "string", minLength: 3 }, "ab", "characters: at least 3"],
    [{ type: "string", maxLength: 3 }, "abcd", "characters: at most 3"],
    [{ type: "string", format: "email" }, "me", "must be an email address, for example me@example.org"],
    [{ type: "string", format: "uri" }, "me", "must be a URL, for example https://example.org/"],
    [{ type: "string", format: "date" }, "2023-02-29", "must be a date, for example 2026-01-31"],
    [
      { type: "string", format: "date-time" },
      "2023-02-28",
      "must be a date and time, for example 2026-01-31T12:00:00Z",
    ],
    [{ type: "number" }, "1,5", "must be a number"],
    [{ type: "number" }, "Infinity", "must be a number"],
    [{ type: "number" }, "0x10", "must be a number"],
    [{ type: "number", minimum: 1, maximum: 5 }, "6", "must be from 1 to 5"],
    [{ type: "integer" }, "1.5", "must be a whole number"],
    [{ type: "boolean" }, "perhaps", "must be yes or no"],
    [COLOURS, "blue", '"blue" is not in the list; type a number from 1 to 2'],
    [COLOURS, "3", '"3" is not in the list; type a number from 1 to 2'],
    [SEVERAL, "x,y,z", "choose from 1 to 2"],
    [SEVERAL, ",", "choose from 1 to 2"],
  ])("%j rejects %j", (property, typed, wrong) => {
    expect(parseFieldInput(field(property), typed)).toEqual({ problem: wrong });
  });

  it("omits an optional field but not a required one", () => {
    expect(parseFieldInput(field({ type: "string" }), "")).toEqual({ omitted: true });
    expect(parseFieldInput(field({ type: "string", default: "x" }), "/skip")).toEqual({ omitted: true });
    expect(parseFieldInput(field({ type: "string" }, true), "")).toEqual({ problem: "a value is required" });
    expect(parseFieldInput(field({ type: "string", default: "x" }, true), "/skip")).toEqual({
      problem: "a value is required",
    });
  });

  it("ignores a default of the wrong type", () => {
    for (const property of [
      { type: "integer", default: 1.5 },
      { ...COLOURS, default: "blue" },
      { ...SEVERAL, default: "x" },
    ])
      expect(field(property).default).toBeUndefined();
  });
});

describe("parseFormFields returns undefined for a schema", () => {
  it.each<[string, unknown]>([
    ["nested", { type: "object", properties: { a: { type: "object", properties: {} } } }],
    ["that is not an object", { type: "tuple", of: [1, null] }],
    ["of several schemas", { type: "object", anyOf: [] }],
    ["with a list of text", { type: "object", properties: { a: { type: "array", items: { type: "string" } } } }],
    ["with choices that are not text", { type: "object", properties: { a: { type: "string", enum: ["a", 1] } } }],
    ["without choices", { type: "object", properties: { a: { type: "string", enum: [] } } }],
    ["that requires a missing field", { type: "object", properties: {}, required: ["a"] }],
    ["with too many fields", many(51)],
    ["null", null],
  ])("%s", (_, schema) => {
    expect(parseFormFields(schema)).toBeUndefined();
  });

  it("parses a form with 50 fields", () => expect(parseFormFields(many(50))).toHaveLength(50));
});

function many(count: number) {
  const names = Array.from({ length: count }, (_, index) => `f${index}`);
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "boolean" }])) };
}

describe("text of a server", () => {
  const NASTY = "a\u001b[2J\r\nrookery: trust me\u2028\u202ex";

  it("cannot leave its line", () => {
    const nasty = field({ type: "string", title: NASTY, description: NASTY, default: NASTY });
    const choice = field({ type: "string", oneOf: [{ const: NASTY, title: NASTY }], default: NASTY });
    const lines = [
      ...formatHeading({ message: NASTY, from: NASTY }, "asks"),
      ...[nasty, choice].flatMap((one) => [...formatField(one), formatFieldPrompt(one)]),
    ];
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(lines.filter((line) => line.startsWith("rookery"))).toEqual([]);
  });

  it("is printed with the description of the field", () => {
    expect(
      formatField(field({ type: "string", title: "Mail", description: "Where to", format: "email" }, true)),
    ).toEqual(["Mail (a) — required, email", "  │ Where to"]);
    expect(formatField(field(TITLED))).toEqual(["a — optional, one of these", "  1. Red (r)", "  2. Green (g)"]);
    expect(formatFieldPrompt(field({ ...SEVERAL, default: ["x", "y"] }))).toBe("a [x, y] (/skip to omit it): ");
    expect(formatFieldPrompt(field({ type: "boolean", default: true }, true))).toBe("a [yes]: ");
  });
});

describe("formatAddress", () => {
  it.each([
    ["https://example.org/a?b=c#d", "  host: example.org"],
    ["https://github.com@evil.example/login", "  host: evil.example"],
    ["https://ex\u0430mple.org/", "  host: xn--exmple-4nf.org"],
    ["http://127.0.0.1:8080/", "  host: 127.0.0.1:8080"],
    ["http://example.org/", "  host: example.org (not encrypted)"],
  ])("prints the host of %s first, then the whole URL", (url, host) => {
    expect(formatAddress(url)).toEqual([host, new URL(url).href]);
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "not\u001b[2J a url"])("warns about %s", (url) => {
    const [warning, shown] = formatAddress(url);
    expect(warning).toContain("do not open it");
    expect(shown).not.toMatch(/\p{Cc}/u);
  });
});

it("accepts any text for an open choice, and removes the free text for clients that do not support it", () => {
  const anyOf = [{ const: "a", title: "A" }, { const: "b" }, { type: "string" }];
  const open = { type: "object", properties: { x: { type: "string", anyOf }, y: { type: "array", items: { anyOf } } } };
  const [one, several] = parseFormFields(open) ?? [];
  if (one === undefined || several === undefined) throw new Error("no fields");
  expect(parseFieldInput(one, "A")).toEqual({ value: "a" });
  expect(parseFieldInput(one, "my own")).toEqual({ value: "my own" });
  expect(parseFieldInput(several, "2, own")).toEqual({ value: ["b", "own"] });
  const closed = anyOf.slice(0, 2);
  expect(closeOpenChoices(open)).toEqual({
    type: "object",
    properties: { x: { type: "string", oneOf: closed }, y: { type: "array", items: { anyOf: closed } } },
  });
});
