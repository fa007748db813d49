/** Which tools an agent gets: `allow` then `deny`, by exact name or with a trailing `*`. */
import type { ToolSource } from "../domain/index.ts";

export interface ToolFilter {
  /** Empty or left out: all. */
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** The same source with fewer tools; what is left out can be neither seen nor called. */
export function filtered(source: ToolSource, filter: ToolFilter = {}): ToolSource {
  const list = () => source.list().filter(({ name }) => passes(name, filter));
  return {
    ...source,
    list,
    call: (call, context) =>
      passes(call.name, filter)
        ? source.call(call, context)
        : Promise.resolve({ outcome: "failed", text: `there is no tool "${call.name}"` }),
  };
}

export function passes(name: string, { allow = [], deny = [] }: ToolFilter): boolean {
  const matches = (pattern: string) =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  return (allow.length === 0 || allow.some(matches)) && !deny.some(matches);
}
