/** Detects two sources that provide a tool of the same name. */
import { RookeryError } from "../domain/index.ts";
import type { BoundSource } from "./bound-source.ts";

/** Throws `tool_conflict` if two sources provide the same tool. */
export function assertNoConflicts(sources: readonly BoundSource[]): void {
  const owners = new Map<string, string>();
  for (const { source, tools } of sources) {
    for (const { spec } of tools) {
      const owner = owners.get(spec.name);
      if (owner !== undefined) throw toolConflictError(spec.name, owner, source.id);
      owners.set(spec.name, source.id);
    }
  }
}

export function toolConflictError(tool: string, first: string, second: string): RookeryError {
  const what = `${first} and ${second} both provide a tool named "${tool}"`;
  return new RookeryError("tool_conflict", `${what}; rename it in one of them, or remove one of them`);
}
