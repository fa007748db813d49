/** From what sources offer to what an agent has: one tool a name, without what it may not or does not want to have. */
import { passes, type ToolFilter } from "./filter.ts";
import { sameItems, type Bound, type BoundSource } from "./source.ts";

export interface Wishes {
  readonly filter: ToolFilter;
  readonly choices: ReadonlyMap<string, boolean>;
}

/** Looks only at what changed: with thousands of tools, one server that lists another one must stay cheap. */
export class Layer {
  /** Who has a name, also where the filter leaves it out; whoever had it first is first. */
  readonly #claims = new Map<string, readonly BoundSource[]>();
  readonly #disputed = new Set<string>();
  #seen = new Map<BoundSource, { readonly tools: readonly Bound[]; readonly kept: readonly Bound[] }>();
  #wishes: Wishes | undefined;
  #parts: readonly (readonly Bound[])[] = [];

  /** By source in its order, then by name. */
  get tools(): readonly Bound[] {
    return this.#parts.flat();
  }

  ownerOf(name: string): string | undefined {
    return this.#claims.get(name)?.[0]?.source.id;
  }

  /** Tools whose name another source had first, one clause each. */
  get conflicts(): readonly string[] {
    return [...this.#disputed].flatMap((name) => {
      const [first, ...others] = this.#claims.get(name) ?? [];
      return others.map(({ source }) => `${name} of ${source.id} (${first?.source.id ?? ""} had it first)`);
    });
  }

  /** Answers whether the tools are others now. The same wishes are the same object. */
  update(sources: readonly BoundSource[], wishes: Wishes): boolean {
    const disputed = this.#disputed.size > 0;
    const before = this.#seen;
    for (const source of sources) {
      if (before.get(source)?.tools !== source.tools)
        for (const { spec } of source.tools) this.#claim(spec.name, source);
    }
    const present = new Set(sources);
    for (const [source, { tools }] of before) {
      if (present.has(source) && tools === source.tools) continue;
      const names = new Set(present.has(source) ? source.tools.map(({ spec }) => spec.name) : []);
      for (const { spec } of tools) if (!names.has(spec.name)) this.#release(spec.name, source);
    }
    const all = wishes !== this.#wishes || disputed || this.#disputed.size > 0;
    this.#wishes = wishes;
    this.#seen = new Map(sources.map((source) => [source, this.#keep(source, before.get(source), wishes, all)]));
    const parts = Array.from(this.#seen.values(), ({ kept }) => kept).filter(({ length }) => length > 0);
    const same = sameItems(parts, this.#parts);
    this.#parts = parts;
    return !same;
  }

  #keep(
    source: BoundSource,
    before: { readonly tools: readonly Bound[]; readonly kept: readonly Bound[] } | undefined,
    { filter, choices }: Wishes,
    again: boolean,
  ) {
    const { tools } = source;
    if (before?.tools === tools && !again) return before;
    const kept = tools.filter(
      ({ spec }) =>
        choices.get(spec.name) !== false && this.#claims.get(spec.name)?.[0] === source && passes(spec, filter),
    );
    return { tools, kept: before !== undefined && sameItems(kept, before.kept) ? before.kept : kept };
  }

  /** A source that takes the place of one with its id has what that one had. */
  #claim(name: string, source: BoundSource): void {
    const claims = this.#claims.get(name) ?? [];
    if (claims.includes(source)) return;
    const place = claims.findIndex((other) => other.source.id === source.source.id);
    const next = place === -1 ? [...claims, source] : claims.toSpliced(place, 0, source);
    this.#claims.set(name, next);
    if (next.length > 1) this.#disputed.add(name);
  }

  #release(name: string, source: BoundSource): void {
    const left = (this.#claims.get(name) ?? []).filter((other) => other !== source);
    if (left.length === 0) this.#claims.delete(name);
    else this.#claims.set(name, left);
    if (left.length < 2) this.#disputed.delete(name);
  }
}

/** Tools of the overlay take the place of base tools of the same name. */
export function shadowed(base: readonly Bound[], overlay: readonly Bound[]): readonly Bound[] {
  if (overlay.length === 0) return base;
  const names = new Set(overlay.map(({ spec }) => spec.name));
  return [...base.filter(({ spec }) => !names.has(spec.name)), ...overlay];
}
