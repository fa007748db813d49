/** Asks the person at the terminal a question of a server or an agent: a form, a page to open, or a line of JSON. */
import type { Question, QuestionAnswer } from "../../../domain/backend.ts";
import type { Io } from "../../io.ts";
import { toSingleLine, escapeInvisible } from "../../sanitize.ts";
import { askLine } from "../ask-line.ts";
import { type FormField, parseFormFields } from "../../../domain/form-fields.ts";
import { parseFieldInput } from "./parse-input.ts";
import {
  formatFieldPrompt,
  formatField,
  formatHeading,
  toLabel,
  quoteText,
  REFUSAL_HINT,
  formatFieldValue,
} from "./format-form.ts";

/** Rejects with the signal's reason, for example when the question was answered elsewhere. */
export async function askQuestion(io: Io, asked: Question, signal: AbortSignal): Promise<QuestionAnswer> {
  const asker: Asker = { io, signal };
  try {
    if (asked.url !== undefined) return await askToOpenPage(asker, asked, asked.url);
    const fields = asked.schema === undefined ? [] : parseFormFields(asked.schema);
    return fields === undefined ? await askJson(asker, asked) : await askForm(asker, asked, fields);
  } catch (error) {
    if (error instanceof Refusal) return { action: error.action };
    throw error;
  }
}

interface Asker {
  readonly io: Io;
  readonly signal: AbortSignal;
}

/** Thrown when the person types /decline or /cancel in any field. */
class Refusal extends Error {
  readonly action: "decline" | "cancel";

  constructor(action: "decline" | "cancel") {
    super(action);
    this.action = action;
  }
}

/** A closed input cancels the question; it does not decline it. */
async function askOrRefuse({ io, signal }: Asker, lines: readonly string[], ask: string): Promise<string> {
  const line = await askLine(io, [...lines, ask].join("\n"), signal);
  const word = line?.trim().toLowerCase();
  if (word === "/decline") throw new Refusal("decline");
  if (word === undefined || word === "/cancel") throw new Refusal("cancel");
  return line ?? "";
}

async function askForm(asker: Asker, asked: Question, fields: readonly FormField[]): Promise<QuestionAnswer> {
  const heading = formatHeading(asked, fields.length === 0 ? "asks for confirmation" : "asks");
  const [first] = fields;
  if (first === undefined) {
    await askOrRefuse(asker, heading, `Press Enter to confirm; ${REFUSAL_HINT}: `);
    return { action: "accept", content: {} };
  }
  let lines = [...heading, `(Enter accepts the value in [brackets] or omits an optional field; ${REFUSAL_HINT})`];
  for (;;) {
    const content: Record<string, unknown> = {};
    for (const field of fields) {
      const value = await askField(asker, field, lines);
      if (value !== undefined) defineField(content, field.name, value);
      lines = [];
    }
    if (fields.length === 1 || (await confirmContent(asker, asked, content))) return { action: "accept", content };
    lines = heading;
  }
}

/** Returns undefined for an omitted field. */
async function askField(asker: Asker, field: FormField, before: readonly string[]): Promise<unknown> {
  let lines = [...before, ...formatField(field)];
  for (;;) {
    const read = parseFieldInput(field, await askOrRefuse(asker, lines, formatFieldPrompt(field)));
    if ("value" in read) return read.value;
    if ("omitted" in read) return undefined;
    lines = [`  ! ${toLabel(field.title ?? field.name)}: ${toSingleLine(escapeInvisible(read.problem))}`];
  }
}

/** Shows all values again before they are sent. */
async function confirmContent(asker: Asker, { from }: Question, content: Record<string, unknown>): Promise<boolean> {
  const to = from === undefined ? "" : ` to ${toLabel(from)}`;
  const lines = Object.entries(content).map(([name, value]) => `  ${toLabel(name)}: ${formatFieldValue(value)}`);
  for (;;) {
    const ask = `Send this${to}? [Y]es, [n]o to fill it in again, /decline, /cancel `;
    const word = (await askOrRefuse(asker, lines.length === 0 ? ["  (nothing)"] : lines, ask)).trim().toLowerCase();
    if (["", "y", "yes"].includes(word)) return true;
    if (["n", "no"].includes(word)) return false;
  }
}

/** Asks for JSON if the schema is not a flat form. */
async function askJson(asker: Asker, asked: Question): Promise<QuestionAnswer> {
  let lines = [
    ...formatHeading(asked, "asks for a value that is not a simple form"),
    "  JSON Schema:",
    ...quoteText(JSON.stringify(asked.schema, undefined, 2)),
  ];
  for (;;) {
    const text = await askOrRefuse(asker, lines, `Type one line of JSON; ${REFUSAL_HINT}: `);
    try {
      return { action: "accept", content: JSON.parse(text) as unknown };
    } catch {
      lines = ["  ! not valid JSON"];
    }
  }
}

async function askToOpenPage(asker: Asker, asked: Question, url: string): Promise<QuestionAnswer> {
  const lines = [...formatHeading(asked, "asks you to open a page"), ...formatAddress(url)];
  await askOrRefuse(asker, lines, `Press Enter when you are done; ${REFUSAL_HINT}: `);
  return { action: "accept" };
}

/** Prints the host first, because a URL can hide it behind user info or a long subdomain. */
export function formatAddress(url: string): string[] {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol)) {
    return ["  this is not a web address; do not open it:", `  ${escapeInvisible(url)}`];
  }
  const plainly = address.protocol === "https:" || isLoopback(address.hostname) ? "" : " (not encrypted)";
  return [`  host: ${address.host}${plainly}`, address.href];
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

/** Works for a field named `__proto__`. */
function defineField(content: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(content, name, { value, enumerable: true, configurable: true, writable: true });
}
