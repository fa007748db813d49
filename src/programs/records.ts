/** Reads JSON records, one a line, from a program that prints whatever else it likes between them and beside them. */
import { harmless } from "./stderr.ts";
import type { TransportSink } from "./transport.ts";

export type JsonRecord = Readonly<Record<string, unknown>>;

export interface RecordSink {
  record(record: JsonRecord): void;
  /** A line, or what was left of one, that is no record; safe to show. */
  text(text: string): void;
  /** Something was lost, in words; of a line that is `broken` the text is told all the same. */
  dropped(what: string, how: "long" | "garbled" | "broken"): void;
  ended(error?: Error): void;
  /** What is written goes nowhere any more. */
  writeFailed?(error: Error): void;
  /** A line with nothing on it, where the transport tells of those. */
  blank?(): void;
}

/** A longer line that is no record is cut. */
const TEXT_LENGTH = 64 * 1024;
const HEAD_LENGTH = 200;
/** How often broken lines are told; a program that prints such things prints many. */
const BROKEN_LIMIT = 10;

export interface RecordOptions {
  /** A record has its line to itself: for programs that also talk about JSON. */
  readonly wholeLines?: boolean | undefined;
}

export function readRecords(sink: RecordSink, { wholeLines = false }: RecordOptions = {}): TransportSink {
  let garbled = false;
  let broken = 0;
  const tell = (text: string): void => {
    const shown = tellText(text, sink);
    if (beginning(shown, 0) === -1 || (broken += 1) > BROKEN_LIMIT) return;
    const more = broken === BROKEN_LIMIT ? "; more of them are not told" : "";
    sink.dropped(`a line that begins as JSON and is none: ${headOf(shown)}${more}`, "broken");
  };
  return {
    line(line) {
      const whole = line.startsWith("{") ? recordOf(line) : undefined;
      if (whole !== undefined) sink.record(whole);
      else if (line === "") sink.blank?.();
      else if (wholeLines) tellLine(line, sink);
      else search(line, sink, tell);
    },
    oversize(head, _tail, bytes) {
      sink.dropped(`a line of ${bytes} bytes, which began: ${headOf(head)}`, "long");
    },
    garbled() {
      if (garbled) return;
      garbled = true;
      sink.dropped("bytes that are no UTF-8: each is shown as \uFFFD", "garbled");
    },
    ended: (error) => sink.ended(error),
    drained: () => undefined,
    writeFailed: (error) => sink.writeFailed?.(error),
  };
}

function recordOf(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** How often the characters of a line may be looked at, or how many may be where the line is short. */
const [PASSES, LOOKS] = [4, 1_000_000];

/**
 * Records that stand between other things: behind a prompt, a colour or a carriage return, or two on one line. What is
 * nothing but beginnings is given up on after a while, and is text.
 */
function search(line: string, sink: RecordSink, tell: (text: string) => void): void {
  let looks = Math.max(PASSES * line.length, LOOKS);
  let from = 0;
  for (let at = beginning(line, 0); at !== -1 && looks > 0;) {
    const end = endOfObject(line, at);
    looks -= (end ?? line.length) - at;
    const record = end === undefined ? undefined : recordOf(line.slice(at, end));
    if (end === undefined || record === undefined) {
      at = beginning(line, at + 1);
      continue;
    }
    tell(line.slice(from, at));
    sink.record(record);
    from = end;
    at = beginning(line, end);
  }
  tell(line.slice(from));
}

/** Where a record may begin: one with nothing in it is none. */
function beginning(text: string, from: number): number {
  for (let at = text.indexOf("{", from); at !== -1; at = text.indexOf("{", at + 1)) {
    let next = at + 1;
    while (text.charCodeAt(next) === SPACE) next += 1;
    if (text.charCodeAt(next) === QUOTE) return at;
  }
  return -1;
}

function tellLine(line: string, sink: RecordSink): void {
  const bare = harmless(line).trim();
  const record = bare.startsWith("{") ? recordOf(bare) : undefined;
  if (record === undefined) tellText(line, sink);
  else sink.record(record);
}

/** Of a line that was written over itself the last writing counts, as on a terminal. */
function tellText(text: string, sink: RecordSink): string {
  const kept = text.length > TEXT_LENGTH ? text.slice(0, TEXT_LENGTH) : text;
  const shown = kept
    .split("\r")
    .map(harmless)
    .findLast((part) => part.trim() !== "");
  if (shown !== undefined) sink.text(shown);
  if (kept.length < text.length) {
    sink.dropped(`the rest of a line of ${text.length} characters, which began: ${headOf(text)}`, "long");
  }
  return shown ?? "";
}

function headOf(text: string): string {
  return harmless(text.slice(0, HEAD_LENGTH)).trim();
}

function endOfObject(text: string, from: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (quoted) {
      if (char === BACKSLASH) at += 1;
      else if (char === QUOTE) quoted = false;
    } else if (char === QUOTE) quoted = true;
    else if (char === OPEN) depth += 1;
    else if (char === CLOSE && (depth -= 1) === 0) return at + 1;
  }
  return undefined;
}

const [SPACE, BACKSLASH, QUOTE, OPEN, CLOSE] = [32, 92, 34, 123, 125];
