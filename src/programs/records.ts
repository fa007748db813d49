/** Reads JSON records, one per line, from a program that may also print other text. */
import { sanitizeTerminalText } from "./stderr-tail.ts";
import type { TransportSink } from "./transport.ts";

export type JsonRecord = Readonly<Record<string, unknown>>;

export interface RecordSink {
  record(record: JsonRecord): void;
  /** A line, or part of one, that is not a record. Safe to display. */
  text(text: string): void;
  /** Describes lost output as a noun phrase. The text of a `broken` line is delivered as well. */
  dropped(what: string, how: "long" | "garbled" | "broken"): void;
  ended(error?: Error): void;
  /** Writing is no longer possible. */
  writeFailed?(error: Error): void;
  /** An empty line, if the transport delivers those. */
  blank?(): void;
}

/** Longer lines that are not records are cut. */
const MAX_TEXT_LENGTH = 64 * 1024;
const HEAD_LENGTH = 200;
/** Broken lines reported per program; one that prints such lines prints many. */
const MAX_BROKEN_REPORTS = 10;

export interface RecordOptions {
  /** Whether a record must be alone on its line, for programs that also print text about JSON. Default: false. */
  readonly wholeLines?: boolean | undefined;
}

export function readRecords(sink: RecordSink, { wholeLines = false }: RecordOptions = {}): TransportSink {
  let garbled = false;
  let broken = 0;
  const reportText = (text: string): void => {
    const shown = deliverText(text, sink);
    if (findRecordStart(shown, 0) === -1 || (broken += 1) > MAX_BROKEN_REPORTS) return;
    const more = broken === MAX_BROKEN_REPORTS ? "; further ones are not reported" : "";
    sink.dropped(`a line that starts like JSON but is not valid: ${formatExcerpt(shown)}${more}`, "broken");
  };
  return {
    line(line) {
      const whole = line.startsWith("{") ? parseRecord(line) : undefined;
      if (whole !== undefined) deliverRecord(whole, line, sink);
      else if (line === "") sink.blank?.();
      else if (wholeLines) deliverLine(line, sink);
      else findRecords(line, sink, reportText);
    },
    oversize(head, _tail, bytes) {
      sink.dropped(`a line of ${bytes} bytes, which was dropped; it starts with: ${formatExcerpt(head)}`, "long");
    },
    garbled() {
      if (garbled) return;
      garbled = true;
      sink.dropped("bytes that are not valid UTF-8; each is shown as \uFFFD", "garbled");
    },
    ended: (error) => sink.ended(error),
    drained: () => undefined,
    writeFailed: (error) => sink.writeFailed?.(error),
  };
}

function parseRecord(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A deeply nested record that `JSON.parse` accepts can exhaust the stack of its handler. Nothing above catches that
 * error, so it would end the process with all its sessions.
 */
function deliverRecord(record: JsonRecord, text: string, sink: RecordSink): void {
  try {
    sink.record(record);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    sink.dropped(`a line that is nested too deeply: ${formatExcerpt(text)}`, "broken");
  }
}

/** How many characters the search for records may scan: this many times the line, and at least a million. */
const MAX_SCANS_OF_LINE = 4;
const MIN_SCAN_LIMIT = 1_000_000;

/**
 * Finds records between other text: after a prompt, a color code or a carriage return, or two on one line. Gives up after
 * a bounded effort on lines with many false starts, which are then text.
 */
function findRecords(line: string, sink: RecordSink, reportText: (text: string) => void): void {
  let scanLeft = Math.max(MAX_SCANS_OF_LINE * line.length, MIN_SCAN_LIMIT);
  let from = 0;
  for (let at = findRecordStart(line, 0); at !== -1 && scanLeft > 0;) {
    const end = findObjectEnd(line, at);
    scanLeft -= (end ?? line.length) - at;
    const record = end === undefined ? undefined : parseRecord(line.slice(at, end));
    if (end === undefined || record === undefined) {
      at = findRecordStart(line, at + 1);
      continue;
    }
    reportText(line.slice(from, at));
    deliverRecord(record, line.slice(at, end), sink);
    from = end;
    at = findRecordStart(line, end);
  }
  reportText(line.slice(from));
}

/** Returns the index at which a nonempty record may start. */
function findRecordStart(text: string, from: number): number {
  for (let at = text.indexOf("{", from); at !== -1; at = text.indexOf("{", at + 1)) {
    let next = at + 1;
    while (text.charCodeAt(next) === SPACE) next += 1;
    if (text.charCodeAt(next) === QUOTE) return at;
  }
  return -1;
}

function deliverLine(line: string, sink: RecordSink): void {
  const bare = sanitizeTerminalText(line).trim();
  const record = bare.startsWith("{") ? parseRecord(bare) : undefined;
  if (record === undefined) deliverText(line, sink);
  else deliverRecord(record, bare, sink);
}

/** Delivers a line as text. After a carriage return, the last version of the line counts, as on a terminal. */
function deliverText(text: string, sink: RecordSink): string {
  const kept = text.length > MAX_TEXT_LENGTH ? text.slice(0, MAX_TEXT_LENGTH) : text;
  const shown = kept
    .split("\r")
    .map(sanitizeTerminalText)
    .findLast((part) => part.trim() !== "");
  if (shown !== undefined) sink.text(shown);
  if (kept.length < text.length) {
    sink.dropped(
      `a line of ${text.length} characters, the rest of which was dropped; it starts with: ${formatExcerpt(text)}`,
      "long",
    );
  }
  return shown ?? "";
}

function formatExcerpt(text: string): string {
  return sanitizeTerminalText(text.slice(0, HEAD_LENGTH)).trim();
}

function findObjectEnd(text: string, from: number): number | undefined {
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
