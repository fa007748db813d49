/** Which tools an agent gets: `allow` then `deny`, by name or by what a tool says of itself. */
import type { ToolSpec } from "../domain/index.ts";

/** A name, exact or with a trailing `*`, or annotations that must all be as given. */
export type ToolPattern = string | ToolAnnotations;

export interface ToolAnnotations {
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
  readonly idempotent?: boolean | undefined;
  readonly openWorld?: boolean | undefined;
}

export interface ToolFilter {
  /** Empty or left out: all. */
  readonly allow?: readonly ToolPattern[] | undefined;
  readonly deny?: readonly ToolPattern[] | undefined;
}

type Filterable = Pick<ToolSpec, "name" | "readOnly" | "hints">;

export function passes(spec: Filterable, { allow = [], deny = [] }: ToolFilter): boolean {
  const matches = (pattern: ToolPattern) =>
    typeof pattern === "string" ? named(spec.name, pattern) : annotated(spec, pattern);
  return (allow.length === 0 || allow.some(matches)) && !deny.some(matches);
}

export function named(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/**
 * A hint chooses among tools and allows nothing, so it is believed here. What nobody said is as the Model Context
 * Protocol (2025-11-25) has it: a tool destroys unless it only reads, may not be repeated, and reaches out.
 */
function annotated({ readOnly: trusted, hints = {} }: Filterable, pattern: ToolAnnotations): boolean {
  const readOnly = trusted || hints.readOnly === true;
  const said: ToolAnnotations = {
    readOnly,
    destructive: hints.destructive ?? !readOnly,
    idempotent: hints.idempotent ?? readOnly,
    openWorld: hints.openWorld ?? true,
  };
  const keys = ["readOnly", "destructive", "idempotent", "openWorld"] as const;
  return keys.every((key) => pattern[key] === undefined || pattern[key] === said[key]);
}
