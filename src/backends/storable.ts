/**
 * Replaces program output that the event schema would reject, such as values of wrong types or excessive depth. The
 * size of what passes is limited later, in `session/writable.ts`.
 */
import { findDraftProblem, type EventBody } from "../domain/index.ts";

/** A longer message of a program is recorded in several parts. */
export const MAX_MESSAGE_LENGTH = 4 * 1024 * 1024;
/** `JSON.stringify` fails at some thousands of levels. */
const MAX_DEPTH = 100;
const LEFT_OUT = `[omitted: nested deeper than ${MAX_DEPTH} levels]`;

/** Placeholder fields, because only the body is checked. */
const ENVELOPE = { at: "2000-01-01T00:00:00.000Z", agent: "" } as const;

/** Returns the value, or a note in its place if it is nested too deeply to be written. */
export function storableJson(value: unknown): unknown {
  return isDeeper(value, MAX_DEPTH) ? LEFT_OUT : value;
}

/**
 * Returns the event, or a notice in its place if the schema of events rejects it. An event that nests too deeply is left
 * to the session, which cuts it down and fails the turn.
 */
export function storableEvent(body: EventBody, agent: string): EventBody {
  const problem = findDraftProblem({ ...ENVELOPE, ...body });
  if (problem === undefined) return body;
  const message = `${agent} sent output that cannot be recorded as ${body.type} (${problem.slice(0, 500)}); Rookery skipped it`;
  return { type: "notice", level: "warning", code: "agent_output_invalid", message };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}
