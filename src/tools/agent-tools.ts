/** The tools of one agent in one session: its sources, its overlay and its plugins, resolved when someone looks. */
import {
  isRookeryError,
  messageOf,
  RookeryError,
  type Overlay,
  type PromptContribution,
  type ToolSource,
} from "../domain/index.ts";
import { makeArtifact, type Artifact, type CatalogKey } from "./artifact.ts";
import { conflict, refuseConflicts } from "./conflict.ts";
import type { ToolFilter } from "./filter.ts";
import { Hooks, type PluginStates } from "./hooks.ts";
import { Layer, shadowed, type Wishes } from "./layer.ts";
import type { HookedTurn, OnNotice, Plugin } from "./plugin.ts";
import { checkContributions, sameContributions } from "./prompt.ts";
import { BoundSource, few, sameItems } from "./source.ts";

export interface AgentToolsOptions {
  readonly filter?: ToolFilter | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  readonly contributions?: readonly PromptContribution[] | undefined;
  /** Characters of definitions past which tools are found by searching; `Infinity`: never. */
  readonly deferOver?: number | undefined;
  /** Tools that are switched off, with what is said to a model that calls one all the same. */
  readonly switchedOff?: ReadonlyMap<string, string> | undefined;
  readonly choices?: ReadonlyMap<string, boolean> | undefined;
  /** How long a plugin may think. */
  readonly pluginTimeoutMs?: number | undefined;
  readonly onNotice?: OnNotice | undefined;
}

type WholeOverlay = { readonly [Key in keyof Overlay]-?: NonNullable<Overlay[Key]> };

export interface SavedTools {
  readonly generation: number;
  readonly choices: Readonly<Record<string, boolean>>;
}

const DEFER_OVER = 60_000;
const PLUGIN_TIMEOUT_MS = 5_000;
/** Artifacts kept; the one least recently asked for goes first. */
const ARTIFACTS = 8;
/** Of sources that went, so many are remembered in their place; the one that went first is forgotten first. */
const GONE_SOURCES = 1_000;
const MOST_CHOICES = 10_000;
const NO_OVERLAY: WholeOverlay = { sources: [], contributions: [], base: true };

export class AgentTools implements Disposable, AsyncDisposable {
  readonly #options: AgentToolsOptions;
  readonly #hooks: Hooks;
  readonly #choices: Map<string, boolean>;
  readonly #listeners = new Set<() => void>();
  readonly #artifacts = new Map<string, Artifact>();
  /** In order; undefined stands for one that went, so that it comes back to its place. */
  readonly #sources = new Map<string, BoundSource | undefined>();
  #overlay = NO_OVERLAY;
  #overlaySources: readonly BoundSource[] = [];
  #overlayRevision = 0;
  #generation = 0;
  readonly #base = new Layer();
  #above = new Layer();
  #wishes: Wishes;
  #said: ReadonlySet<string> = new Set();
  #unresolved = false;
  #telling = false;
  #told = "0 0";

