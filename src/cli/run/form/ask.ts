/** Asks the person at the terminal what a server or an agent wants to know: a form, a page to visit, or a line of JSON. */
import type { Question, QuestionAnswer } from "../../../domain/backend.ts";
import type { Io } from "../../io.ts";
import { oneLine, visible } from "../../printable.ts";
import { question as askLine } from "../question.ts";
import { type Field, fieldsOf } from "./fields.ts";
import { readTyped } from "./typed.ts";
import { askingFor, fieldLines, headingOf, label, quoted, REFUSING, shownValue } from "./words.ts";

/** Rejects with the signal's reason, which is how a question goes away that was answered elsewhere. */
export async function askPerson(io: Io, asked: Question, signal: AbortSignal): Promise<QuestionAnswer> {
  const person: Person = { io, signal };
  try {
    if (asked.url !== undefined) return await askPage(person, asked, asked.url);
    const fields = asked.schema === undefined ? [] : fieldsOf(asked.schema);
    return fields === undefined ? await askJson(person, asked) : await askForm(person, asked, fields);
  } catch (error) {
    if (error instanceof Refusal) return { action: error.action };
    throw error;
  }
}

interface Person {
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
async function typed({ io, signal }: Person, lines: readonly string[], ask: string): Promise<string> {
  const line = await askLine(io, [...lines, ask].join("\n"), signal);
  const word = line?.trim().toLowerCase();
  if (word === "/decline") throw new Refusal("decline");
  if (word === undefined || word === "/cancel") throw new Refusal("cancel");
  return line ?? "";
}

async function askForm(person: Person, asked: Question, fields: readonly Field[]): Promise<QuestionAnswer> {
  const heading = headingOf(asked, fields.length === 0 ? "asks for a yes" : "asks");
  const [first] = fields;
  if (first === undefined) {
    await typed(person, heading, `Enter says yes; ${REFUSING}: `);
    return { action: "accept", content: {} };
  }
  let lines = [...heading, `(Enter takes what is in [brackets], or leaves an optional one out; ${REFUSING})`];
  for (;;) {
    const content: Record<string, unknown> = {};
    for (const field of fields) {
      const value = await askField(person, field, lines);
      if (value !== undefined) define(content, field.name, value);
      lines = [];
    }
    if (fields.length === 1 || (await isMeant(person, asked, content))) return { action: "accept", content };
    lines = heading;
  }
}

/** Undefined where it is left out. */
async function askField(person: Person, field: Field, before: readonly string[]): Promise<unknown> {
  let lines = [...before, ...fieldLines(field)];
  for (;;) {
    const read = readTyped(field, await typed(person, lines, askingFor(field)));
    if ("value" in read) return read.value;
    if ("left" in read) return undefined;
    lines = [`  ! ${label(field.title ?? field.name)}: ${oneLine(visible(read.wrong))}`];
  }
}

/** What leaves this machine is seen once more, whole. */
async function isMeant(person: Person, { from }: Question, content: Record<string, unknown>): Promise<boolean> {
  const to = from === undefined ? "" : ` to ${label(from)}`;
  const lines = Object.entries(content).map(([name, value]) => `  ${label(name)}: ${shownValue(value)}`);
  for (;;) {
    const ask = `Send this${to}? [Y]es, [n]o to fill it in again, /decline, /cancel `;
    const word = (await typed(person, lines.length === 0 ? ["  (nothing)"] : lines, ask)).trim().toLowerCase();
    if (["", "y", "yes"].includes(word)) return true;
    if (["n", "no"].includes(word)) return false;
  }
}

/** For a schema that is no flat form: who knows it can answer all the same. */
async function askJson(person: Person, asked: Question): Promise<QuestionAnswer> {
  let lines = [
    ...headingOf(asked, "asks for something that is no simple form"),
    "  as this JSON Schema has it:",
    ...quoted(JSON.stringify(asked.schema, undefined, 2)),
  ];
  for (;;) {
    const text = await typed(person, lines, `One line of JSON; ${REFUSING}: `);
    try {
      return { action: "accept", content: JSON.parse(text) as unknown };
    } catch {
      lines = ["  ! that is not JSON"];
    }
  }
}

async function askPage(person: Person, asked: Question, url: string): Promise<QuestionAnswer> {
  const lines = [...headingOf(asked, "wants you to open a page"), ...addressLines(url)];
  await typed(person, lines, `Enter when you are done there; ${REFUSING}: `);
  return { action: "accept" };
}

/** Where it leads comes first: what stands before an @, or below a long name, is not it. */
export function addressLines(url: string): string[] {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol)) {
    return ["  this is no address of the web; better do not open it:", `  ${visible(url)}`];
  }
  const plainly = address.protocol === "https:" || isHere(address.hostname) ? "" : " (not encrypted)";
  return [`  it is on: ${address.host}${plainly}`, address.href];
}

function isHere(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

/** Also for a field that is called __proto__. */
function define(content: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(content, name, { value, enumerable: true, configurable: true, writable: true });
}
