/** Formats a question and its fields for a terminal. Text of the server cannot leave its line or imitate our output. */
import type { Question } from "../../../domain/backend.ts";
import { toSingleLine, escapeInvisible } from "../../sanitize.ts";
import type { FormField, FieldKind } from "../../../domain/form-fields.ts";
import { formatRange, SKIP } from "./parse-input.ts";

/** Maximum length of a message or description. */
const MAX_TEXT_LENGTH = 4_000;
const MAX_LABEL_LENGTH = 100;

export const REFUSAL_HINT = "/decline to refuse, /cancel to leave it open";

/** Names who asks, and quotes the message. */
export function formatHeading({ from, message }: Question, asksFor: string): string[] {
  return [`${toLabel(from ?? "the agent")} ${asksFor}:`, ...quoteText(message)];
}

/** Describes a field before the person fills it in. */
export function formatField(field: FormField): string[] {
  const name = toLabel(field.name);
  const title = field.title === undefined ? name : `${toLabel(field.title)} (${name})`;
  const about = field.description === undefined ? [] : quoteText(field.description);
  return [`${title}${formatHint(field)}`, ...about, ...formatChoices(field.kind)];
}

/** The text before the cursor. */
export function formatFieldPrompt({ name, default: given, required }: FormField): string {
  const shown = given === undefined ? "" : ` [${toSingleLine(formatFieldValue(given), MAX_LABEL_LENGTH)}]`;
  const more = given !== undefined && !required ? ` (${SKIP} to omit it)` : "";
  return `${toLabel(name)}${shown}${more}: `;
}

export function formatFieldValue(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map((one) => escapeInvisible(String(one))).join(", ");
  return escapeInvisible(typeof value === "string" ? value : JSON.stringify(value));
}

export function toLabel(text: string): string {
  return toSingleLine(escapeInvisible(text), MAX_LABEL_LENGTH);
}

export function quoteText(text: string): string[] {
  const shown = text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`;
  return shown
    .trimEnd()
    .split("\n")
    .map((line) => `  │ ${escapeInvisible(line)}`);
}

function formatHint({ kind, required }: FormField): string {
  const hints = [required ? "required" : "optional", describeKind(kind)].filter((word) => word !== "");
  return ` — ${hints.join(", ")}`;
}

function describeKind(kind: FieldKind): string {
  switch (kind.type) {
    case "text": {
      const length = formatRange(kind);
      return [toLabel(kind.format ?? ""), length && `${length} characters`].filter((word) => word !== "").join(", ");
    }
    case "number":
      return `a number ${formatRange(kind)}`.trim();
    case "integer":
      return `a whole number ${formatRange(kind)}`.trim();
    case "boolean":
      return "yes or no";
    case "choice":
      return kind.isOpen === true ? "one of these, or your own answer" : "one of these";
    case "choices":
      return `${formatRange(kind) || "any"} of these${kind.isOpen === true ? " or your own" : ""}, separated by commas`;
  }
}

/** Numbered, because a number is an answer. */
export function formatChoices(kind: FieldKind): string[] {
  if (kind.type !== "choice" && kind.type !== "choices") return [];
  return kind.choices.map(({ value, title }, index) => {
    const shown = title === value ? toLabel(value) : `${toLabel(title)} (${toLabel(value)})`;
    return `  ${index + 1}. ${shown}`;
  });
}
