/** Makes events of what programs say acceptable to every store, whatever the types and sizes of its fields are. */
import { findDraftProblem, type EventBody } from "../domain/index.ts";

/** `JSON.stringify` fails at some thousands of levels; nothing that people read has a hundred. */
const MAX_DEPTH = 100;
const LEFT_OUT = `[nested deeper than ${MAX_DEPTH} levels: left out]`;

/** Only the body is in question. */
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
  const message = `${agent} sent something that cannot be recorded as ${body.type} (${problem.slice(0, 500)}): it was skipped`;
  return { type: "notice", level: "warning", code: "agent_output_invalid", message };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}
