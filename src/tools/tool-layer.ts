/** Resolves the tools of several sources: one tool per name, without filtered and disabled ones. */
import { passesFilter, type ToolFilter } from "./filter.ts";
import { sameItems, type BoundTool, type BoundSource } from "./bound-source.ts";

export interface ToolSelection {
  readonly filter: ToolFilter;
  readonly choices: ReadonlyMap<string, boolean>;
}

/** Processes only changed sources, so that one changed server stays cheap among thousands of tools. */
export class ToolLayer {
  /** The sources that provide each name, the first claimant first. Includes filtered tools. */
  readonly #claims = new Map<string, readonly BoundSource[]>();
  readonly #contested = new Set<string>();
  #seen = new Map<BoundSource, { readonly tools: readonly BoundTool[]; readonly kept: readonly BoundTool[] }>();
  #selection: ToolSelection | undefined;
  #parts: readonly (readonly BoundTool[])[] = [];

  /** Grouped by source in order, then sorted by name. */
  get tools(): readonly BoundTool[] {
    return this.#parts.flat();
  }

  ownerOf(name: string): string | undefined {
    return this.#claims.get(name)?.[0]?.source.id;
  }

  /** One clause for each tool that an earlier source already provides. */
  get conflicts(): readonly string[] {
    return [...this.#contested].flatMap((name) => {
      const [first, ...others] = this.#claims.get(name) ?? [];
      return others.map(({ source }) => `${name} of ${source.id} (${first?.source.id ?? ""} already provides it)`);
    });
  }

  /** Returns whether the tools changed. Pass the same `selection` object if the filter and the choices did not change. */
  update(sources: readonly BoundSource[], selection: ToolSelection): boolean {
    const wasContested = this.#contested.size > 0;
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
    const all = selection !== this.#selection || wasContested || this.#contested.size > 0;
    this.#selection = selection;
    this.#seen = new Map(sources.map((source) => [source, this.#keep(source, before.get(source), selection, all)]));
    const parts = Array.from(this.#seen.values(), ({ kept }) => kept).filter(({ length }) => length > 0);
    const same = sameItems(parts, this.#parts);
    this.#parts = parts;
    return !same;
  }

  #keep(
    source: BoundSource,
    before: { readonly tools: readonly BoundTool[]; readonly kept: readonly BoundTool[] } | undefined,
    { filter, choices }: ToolSelection,
    again: boolean,
  ) {
    const { tools } = source;
    if (before?.tools === tools && !again) return before;
    const kept = tools.filter(
      ({ spec }) =>
        choices.get(spec.name) !== false && this.#claims.get(spec.name)?.[0] === source && passesFilter(spec, filter),
    );
    return { tools, kept: before !== undefined && sameItems(kept, before.kept) ? before.kept : kept };
  }

  /** A source that replaces one with the same id takes over its claims. */
  #claim(name: string, source: BoundSource): void {
    const claims = this.#claims.get(name) ?? [];
    if (claims.includes(source)) return;
    const position = claims.findIndex((other) => other.source.id === source.source.id);
    const next = position === -1 ? [...claims, source] : claims.toSpliced(position, 0, source);
    this.#claims.set(name, next);
    if (next.length > 1) this.#contested.add(name);
  }

  #release(name: string, source: BoundSource): void {
    const left = (this.#claims.get(name) ?? []).filter((other) => other !== source);
    if (left.length === 0) this.#claims.delete(name);
    else this.#claims.set(name, left);
    if (left.length < 2) this.#contested.delete(name);
  }
}

/** Combines base and overlay. Overlay tools replace base tools of the same name. */
export function applyOverlay(base: readonly BoundTool[], overlay: readonly BoundTool[]): readonly BoundTool[] {
  if (overlay.length === 0) return base;
  const names = new Set(overlay.map(({ spec }) => spec.name));
  return [...base.filter(({ spec }) => !names.has(spec.name)), ...overlay];
}
