/** Selects an agent's tools: `allow`, then `deny`, by name or by annotations. */
import type { ToolSpec } from "../domain/index.ts";

/** A name, exact or with a trailing `*`, or annotations that must all match. */
export type ToolPattern = string | ToolAnnotations;

export interface ToolAnnotations {
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
  readonly idempotent?: boolean | undefined;
  readonly openWorld?: boolean | undefined;
}

export interface ToolFilter {
  /** Default: all tools. */
  readonly allow?: readonly ToolPattern[] | undefined;
  readonly deny?: readonly ToolPattern[] | undefined;
}

type FilterableTool = Pick<ToolSpec, "name" | "readOnly" | "hints">;

export function passesFilter(spec: FilterableTool, { allow = [], deny = [] }: ToolFilter): boolean {
  const matches = (pattern: ToolPattern) =>
    typeof pattern === "string" ? matchesToolName(spec.name, pattern) : matchesAnnotations(spec, pattern);
  return (allow.length === 0 || allow.some(matches)) && !deny.some(matches);
}

export function matchesToolName(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/**
 * Hints only select tools and grant no permission, so they are trusted here. Missing hints have the defaults of the
 * Model Context Protocol (2025-11-25): destructive unless read-only, not idempotent, open world.
 */
function matchesAnnotations({ readOnly: trusted, hints = {} }: FilterableTool, pattern: ToolAnnotations): boolean {
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
