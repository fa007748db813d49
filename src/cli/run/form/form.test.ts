import { describe, expect, it } from "vitest";
import { type FormField, parseFormFields } from "./fields.ts";
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

describe("what is typed into a field", () => {
  it.each<[string, Record<string, unknown>, string, unknown]>([
    ["a text as it is", { type: "string" }, " two words ", " two words "],
    ["an e-mail address", { type: "string", format: "email" }, "me@example.org", "me@example.org"],
    ["a URL", { type: "string", format: "uri" }, "https://example.org", "https://example.org"],
    ["a date", { type: "string", format: "date" }, "2024-02-29", "2024-02-29"],
    ["a time", { type: "string", format: "date-time" }, "2024-02-29T01:02:03.5+02:00", "2024-02-29T01:02:03.5+02:00"],
    ["a text of a format nobody knows", { type: "string", format: "colour" }, "red", "red"],
    ["emoji by characters", { type: "string", maxLength: 2 }, "😀😀", "😀😀"],
    ["a number", { type: "number", minimum: 0 }, " 1.5e3 ", 1500],
    ["a whole number", { type: "integer" }, "-7", -7],
    ["a yes", { type: "boolean" }, "Yes", true],
    ["a no", { type: "boolean" }, "f", false],
    ["a choice", COLOURS, "green", "green"],
    ["a choice by its number", COLOURS, "2", "green"],
    ["a choice by its title", TITLED, "green", "g"],
    ["a choice as older servers have it", { ...COLOURS, enumNames: ["Red", "Green"] }, "Green", "green"],
    ["a choice whose value is a number before its fixture", { type: "string", enum: ["2", "1"] }, "2", "2"],
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
    [{ type: "string", format: "email" }, "me", "it is an e-mail address, as me@example.org"],
    [{ type: "string", format: "uri" }, "me", "it is a URL, as https://example.org/"],
    [{ type: "string", format: "date" }, "2023-02-29", "it is a date, as 2026-01-31"],
    [{ type: "string", format: "date-time" }, "2023-02-28", "it is a date with its time, as 2026-01-31T12:00:00Z"],
    [{ type: "number" }, "1,5", "it is a number"],
    [{ type: "number" }, "Infinity", "it is a number"],
    [{ type: "number" }, "0x10", "it is a number"],
    [{ type: "number", minimum: 1, maximum: 5 }, "6", "it is from 1 to 5"],
    [{ type: "integer" }, "1.5", "it is a whole number"],
    [{ type: "boolean" }, "perhaps", "it is yes or no"],
    [COLOURS, "blue", '"blue" is none of them; a number from 1 to 2 is enough'],
    [COLOURS, "3", '"3" is none of them; a number from 1 to 2 is enough'],
    [SEVERAL, "x,y,z", "choose from 1 to 2"],
    [SEVERAL, ",", "choose from 1 to 2"],
  ])("%j does not take %j", (property, typed, wrong) => {
    expect(parseFieldInput(field(property), typed)).toEqual({ problem: wrong });
  });

  it("an optional field can be left out, a required one cannot", () => {
    expect(parseFieldInput(field({ type: "string" }), "")).toEqual({ omitted: true });
    expect(parseFieldInput(field({ type: "string", default: "x" }), "/skip")).toEqual({ omitted: true });
    expect(parseFieldInput(field({ type: "string" }, true), "")).toEqual({ problem: "it is required" });
    expect(parseFieldInput(field({ type: "string", default: "x" }, true), "/skip")).toEqual({
      problem: "it is required",
    });
  });

  it("a default of another kind is none", () => {
    for (const property of [
      { type: "integer", default: 1.5 },
      { ...COLOURS, default: "blue" },
      { ...SEVERAL, default: "x" },
    ])
      expect(field(property).default).toBeUndefined();
  });
});

describe("a schema is no form", () => {
  it.each<[string, unknown]>([
    ["nested", { type: "object", properties: { a: { type: "object", properties: {} } } }],
    ["of no object", { type: "tuple", of: [1, null] }],
    ["of several schemas", { type: "object", anyOf: [] }],
    ["with texts in a list", { type: "object", properties: { a: { type: "array", items: { type: "string" } } } }],
    ["with choices that are no texts", { type: "object", properties: { a: { type: "string", enum: ["a", 1] } } }],
    ["with nothing to choose from", { type: "object", properties: { a: { type: "string", enum: [] } } }],
    ["that requires what it does not have", { type: "object", properties: {}, required: ["a"] }],
    ["with more fields than a person fills in", many(51)],
    ["null", null],
  ])("%s", (_, schema) => {
    expect(parseFormFields(schema)).toBeUndefined();
  });

  it("and with 50 fields it is one", () => expect(parseFormFields(many(50))).toHaveLength(50));
});

function many(count: number) {
  const names = Array.from({ length: count }, (_, index) => `f${index}`);
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "boolean" }])) };
}

describe("what a server says", () => {
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

  it("is shown with what is known of it", () => {
    expect(
      formatField(field({ type: "string", title: "Mail", description: "Where to", format: "email" }, true)),
    ).toEqual(["Mail (a) — required, email", "  │ Where to"]);
    expect(formatField(field(TITLED))).toEqual(["a — optional, one of these", "  1. Red (r)", "  2. Green (g)"]);
    expect(formatFieldPrompt(field({ ...SEVERAL, default: ["x", "y"] }))).toBe("a [x, y] (/skip leaves it out): ");
    expect(formatFieldPrompt(field({ type: "boolean", default: true }, true))).toBe("a [yes]: ");
  });
});

describe("a page", () => {
  it.each([
    ["https://example.org/a?b=c#d", "  it is on: example.org"],
    ["https://github.com@evil.example/login", "  it is on: evil.example"],
    ["https://ex\u0430mple.org/", "  it is on: xn--exmple-4nf.org"],
    ["http://127.0.0.1:8080/", "  it is on: 127.0.0.1:8080"],
    ["http://example.org/", "  it is on: example.org (not encrypted)"],
  ])("%s is told of by its host first, and whole", (url, host) => {
    expect(formatAddress(url)).toEqual([host, new URL(url).href]);
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "not\u001b[2J a url"])("%s is warned of", (url) => {
    const [warning, shown] = formatAddress(url);
    expect(warning).toContain("better do not open it");
    expect(shown).not.toMatch(/\p{Cc}/u);
  });
});
