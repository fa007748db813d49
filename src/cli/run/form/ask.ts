/** Asks the asker at the terminal what a server or an agent wants to know: a form, a page to visit, or a line of JSON. */
import type { Question, QuestionAnswer } from "../../../domain/backend.ts";
import type { Io } from "../../io.ts";
import { toSingleLine, escapeInvisible } from "../../sanitize.ts";
import { askLine as askLine } from "../ask-line.ts";
import { type FormField, parseFormFields } from "./fields.ts";
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

/** Rejects with the signal's reason, which is how a question goes away that was answered elsewhere. */
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

/** Typed at any field. */
class Refusal extends Error {
  readonly action: "decline" | "cancel";

  constructor(action: "decline" | "cancel") {
    super(action);
    this.action = action;
  }
}

/** A closed input leaves it undecided: nobody has refused anything. */
async function askOrRefuse({ io, signal }: Asker, lines: readonly string[], ask: string): Promise<string> {
  const line = await askLine(io, [...lines, ask].join("\n"), signal);
  const word = line?.trim().toLowerCase();
  if (word === "/decline") throw new Refusal("decline");
  if (word === undefined || word === "/cancel") throw new Refusal("cancel");
  return line ?? "";
}

async function askForm(asker: Asker, asked: Question, fields: readonly FormField[]): Promise<QuestionAnswer> {
  const heading = formatHeading(asked, fields.length === 0 ? "asks for a yes" : "asks");
  const [first] = fields;
  if (first === undefined) {
    await askOrRefuse(asker, heading, `Enter says yes; ${REFUSAL_HINT}: `);
    return { action: "accept", content: {} };
  }
  let lines = [...heading, `(Enter takes what is in [brackets], or leaves an optional one out; ${REFUSAL_HINT})`];
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

/** Undefined where it is left out. */
async function askField(asker: Asker, field: FormField, before: readonly string[]): Promise<unknown> {
  let lines = [...before, ...formatField(field)];
  for (;;) {
    const read = parseFieldInput(field, await askOrRefuse(asker, lines, formatFieldPrompt(field)));
    if ("value" in read) return read.value;
    if ("omitted" in read) return undefined;
    lines = [`  ! ${toLabel(field.title ?? field.name)}: ${toSingleLine(escapeInvisible(read.problem))}`];
  }
}

/** What leaves this machine is seen once more, whole. */
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

/** For a schema that is no flat form: who knows it can answer all the same. */
async function askJson(asker: Asker, asked: Question): Promise<QuestionAnswer> {
  let lines = [
    ...formatHeading(asked, "asks for something that is no simple form"),
    "  as this JSON Schema has it:",
    ...quoteText(JSON.stringify(asked.schema, undefined, 2)),
  ];
  for (;;) {
    const text = await askOrRefuse(asker, lines, `One line of JSON; ${REFUSAL_HINT}: `);
    try {
      return { action: "accept", content: JSON.parse(text) as unknown };
    } catch {
      lines = ["  ! that is not JSON"];
    }
  }
}

async function askToOpenPage(asker: Asker, asked: Question, url: string): Promise<QuestionAnswer> {
  const lines = [...formatHeading(asked, "wants you to open a page"), ...formatAddress(url)];
  await askOrRefuse(asker, lines, `Enter when you are done there; ${REFUSAL_HINT}: `);
  return { action: "accept" };
}

/** Where it leads comes first: what stands before an @, or below a long name, is not it. */
export function formatAddress(url: string): string[] {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol)) {
    return ["  this is no address of the web; better do not open it:", `  ${escapeInvisible(url)}`];
  }
  const plainly = address.protocol === "https:" || isLoopback(address.hostname) ? "" : " (not encrypted)";
  return [`  it is on: ${address.host}${plainly}`, address.href];
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

/** Also for a field that is called __proto__. */
function defineField(content: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(content, name, { value, enumerable: true, configurable: true, writable: true });
}
