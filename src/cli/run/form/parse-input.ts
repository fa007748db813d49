/** Parses what a person typed into a form field. */
import { formatCount } from "../../format.ts";
import type { FieldChoice, FormField, FieldKind, NumberKind, TextKind } from "../../../domain/form-fields.ts";

export type ParsedInput =
  | { readonly value: unknown }
  /** The field is omitted. */
  | { readonly omitted: true }
  | { readonly problem: string };

/** Omits a field that has a default. */
export const SKIP = "/skip";

export function parseFieldInput({ kind, required, default: given }: FormField, text: string): ParsedInput {
  const isText = kind.type === "text";
  const typed = isText ? text : text.trim();
  if (typed.trim() === SKIP) return required ? { problem: "a value is required" } : { omitted: true };
  if (typed === "" && given !== undefined) return { value: given };
  if (typed === "") return required ? { problem: "a value is required" } : { omitted: true };
  return parseByKind(kind, typed);
}

function parseByKind(kind: FieldKind, typed: string): ParsedInput {
  switch (kind.type) {
    case "text":
      return parseText(kind, typed);
    case "number":
    case "integer":
      return parseNumber(kind, typed);
    case "boolean":
      return parseBoolean(typed);
    case "choice": {
      const found = findChoice(kind.choices, typed);
      if (found !== undefined) return { value: found.value };
      return kind.isOpen === true ? { value: typed } : { problem: unknownChoice(kind.choices, typed) };
    }
    case "choices": {
      const words = typed.split(",").map((word) => word.trim());
      const chosen = words.filter((word) => word !== "");
      const unknown = chosen.find((word) => findChoice(kind.choices, word) === undefined);
      if (unknown !== undefined && kind.isOpen !== true) return { problem: unknownChoice(kind.choices, unknown) };
      const values = new Set(chosen.map((word) => findChoice(kind.choices, word)?.value ?? word));
      const wrong = checkRange(values.size, kind, "choose");
      return wrong === undefined ? { value: [...values] } : { problem: wrong };
    }
  }
}

function parseText(kind: TextKind, typed: string): ParsedInput {
  const wrong = checkRange(Array.from(typed).length, kind, "characters:") ?? checkFormat(kind.format, typed);
  return wrong === undefined ? { value: typed } : { problem: wrong };
}

function parseNumber(kind: NumberKind, typed: string): ParsedInput {
  const value = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(typed) ? Number(typed) : NaN;
  if (!Number.isFinite(value)) return { problem: "must be a number" };
  if (kind.type === "integer" && !Number.isSafeInteger(value)) return { problem: "must be a whole number" };
  const wrong = checkRange(value, kind, "must be");
  return wrong === undefined ? { value } : { problem: wrong };
}

function parseBoolean(typed: string): ParsedInput {
  if (/^(y|yes|t|true)$/i.test(typed)) return { value: true };
  if (/^(n|no|f|false)$/i.test(typed)) return { value: false };
  return { problem: "must be yes or no" };
}

/** Finds a choice by value, title or position in the list, in this order, because a value can be a number. */
function findChoice(choices: readonly FieldChoice[], typed: string): FieldChoice | undefined {
  const same = (text: string) => text.toLowerCase() === typed.toLowerCase();
  return (
    choices.find(({ value }) => value === typed) ??
    choices.find(({ title }) => title === typed) ??
    choices.find(({ value, title }) => same(value) || same(title)) ??
    (/^\d{1,4}$/.test(typed) ? choices[Number(typed) - 1] : undefined)
  );
}

function unknownChoice(choices: readonly FieldChoice[], typed: string): string {
  return `"${typed}" is not in the list; type a number from 1 to ${formatCount(choices.length)}`;
}

interface Range {
  readonly least: number | undefined;
  readonly most: number | undefined;
}

/** Returns the problem if a number is out of range. */
function checkRange(value: number, { least = -Infinity, most = Infinity }: Range, what: string): string | undefined {
  return value >= least && value <= most ? undefined : `${what} ${formatRange({ least, most })}`;
}

/** Empty for an unlimited range. */
export function formatRange({ least = -Infinity, most = Infinity }: Range): string {
  const hasLeast = Number.isFinite(least);
  const hasMost = Number.isFinite(most);
  if (hasLeast && hasMost) return least === most ? `exactly ${least}` : `from ${least} to ${most}`;
  if (hasLeast) return `at least ${least}`;
  return hasMost ? `at most ${most}` : "";
}

const FORMATS: Readonly<Record<string, { readonly fits: (text: string) => boolean; readonly wrong: string }>> = {
  email: {
    fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
    wrong: "must be an email address, for example me@example.org",
  },
  uri: { fits: (text) => URL.canParse(text), wrong: "must be a URL, for example https://example.org/" },
  date: { fits: isDate, wrong: "must be a date, for example 2026-01-31" },
  "date-time": { fits: isDateTime, wrong: "must be a date and time, for example 2026-01-31T12:00:00Z" },
};

function checkFormat(format: string | undefined, text: string): string | undefined {
  const known = format !== undefined && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return known === undefined || known.fits(text) ? undefined : known.wrong;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text); // Date would turn February 30 into March 2
}

function isDateTime(text: string): boolean {
  const [, day = ""] = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i.exec(text) ?? [];
  return isDate(day) && !Number.isNaN(Date.parse(text));
}
