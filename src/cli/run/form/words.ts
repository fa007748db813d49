/** How a question and its fields are put on a terminal: nothing in them can leave its own line, or look like ours. */
import type { Question } from "../../../domain/backend.ts";
import { oneLine, visible } from "../../printable.ts";
import type { Field, FieldKind } from "./fields.ts";
import { rangeWords, SKIP } from "./typed.ts";

/** Of a message or a description; more is not read before a decision. */
const MOST_CHARS = 4_000;
const MOST_LABEL = 100;

export const REFUSING = "/decline refuses it, /cancel leaves it undecided";

/** Who asks, and what, in their own words. */
export function headingOf({ from, message }: Question, asksFor: string): string[] {
  return [`${label(from ?? "the agent")} ${asksFor}:`, ...quoted(message)];
}

/** What is known of a field before it is typed. */
export function fieldLines(field: Field): string[] {
  const name = label(field.name);
  const title = field.title === undefined ? name : `${label(field.title)} (${name})`;
  const about = field.description === undefined ? [] : quoted(field.description);
  return [`${title}${hintOf(field)}`, ...about, ...choiceLines(field.kind)];
}

/** What stands before the cursor. */
export function askingFor({ name, default: given, required }: Field): string {
  const shown = given === undefined ? "" : ` [${oneLine(shownValue(given), MOST_LABEL)}]`;
  const more = given !== undefined && !required ? ` (${SKIP} leaves it out)` : "";
  return `${label(name)}${shown}${more}: `;
}

export function shownValue(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map((one) => visible(String(one))).join(", ");
  return visible(typeof value === "string" ? value : JSON.stringify(value));
}

export function label(text: string): string {
  return oneLine(visible(text), MOST_LABEL);
}

export function quoted(text: string): string[] {
  const shown = text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS)}…`;
  return shown
    .trimEnd()
    .split("\n")
    .map((line) => `  │ ${visible(line)}`);
}

function hintOf({ kind, required }: Field): string {
  const hints = [required ? "required" : "optional", kindWords(kind)].filter((word) => word !== "");
  return ` — ${hints.join(", ")}`;
}

function kindWords(kind: FieldKind): string {
  switch (kind.type) {
    case "text": {
      const length = rangeWords(kind);
      return [label(kind.format ?? ""), length && `${length} characters`].filter((word) => word !== "").join(", ");
    }
    case "number":
      return `a number ${rangeWords(kind)}`.trim();
    case "integer":
      return `a whole number ${rangeWords(kind)}`.trim();
    case "boolean":
      return "yes or no";
    case "choice":
      return "one of these";
    case "choices":
      return `${rangeWords(kind) || "any"} of these, with commas between`;
  }
}

function choiceLines(kind: FieldKind): string[] {
  if (kind.type !== "choice" && kind.type !== "choices") return [];
  return kind.choices.map(({ value, title }, index) => {
    const shown = title === value ? label(value) : `${label(title)} (${label(value)})`;
    return `  ${index + 1}. ${shown}`;
  });
}
