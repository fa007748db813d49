/** From what sources offer to what an agent has: one tool a name, without what it may not or does not want to have. */
import { passes, type ToolFilter } from "./filter.ts";
import { sameItems, type Bound, type BoundSource } from "./source.ts";

export interface Wishes {
  readonly filter: ToolFilter;
  readonly choices: ReadonlyMap<string, boolean>;
}

export interface Resolved {
  /** By source in its order, then by name. */
  readonly tools: readonly Bound[];
  /** Who has a name, also where the filter leaves it out. */
  readonly owners: ReadonlyMap<string, BoundSource>;
  /** Tools whose name another source had first, one clause each. */
  readonly conflicts: readonly string[];
}

export const NOTHING: Resolved = { tools: [], owners: new Map(), conflicts: [] };

export function resolve(sources: readonly BoundSource[], { owners: before }: Resolved, wishes: Wishes): Resolved {
  const owners = new Map<string, BoundSource>();
  const disputed = new Map<string, BoundSource[]>();
  for (const source of sources) {
    for (const { spec } of source.tools) {
      const owner = owners.get(spec.name);
      if (owner === undefined) owners.set(spec.name, source);
      else disputed.set(spec.name, [...(disputed.get(spec.name) ?? [owner]), source]);
    }
  }
  const conflicts: string[] = [];
  for (const [name, rivals] of disputed) {
    const first = rivals.find((rival) => before.get(name)?.source.id === rival.source.id) ?? rivals[0];
    if (first === undefined) continue;
    owners.set(name, first);
    for (const rival of rivals) {
      if (rival !== first) conflicts.push(`${name} of ${rival.source.id} (${first.source.id} had it first)`);
    }
  }
  const has = (source: BoundSource, { spec }: Bound) =>
    (disputed.size === 0 || owners.get(spec.name) === source) &&
    wishes.choices.get(spec.name) !== false &&
    passes(spec, wishes.filter);
  const tools = sources.flatMap((source) => source.tools.filter((bound) => has(source, bound)));
  return { tools, owners, conflicts };
}

export function sameTools(a: Resolved, b: Resolved): boolean {
  return sameItems(a.tools, b.tools);
}

/** Tools of the overlay take the place of base tools of the same name. */
export function shadowed(base: readonly Bound[], overlay: readonly Bound[]): readonly Bound[] {
  if (overlay.length === 0) return base;
  const names = new Set(overlay.map(({ spec }) => spec.name));
  return [...base.filter(({ spec }) => !names.has(spec.name)), ...overlay];
}
