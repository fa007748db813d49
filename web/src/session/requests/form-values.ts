/** The values of a form: what a person typed, and the content that the question expects. */
import type { FormField } from "../../../../src/domain/form-fields.ts";

export type FormValues = Readonly<Record<string, string | boolean | readonly string[]>>;

export interface FormResult {
  readonly content: Readonly<Record<string, unknown>>;
  /** By field name. Empty if the form can be sent. */
  readonly problems: Readonly<Record<string, string>>;
}

export function startValues(fields: readonly FormField[]): FormValues {
  return Object.fromEntries(fields.map((field) => [field.name, startValue(field)]));
}

function startValue({ kind, default: given }: FormField): FormValues[string] {
  if (kind.type === "boolean") return given === true;
  if (kind.type === "choices") return Array.isArray(given) ? (given as string[]) : [];
  return typeof given === "string" || typeof given === "number" ? String(given) : "";
}

/** Fields that are empty and not required are omitted. */
export function readForm(fields: readonly FormField[], values: FormValues): FormResult {
  const content: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    const result = readField(field, values[field.name] ?? "");
    if ("problem" in result) problems[field.name] = result.problem;
    else if (result.value !== undefined) content[field.name] = result.value;
  }
  return { content, problems };
}

type FieldResult = { readonly value: unknown } | { readonly problem: string };

function readField({ kind, required }: FormField, value: FormValues[string]): FieldResult {
  switch (kind.type) {
    case "boolean":
      return { value: value === true };
    case "choices": {
      const chosen = Array.isArray(value) ? (value as readonly string[]) : [];
      if (chosen.length === 0 && !required && (kind.least ?? 0) === 0) return { value: undefined };
      return checkRange(chosen.length, kind, "Choose") ?? { value: chosen };
    }
    case "choice":
      if (value === "") return required ? { problem: "Choose one" } : { value: undefined };
      return { value };
    case "number":
    case "integer": {
      const text = String(value).trim();
      if (text === "") return required ? { problem: "Type a number" } : { value: undefined };
      const number = Number(text);
      if (!Number.isFinite(number)) return { problem: "This is not a number" };
      if (kind.type === "integer" && !Number.isSafeInteger(number)) return { problem: "This is not a whole number" };
      return checkRange(number, kind, "The number must be") ?? { value: number };
    }
    case "text": {
      const text = String(value);
      if (text === "") return required ? { problem: "Type something" } : { value: undefined };
      return checkRange(Array.from(text).length, kind, "The number of characters must be") ?? { value: text };
    }
  }
}

function checkRange(
  value: number,
  { least = -Infinity, most = Infinity }: { readonly least: number | undefined; readonly most: number | undefined },
  what: string,
): FieldResult | undefined {
  if (value >= least && value <= most) return undefined;
  if (least === most) return { problem: `${what} exactly ${least}` };
  return { problem: value < least ? `${what} at least ${least}` : `${what} at most ${most}` };
}
