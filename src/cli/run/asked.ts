/** What an agent waits for, so that a person can decide: all of it, whatever its title says. */
import type { Question } from "../../domain/backend.ts";
import type { SessionEvent } from "../../domain/events.ts";
import type { SessionState } from "../../domain/state.ts";
import type { SessionStore } from "../../domain/store.ts";
import { count } from "../format.ts";
import { oneLine, visible } from "../printable.ts";
import { pagesOf } from "../sessions/pages.ts";

export interface Asked {
  readonly requestId: string;
  /** Undefined for a question. */
  readonly tool: string | undefined;
  readonly input: unknown;
  /** Who asks for a permission, if not the agent itself. */
  readonly from?: string | undefined;
  /** Undefined for a permission. */
  readonly question?: Question;
}

/** A command is shown whole, up to what a person could still read; of other texts the ends say what they are. */
const MOST_OF = { command: 16_000, other: 4_000 };
const MOST_FIELDS = 20;
const MOST_DEPTH = 4;

export function askedIn(event: SessionEvent): Asked | undefined {
  if (event.type === "permission.requested") {
    const { requestId, tool, input, from } = event;
    return { requestId, tool, input, ...(from !== undefined && { from }) };
  }
  if (event.type !== "question.asked") return undefined;
  const { message, from, url, schema } = event;
  const question = { message, from, url, schema };
  const given = Object.entries(question).filter(([, value]) => value !== undefined);
  return { requestId: event.requestId, tool: undefined, input: Object.fromEntries(given), question };
}

/** What a session waits for now; its state has only the titles. */
export async function openRequests(store: SessionStore, state: SessionState): Promise<Asked[]> {
  const waiting = state.requests.filter(({ answer }) => answer === undefined);
  const open = new Set(waiting.map(({ requestId }) => requestId));
  const found: Asked[] = [];
  if (open.size === 0) return found;
  const isOlder = waiting.some(({ turnId }) => turnId === undefined); // asked between turns, maybe before this one
  for await (const event of pagesOf(store, state.id, isOlder ? 0 : (state.turn?.startedSeq ?? 0))) {
    const asked = askedIn(event);
    if (asked !== undefined && open.has(asked.requestId)) found.push(asked);
  }
  return found;
}

/** "waiting for" what. */
export function subjectOf({ tool, from }: Asked): string {
  return tool === undefined ? "an answer" : `a decision on ${oneLine(tool, 100)}${forWords(from)}`;
}

export function forWords(from: string | undefined): string {
  return from === undefined ? "" : ` for ${oneLine(visible(from), 100)}`;
}

/** Lines that nothing in them can leave: each begins with two spaces, and has no control characters. */
export function detailsOf({ input = null }: Asked): string[] {
  const isTable = typeof input === "object" && input !== null && !Array.isArray(input);
  const fields: Field[] = isTable ? Object.entries(input) : [["input", input]];
  if (fields.length > MOST_FIELDS) return fieldLines("input", input);
  const parts = fields.flatMap((field) => partsOf(field, MOST_DEPTH));
  return (parts.length > MOST_FIELDS ? fields : parts).flatMap(([name, value]) => fieldLines(name, value));
}

type Field = readonly [name: string, value: unknown];

/** What is nested is shown as JSON, unless a text in it has lines, such as the diff in a list of changes. */
function partsOf([name, value]: Field, depth: number): Field[] {
  const hasLines = typeof value === "object" && value !== null && JSON.stringify(value).includes("\\n");
  if (!hasLines || depth === 0) return [[name, value]];
  return Object.entries(value).flatMap(([key, inner]) => partsOf([`${name}.${key}`, inner], depth - 1));
}

function fieldLines(name: string, value: unknown): string[] {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const label = oneLine(visible(name), 100);
  const most = name === "command" ? MOST_OF.command : MOST_OF.other;
  const lines = text.split("\n");
  if (lines.length === 1 && text.length <= most) return [`  ${label}: ${visible(text)}`];
  const heading = `  ${label} (${count(lines.length)} ${lines.length === 1 ? "line" : "lines"}):`;
  if (text.length <= most) return [heading, ...quoted(text)];
  const left = `  … ${count(text.length - most)} characters are left out here; all of it: rookery sessions events SESSION --json …`;
  return [heading, ...quoted(text.slice(0, most / 2)), left, ...quoted(text.slice(-most / 2))];
}

function quoted(text: string): string[] {
  return text.split("\n").map((line) => `  │ ${visible(line)}`);
}
