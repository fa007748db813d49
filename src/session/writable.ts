/**
 * Makes events writable: an event that is nested too deeply, too large or not JSON is truncated to one that the log
 * can hold. It is the last check for all events; backends check the output of programs before, in `backends/storable.ts`.
 */
import { findDraftProblem, type EventBody, type EventDraft } from "../domain/index.ts";

/** SQLite does not parse JSON with more levels, and `JSON.stringify` overflows the stack at a few thousand more. */
const MAX_DEPTH = 1_000;
/** Up to this length, no exact measurement is needed: even escaped, the text fits into one append. */
export const MAX_PLAIN_LENGTH = 8 * 1024 * 1024;
/** The maximum length of an event as JSON. The store accepts 64 MB per append. */
const MAX_EVENT_LENGTH = 48 * 1024 * 1024;
/** Limits for each text and list in a truncated event. */
const CUT_TEXT_LENGTH = 64 * 1024;
const CUT_ENTRIES = 1_000;
const CUT_DEPTH = 20;
const CUT_NODES = 20_000;
/** The limit for all texts and keys of a truncated event together. */
const CUT_TOTAL_LENGTH = 4 * 1024 * 1024;
const MAX_KEY_LENGTH = 1_000;

const LEFT_OUT = "[omitted: it could not be recorded]";
const NOT_JSON = "it cannot be written as JSON";

interface Measurement {
  readonly length: number;
  readonly problem?: string;
}

export interface Writable<T> {
  readonly value: T;
  /** Estimated length as JSON, in characters. */
  readonly length: number;
  /** Why something was omitted; undefined if nothing was. */
  readonly problem?: string;
}

/** Returns the event itself if the log can hold it, otherwise a truncated one of the same type, or a notice. */
export function toWritableEvent(body: EventBody): Writable<EventBody> {
  const flat = flatLength(body);
  if (flat !== undefined && flat <= MAX_PLAIN_LENGTH) return { value: body, length: flat };
  const { length, problem } = measure(body);
  if (problem === undefined) return { value: body, length };
  const value = substituteEvent(body, problem);
  return { value, length: measure(value).length, problem };
}

/** Returns the value itself if it can be written as JSON, otherwise a truncated copy. */
export function toWritableValue(value: unknown): Writable<unknown> {
  const { length, problem } = measure(value);
  if (problem === undefined) return { value, length };
  const left = truncateValue(value);
  return { value: left, length: measure(left).length, problem };
}

/** Returns a replacement for a refused event: a truncated one of the same type if it is valid, otherwise a notice. */
export function substituteEvent(body: EventBody, problem: string): EventBody {
  for (const candidate of [truncateValue(body) as EventBody, plainBody(body)]) if (isValid(candidate)) return candidate;
  return createCutNotice(`an event of type ${body.type} was omitted: ${problem}`);
}

export function createCutNotice(message: string): Extract<EventBody, { type: "notice" }> {
  return { type: "notice", level: "warning", code: "event_cut", message: message.slice(0, 1_000).toWellFormed() };
}

/** A fast path: most events, and all deltas, contain only texts and numbers. Returns undefined for other events. */
function flatLength(body: EventBody): number | undefined {
  let length = 0;
  for (const key in body) {
    const value: unknown = body[key as keyof EventBody];
    if (typeof value === "string") length += value.length + key.length + 6;
    else if (typeof value === "object" || typeof value === "bigint") return undefined;
    else length += key.length + 20;
  }
  return length;
}

/** Measures without recursion, because the value may be nested more deeply than the stack allows. */
function measure(value: unknown): Measurement {
  try {
    return walk(value);
  } catch {
    return { length: 0, problem: NOT_JSON }; // a getter or a proxy that throws
  }
}

function walk(value: unknown): Measurement {
  if (typeof value === "string") return measureText(value, value.length);
  let length = 0;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return { length, problem: `it is nested more than ${MAX_DEPTH} levels deep` };
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === "string") length += item.length + 2;
      else if (typeof item === "bigint") return { length, problem: "it contains a number that JSON cannot represent" };
      else if (typeof item !== "object" || item === null) length += 5;
      else if ("toJSON" in item) return measureExactly(value, length);
      else if (Array.isArray(item)) {
        length += item.length + 2;
        for (const entry of item as unknown[]) next.push(entry);
      } else {
        for (const key in item) {
          length += key.length + 4;
          next.push((item as Record<string, unknown>)[key]);
        }
      }
    }
    // A circular value grows with each level.
    if (length > 4 * MAX_EVENT_LENGTH) return { length, problem: tooLarge(length) };
    level = next;
  }
  return measureText(value, length);
}

function measureText(value: unknown, length: number): Measurement {
  return length <= MAX_PLAIN_LENGTH ? { length } : measureExactly(value, length);
}

function measureExactly(value: unknown, estimate: number): Measurement {
  try {
    const { length } = JSON.stringify(value) ?? "";
    return length <= MAX_EVENT_LENGTH ? { length } : { length, problem: tooLarge(length) };
  } catch {
    return { length: estimate, problem: NOT_JSON };
  }
}

function tooLarge(length: number): string {
  return `it is too large (${Math.ceil(length / 1e6)} MB)`;
}

/** Keeps only the top-level texts (shortened), numbers and booleans of the event. */
function plainBody(body: EventBody): EventBody {
  const plain = Object.entries(body).map(([key, value]: [string, unknown]) => {
    if (typeof value === "string") return [key, value.slice(0, 1_000).toWellFormed()];
    return [key, ["number", "boolean"].includes(typeof value) ? value : undefined];
  });
  return Object.fromEntries(plain.filter(([, value]) => value !== undefined)) as EventBody;
}

/** Keeps the outer levels of the value, and shortens long texts and lists. */
function truncateValue(value: unknown): unknown {
  let nodes = 0;
  let room = CUT_TOTAL_LENGTH;
  const visit = (item: unknown, depth: number): unknown => {
    nodes += 1;
    if (typeof item === "string") {
      const left = truncateText(item, Math.min(room, CUT_TEXT_LENGTH));
      room = Math.max(0, room - left.length);
      return left;
    }
    if (typeof item === "bigint") return String(item).slice(0, CUT_DEPTH);
    if (typeof item === "function") return undefined;
    if (typeof item !== "object" || item === null) return item;
    if (depth >= CUT_DEPTH || nodes > CUT_NODES) return LEFT_OUT;
    if (Array.isArray(item)) return item.slice(0, CUT_ENTRIES).map((entry) => visit(entry, depth + 1));
    const entries = Object.entries(item).slice(0, CUT_ENTRIES);
    return Object.fromEntries(entries.map(([key, entry]) => [key.slice(0, MAX_KEY_LENGTH), visit(entry, depth + 1)]));
  };
  try {
    return visit(value, 0);
  } catch {
    return LEFT_OUT;
  }
}

function truncateText(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max).toWellFormed()}… [${text.length - max} characters omitted]`;
}

function isValid(body: EventBody): boolean {
  const at = new Date(0).toISOString();
  const event: EventDraft = { ...body, at, agent: "agent" };
  return measure(body).problem === undefined && findDraftProblem(event) === undefined;
}
