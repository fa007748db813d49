/** Reads JSON records, one a line, from a program that prints whatever else it likes between them and beside them. */
import { harmless } from "./stderr.ts";
import type { TransportSink } from "./transport.ts";

export type JsonRecord = Readonly<Record<string, unknown>>;

export interface RecordSink {
  record(record: JsonRecord): void;
  /** A line, or what was left of one, that is no record; safe to show. */
  text(text: string): void;
  /** Something was lost, in words. */
  dropped(what: string): void;
  ended(error?: Error): void;
  /** What is written goes nowhere any more. */
  writeFailed?(error: Error): void;
}

/** How often a line that is no record as a whole is searched for one. */
const TRIES = 64;
const HEAD_LENGTH = 200;

export function readRecords(sink: RecordSink): TransportSink {
  let toldOfBytes = false;
  return {
    line: (line) => {
      if (!toldOfBytes && line.includes("\uFFFD")) {
        toldOfBytes = true;
        sink.dropped("bytes that are no UTF-8: each is shown as \uFFFD");
      }
      const whole = recordOf(line);
      if (whole === undefined) search(line, sink);
      else sink.record(whole);
    },
    oversize: (head, _tail, bytes) => {
      sink.dropped(`a line of ${bytes} bytes, which began: ${harmless(head).slice(0, HEAD_LENGTH)}`);
    },
    ended: (error) => sink.ended(error),
    drained: () => undefined,
    writeFailed: (error) => sink.writeFailed?.(error),
  };
}

function recordOf(text: string): JsonRecord | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Records that stand between other things: behind a prompt, a colour or a carriage return, or two on one line. */
function search(line: string, sink: RecordSink): void {
  let from = 0;
  let at = line.indexOf("{");
  for (let tries = 0; at !== -1 && tries < TRIES; tries += 1) {
    const end = endOfObject(line, at);
    const record = end === undefined ? undefined : recordOf(line.slice(at, end));
    if (end === undefined || record === undefined) {
      at = line.indexOf("{", at + 1);
      continue;
    }
    tell(line.slice(from, at), sink);
    sink.record(record);
    from = end;
    at = line.indexOf("{", end);
  }
  tell(line.slice(from), sink);
}

/** Of a line that was written over itself the last writing counts, as on a terminal. */
function tell(text: string, sink: RecordSink): void {
  const shown = text
    .split("\r")
    .map(harmless)
    .findLast((part) => part.trim() !== "");
  if (shown !== undefined) sink.text(shown);
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

const [BACKSLASH, QUOTE, OPEN, CLOSE] = [92, 34, 123, 125];
