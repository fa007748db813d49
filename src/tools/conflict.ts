/** Two sources with a tool of the same name: refused, naming both. */
import { RookeryError } from "../domain/index.ts";
import type { BoundSource } from "./source.ts";

/** Throws `tool_conflict`. */
export function refuseConflicts(sources: readonly BoundSource[]): void {
  const owners = new Map<string, string>();
  for (const { source, tools } of sources) {
    for (const { spec } of tools) {
      const owner = owners.get(spec.name);
      if (owner !== undefined) throw conflict(spec.name, owner, source.id);
      owners.set(spec.name, source.id);
    }
  }
}

export function conflict(tool: string, first: string, second: string): RookeryError {
  const what = `${first} and ${second} both have a tool "${tool}"`;
  return new RookeryError("tool_conflict", `${what}; rename it in one of them, or leave one of them out`);
}
