/** Parses stored JSON, which may be damaged. */
import { RookeryError, type SessionSummary, type TaskState } from "../../domain/index.ts";
import { mapInLoopSlices } from "../../stdx/index.ts";
import type { LogKind } from "../admission.ts";
import { isSummary, isTaskState } from "../stored-shapes.ts";

/** A `log_corrupt` error for a damaged part of the database, such as "the summary of session X". */
export function toDamagedRow(what: string, cause?: unknown): RookeryError {
  return new RookeryError("log_corrupt", `${what} is damaged: restore a backup of the database`, { cause });
}

/** Throws `log_corrupt` if the text is not JSON. */
export function parseStored(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw toDamagedRow(what, cause);
  }
}

/** Throws `log_corrupt` if the text is not the summary of this session. */
export function parseSummary(text: string, sessionId: string): SessionSummary {
  const summary = tryParse(text, isSummary);
  if (summary?.id !== sessionId) throw toDamagedRow(`the summary of session ${sessionId}`);
  return summary;
}

/** Throws `log_corrupt` if the text is not the state of this task. */
export function parseTaskState(text: string, taskId: string): TaskState {
  const state = tryParse(text, isTaskState);
  if (state?.id !== taskId) throw toDamagedRow(`the state of task ${taskId}`);
  return state;
}

/** Throws `log_corrupt` if the text is not the summary of this session or the state of this task. */
export function parseLogState(kind: LogKind, text: string, logId: string): SessionSummary | TaskState {
  return kind === "session" ? parseSummary(text, logId) : parseTaskState(text, logId);
}

/** Undefined if the text is not JSON or the value fails the check. */
export function tryParse<T>(text: string, check: (value: unknown) => value is T): T | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads a page of JSON texts. Skips damaged ones, so that they do not hide the others: reading such a row by its id
 * throws the error. Fills the page with later rows, because callers treat a short page as the last one.
 */
export async function selectParsable<T>(
  limit: number,
  read: (limit: number) => Promise<readonly (readonly unknown[])[]>,
  check: (value: unknown) => value is T,
): Promise<T[]> {
  for (let more = 0; ;) {
    const rows = await read(limit + more);
    const parsed = await mapInLoopSlices(rows, ([text]) => tryParse(text as string, check));
    const whole = parsed.filter((value) => value !== undefined);
    if (whole.length >= limit || rows.length < limit + more) return whole.slice(0, limit);
    more = 2 * (rows.length - whole.length);
  }
}