  /** Throws `tool_conflict` where plugins bring the same tool. */
  constructor(options: AgentToolsOptions = {}) {
    const { plugins = [], choices = new Map<string, boolean>(), pluginTimeoutMs = PLUGIN_TIMEOUT_MS } = options;
    this.#options = options;
    this.#choices = new Map(choices);
    this.#wishes = { filter: options.filter ?? {}, choices: this.#choices };
    this.#hooks = new Hooks({ plugins, timeoutMs: pluginTimeoutMs, onNotice: this.#notice });
    for (const { id, sources = [] } of this.#hooks.plugins) for (const source of sources) this.#addOf(id, source);
  }

  /** Goes up when a source's tools, a source or a choice changed what there is; not when it came to the same. */
  get generation(): number {
    this.#refresh();
    return this.#generation;
  }

  get choices(): ReadonlyMap<string, boolean> {
    return this.#choices;
  }

  /**
   * One with an id that is there takes its place. Throws `tool_conflict` where another source has a tool of the same
   * name, and changes nothing then. `always`: its tools are told to the model however large the catalog is.
   */
  add(source: ToolSource, { always = false }: { readonly always?: boolean } = {}): void {
    this.#refresh();
    const bound = this.#bind(source, always);
    const { id } = bound.source;
    for (const { spec } of bound.tools) {
      const owner = this.#base.ownerOf(spec.name);
      if (owner !== undefined && owner !== id) throw conflict(spec.name, owner, id);
    }
    bound.listen();
    this.#sources.get(id)?.close();
    this.#sources.set(id, bound);
    this.#changed();
  }

  /** Its tools are left out; what the user chose for them stays for when it returns. */
  remove(id: string): void {
    const bound = this.#sources.get(id);
    if (bound === undefined) return;
    bound.close();
    this.#sources.set(id, undefined);
    const gone = [...this.#sources].filter(([, source]) => source === undefined);
    if (gone.length > GONE_SOURCES && gone[0] !== undefined) this.#sources.delete(gone[0][0]);
    this.#changed();
  }

  /**
   * An overlay equal to the present one (sources by identity and order, contributions by value) keeps its revision;
   * its sources are read again. One whose sources cannot be read, or have the same tool, or whose contributions cannot be said, throws and changes nothing.
   */
  setOverlay({ sources: given, contributions = [], base = true }: Overlay): void {
    const overlay: WholeOverlay = { sources: given, contributions, base };
    if (sameOverlay(overlay, this.#overlay)) {
      for (const source of this.#overlaySources) source.readAgain();
      return this.#tellSoon();
    }
    this.#refresh();
    checkContributions(overlay.contributions);
    const sources: BoundSource[] = [];
    try {
      for (const source of overlay.sources) sources.push(this.#bind(source, false));
      refuseConflicts(sources);
      for (const source of sources) source.listen();
    } catch (error) {
      for (const source of sources) source.close();
      throw error;
    }
    for (const source of this.#overlaySources) source.close();
    this.#overlay = {
      ...overlay,
      sources: [...overlay.sources],
      contributions: structuredClone(overlay.contributions),
    };
    this.#overlaySources = sources;
    this.#overlayRevision += 1;
    this.#above = new Layer();
    this.#above.update(sources, this.#wishes);
    this.#tellSoon();
  }

  /** The same object while nothing changed. */
  artifact(): Artifact {
    this.#refresh();
    const key: CatalogKey = {
      includeBase: this.#overlay.base,
      overlayRevision: this.#overlayRevision,
      generation: this.#generation,
      pluginRevision: this.#hooks.fingerprint(),
    };
    const text = `${key.includeBase} ${key.overlayRevision} ${key.generation} ${key.pluginRevision}`;
    const artifact = this.#artifacts.get(text) ?? this.#make(key);
    this.#artifacts.delete(text);
    this.#artifacts.set(text, artifact);
    const [oldest] = this.#artifacts.keys();
    if (this.#artifacts.size > ARTIFACTS && oldest !== undefined) this.#artifacts.delete(oldest);
    return artifact;
  }

  /** A tool that is switched off is not in the catalog; one that is not there now is remembered for when it is. */
  choose(tool: string, enabled: boolean): void {
    if (this.#choices.size >= MOST_CHOICES && !this.#choices.has(tool)) {
      throw new RookeryError("input_too_large", `no more than ${MOST_CHOICES} tools can be switched on and off`);
    }
    this.#choices.set(tool, enabled);
    this.#wishes = { ...this.#wishes };
    this.#changed();
  }

  save(): SavedTools {
    return { generation: this.generation, choices: Object.fromEntries(this.#choices) };
  }

  /** Throws `tools_stale` where the tools changed since it was saved: what was chosen then was chosen among others. */
  restore({ generation, choices }: SavedTools): void {
    if (generation !== this.generation) {
      const what = `the tools were saved at generation ${generation} and are at ${this.#generation}`;
      throw new RookeryError("tools_stale", `${what}; look at the present ones and choose again`);
    }
    this.#choices.clear();
    for (const [tool, enabled] of Object.entries(choices)) this.#choices.set(tool, enabled);
    this.#wishes = { ...this.#wishes };
    this.#changed();
  }

  turnStarted(turn: HookedTurn): Promise<void> {
    return this.#hooks.turnStarted(turn);
  }

  turnEnded(turn: { readonly turnId: string; readonly outcome: string }): Promise<void> {
    return this.#hooks.turnEnded(turn);
  }

  pluginStates(): Promise<PluginStates> {
    return this.#hooks.save();
  }

  restorePlugins(states: PluginStates): Promise<void> {
    return this.#hooks.restore(states);
  }

  /** Told soon after the tools or the overlay really changed, once for changes that come together. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Stops listening to its sources; they belong to whoever added them. */
  [Symbol.dispose](): void {
    for (const source of [...this.#sources.values(), ...this.#overlaySources]) source?.close();
    this.#listeners.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this[Symbol.dispose]());
  }

  /** A plugin's source that cannot be read is named and left out; what two of them bring is for whoever chose them. */
  #addOf(plugin: string, source: ToolSource): void {
    try {
      this.add(source, { always: true });
    } catch (error) {
      if (isRookeryError(error, "tool_conflict")) throw error;
      const message = `the plugin ${plugin} goes without its tools: ${messageOf(error)}`;
      this.#notice({ level: "warning", code: "plugin_failed", message });
    }
  }

  readonly #notice: OnNotice = (notice) => {
    contained(() => this.#options.onNotice?.(notice));
  };

  #bind(source: ToolSource, always: boolean): BoundSource {
    return new BoundSource(source, { always, onNotice: this.#notice, onChange: () => this.#tellSoon() });
  }

  #changed(): void {
    this.#unresolved = true;
    this.#refresh(); // at once: who had a tool first is decided in the order of what happened
    this.#tellSoon();
  }

  #refresh(): void {
    let changed = this.#unresolved;
    const sources = [...this.#sources.values()].filter((source) => source !== undefined);
    for (const source of sources) changed = source.refresh() || changed;
    for (const source of this.#overlaySources) changed = source.refresh() || changed;
    if (!changed) return;
    this.#unresolved = false;
    const base = this.#base.update(sources, this.#wishes);
    const above = this.#above.update(this.#overlaySources, this.#wishes);
    if (base || above) this.#generation += 1;
    const conflicts = new Set([...this.#base.conflicts, ...this.#above.conflicts]);
    const news = [...conflicts].filter((clause) => !this.#said.has(clause));
    this.#said = conflicts;
    if (news.length > 0) this.#notice({ level: "warning", code: "tool_conflict", message: `left out: ${few(news)}` });
  }

  #make(key: CatalogKey): Artifact {
    const { contributions = [], deferOver = DEFER_OVER } = this.#options;
    return makeArtifact({
      key,
      tools: shadowed(this.#overlay.base ? this.#base.tools : [], this.#above.tools),
      contributions: [...contributions, ...this.#hooks.contributions(), ...this.#overlay.contributions],
      deferOver,
      switchedOff: this.#options.switchedOff,
      hooks: this.#hooks,
      onNotice: this.#notice,
    });
  }

  #tellSoon(): void {
    if (this.#telling) return;
    this.#telling = true;
    queueMicrotask(() => {
      this.#telling = false;
      const now = `${this.generation} ${this.#overlayRevision}`;
      if (now === this.#told) return;
      this.#told = now;
      for (const listener of this.#listeners) contained(listener);
    });
  }
}

/** Whoever is told must not break what it is told about. */
function contained(tell: () => void): void {
  try {
    tell();
  } catch {
    // its own defect, with nobody here to hear of it
  }
}

function sameOverlay(a: WholeOverlay, b: WholeOverlay): boolean {
  return a.base === b.base && sameItems(a.sources, b.sources) && sameContributions(a.contributions, b.contributions);
}
