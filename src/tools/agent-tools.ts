/** The tools of one agent in one session: combines its sources, overlay and plugins into a snapshot on demand. */
import {
  isRookeryError,
  messageOf,
  RookeryError,
  type Overlay,
  type PromptContribution,
  type ToolSource,
} from "../domain/index.ts";
import { createToolSnapshot, type ToolSnapshot, type CatalogKey } from "./snapshot.ts";
import { callSafely, ChangeNotifier } from "./change-notifier.ts";
import { toolConflictError, assertNoConflicts } from "./conflict.ts";
import type { ToolFilter } from "./filter.ts";
import { PluginHooks, type PluginStates } from "./hooks.ts";
import { ToolLayer, applyOverlay, type ToolSelection } from "./tool-layer.ts";
import type { HookedTurn, OnNotice, Plugin } from "./plugin.ts";
import { checkContributions, sameContributions } from "./prompt.ts";
import { BoundSource, joinFirst, sameItems } from "./bound-source.ts";

export interface AgentToolsOptions {
  readonly filter?: ToolFilter | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  readonly contributions?: readonly PromptContribution[] | undefined;
  /**
   * Maximum size of all tool definitions, in characters, before tools are deferred to search. `Infinity` disables
   * deferral. Default: 60,000.
   */
  readonly deferOver?: number | undefined;
  /** Disabled tools, with the message that a model gets if it calls one. */
  readonly switchedOff?: ReadonlyMap<string, string> | undefined;
  readonly choices?: ReadonlyMap<string, boolean> | undefined;
  /** Time limit of each plugin hook. Default: 5 s. */
  readonly pluginTimeoutMs?: number | undefined;
  readonly onNotice?: OnNotice | undefined;
}

type ResolvedOverlay = { readonly [Key in keyof Overlay]-?: NonNullable<Overlay[Key]> };

export interface SavedTools {
  readonly generation: number;
  readonly choices: Readonly<Record<string, boolean>>;
}

const DEFAULT_DEFER_OVER = 60_000;
const PLUGIN_TIMEOUT_MS = 5_000;
/** Number of cached snapshots. The least recently used one is evicted first. */
const MAX_CACHED_SNAPSHOTS = 8;
/** Number of removed sources whose position is remembered. The oldest removal is forgotten first. */
const MAX_REMOVED_SOURCES = 1_000;
const MAX_CHOICES = 10_000;
const EMPTY_OVERLAY: ResolvedOverlay = { sources: [], contributions: [], base: true };

export class AgentTools implements Disposable, AsyncDisposable {
  readonly #options: AgentToolsOptions;
  readonly #hooks: PluginHooks;
  readonly #choices: Map<string, boolean>;
  readonly #notifier = new ChangeNotifier(() => `${this.generation} ${this.#overlayRevision}`, "0 0");
  readonly #snapshots = new Map<string, ToolSnapshot>();
  /** In order of registration. A removed source stays as `undefined`, so that it returns to its position. */
  readonly #sources = new Map<string, BoundSource | undefined>();
  #overlay = EMPTY_OVERLAY;
  #overlaySources: readonly BoundSource[] = [];
  #overlayRevision = 0;
  #generation = 0;
  readonly #baseLayer = new ToolLayer();
  #overlayLayer = new ToolLayer();
  #selection: ToolSelection;
  #reportedConflicts: ReadonlySet<string> = new Set();
  #dirty = false;

  /** Throws `tool_conflict` if two plugins provide the same tool, and `plugin_failed` if a plugin is malformed. */
  constructor(options: AgentToolsOptions = {}) {
    const { plugins = [], choices = new Map<string, boolean>(), pluginTimeoutMs = PLUGIN_TIMEOUT_MS } = options;
    this.#options = options;
    this.#choices = new Map(choices);
    this.#selection = { filter: options.filter ?? {}, choices: this.#choices };
    this.#hooks = new PluginHooks({ plugins, timeoutMs: pluginTimeoutMs, onNotice: this.#notice });
    for (const { id, sources = [] } of this.#hooks.plugins)
      for (const source of sources) this.#addPluginSource(id, source);
  }

  /** Increases when a source or a choice changes the resolved tools. Equal tools keep the generation. */
  get generation(): number {
    this.#refresh();
    return this.#generation;
  }

  get choices(): ReadonlyMap<string, boolean> {
    return this.#choices;
  }

  /**
   * Adds a source, or replaces the one with the same id. Throws `tool_conflict` and changes nothing if another source
   * provides a tool of the same name. With `always`, its tools are never deferred.
   */
  add(source: ToolSource, { always = false }: { readonly always?: boolean } = {}): void {
    this.#refresh();
    const bound = this.#bind(source, always);
    const { id } = bound.source;
    for (const { spec } of bound.tools) {
      const owner = this.#baseLayer.ownerOf(spec.name);
      if (owner !== undefined && owner !== id) throw toolConflictError(spec.name, owner, id);
    }
    bound.listen();
    this.#sources.get(id)?.close();
    this.#sources.set(id, bound);
    this.#markChanged();
  }

  /** Removes a source and its tools. The user's choices for these tools apply again if the source returns. */
  remove(id: string): void {
    const bound = this.#sources.get(id);
    if (bound === undefined) return;
    bound.close();
    this.#sources.set(id, undefined);
    const gone = [...this.#sources].filter(([, source]) => source === undefined);
    if (gone.length > MAX_REMOVED_SOURCES && gone[0] !== undefined) this.#sources.delete(gone[0][0]);
    this.#markChanged();
  }

  /**
   * Replaces the overlay. An equal overlay (same sources in the same order, equal contributions) keeps its revision and
   * only reads its sources again. Throws and changes nothing if a source cannot be read, two sources provide the same
   * tool, or a contribution is invalid.
   */
  setOverlay({ sources: overlaySources, contributions = [], base = true }: Overlay): void {
    const overlay: ResolvedOverlay = { sources: overlaySources, contributions, base };
    if (sameOverlay(overlay, this.#overlay)) {
      for (const source of this.#overlaySources) source.markStale();
      return this.#notifier.schedule();
    }
    this.#refresh();
    checkContributions(overlay.contributions);
    const sources: BoundSource[] = [];
    try {
      for (const source of overlay.sources) sources.push(this.#bind(source, false));
      assertNoConflicts(sources);
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
    this.#overlayLayer = new ToolLayer();
    this.#overlayLayer.update(sources, this.#selection);
    this.#notifier.schedule();
  }

  /** Resolves the current tools. Returns the same object until something changes. */
  snapshot(): ToolSnapshot {
    this.#refresh();
    const key: CatalogKey = {
      includeBase: this.#overlay.base,
      overlayRevision: this.#overlayRevision,
      generation: this.#generation,
      pluginRevision: this.#hooks.fingerprint(),
    };
    const text = `${key.includeBase} ${key.overlayRevision} ${key.generation} ${key.pluginRevision}`;
    const snapshot = this.#snapshots.get(text) ?? this.#createSnapshot(key);
    this.#snapshots.delete(text);
    this.#snapshots.set(text, snapshot);
    const [oldest] = this.#snapshots.keys();
    if (this.#snapshots.size > MAX_CACHED_SNAPSHOTS && oldest !== undefined) this.#snapshots.delete(oldest);
    return snapshot;
  }

  /**
   * Enables or disables a tool. The choice also applies to a tool that appears later. Throws `input_too_large` after
   * 10,000 choices.
   */
  choose(tool: string, enabled: boolean): void {
    if (this.#choices.size >= MAX_CHOICES && !this.#choices.has(tool)) {
      throw new RookeryError("input_too_large", `cannot keep more than ${MAX_CHOICES} tool choices`);
    }
    this.#choices.set(tool, enabled);
    this.#selection = { ...this.#selection };
    this.#markChanged();
  }

  save(): SavedTools {
    return { generation: this.generation, choices: Object.fromEntries(this.#choices) };
  }

  /**
   * Restores saved choices. Throws `tools_stale` if the tools have changed since `save`, because the user chose among
   * other tools.
   */
  restore({ generation, choices }: SavedTools): void {
    if (generation !== this.generation) {
      const what = `the tools were saved at generation ${generation} but are now at ${this.#generation}`;
      throw new RookeryError("tools_stale", `${what}; read the current tools and choose again`);
    }
    this.#choices.clear();
    for (const [tool, enabled] of Object.entries(choices)) this.#choices.set(tool, enabled);
    this.#selection = { ...this.#selection };
    this.#markChanged();
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

  /**
   * Calls the listener after the tools or the overlay changed, once per batch of changes. Returns a function that
   * unsubscribes.
   */
  onChange(listener: () => void): () => void {
    return this.#notifier.add(listener);
  }

  /** Unsubscribes from all sources. The caller that added them still owns them. */
  [Symbol.dispose](): void {
    for (const source of [...this.#sources.values(), ...this.#overlaySources]) source?.close();
    this.#notifier.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this[Symbol.dispose]());
  }

  /** Adds a source of a plugin. An unreadable source is reported and skipped; a conflict between plugins is thrown. */
  #addPluginSource(plugin: string, source: ToolSource): void {
    try {
      this.add(source, { always: true });
    } catch (error) {
      if (isRookeryError(error, "tool_conflict")) throw error;
      const message = `the plugin ${plugin} runs without its tools: ${messageOf(error)}`;
      this.#notice({ level: "warning", code: "plugin_failed", message });
    }
  }

  readonly #notice: OnNotice = (notice) => {
    callSafely(() => this.#options.onNotice?.(notice));
  };

  #bind(source: ToolSource, always: boolean): BoundSource {
    return new BoundSource(source, { always, onNotice: this.#notice, onChange: () => this.#notifier.schedule() });
  }

  #markChanged(): void {
    this.#dirty = true;
    this.#refresh(); // immediately, because the first source that provides a tool keeps it
    this.#notifier.schedule();
  }

  #refresh(): void {
    let changed = this.#dirty;
    const sources = [...this.#sources.values()].filter((source) => source !== undefined);
    for (const source of sources) changed = source.refresh() || changed;
    for (const source of this.#overlaySources) changed = source.refresh() || changed;
    if (!changed) return;
    this.#dirty = false;
    const baseChanged = this.#baseLayer.update(sources, this.#selection);
    const overlayChanged = this.#overlayLayer.update(this.#overlaySources, this.#selection);
    if (baseChanged || overlayChanged) this.#generation += 1;
    const conflicts = new Set([...this.#baseLayer.conflicts, ...this.#overlayLayer.conflicts]);
    const newConflicts = [...conflicts].filter((clause) => !this.#reportedConflicts.has(clause));
    this.#reportedConflicts = conflicts;
    if (newConflicts.length > 0)
      this.#notice({ level: "warning", code: "tool_conflict", message: `skipped tools: ${joinFirst(newConflicts)}` });
  }

  #createSnapshot(key: CatalogKey): ToolSnapshot {
    const { contributions = [], deferOver = DEFAULT_DEFER_OVER } = this.#options;
    return createToolSnapshot({
      key,
      tools: applyOverlay(this.#overlay.base ? this.#baseLayer.tools : [], this.#overlayLayer.tools),
      contributions: [...contributions, ...this.#hooks.contributions(), ...this.#overlay.contributions],
      deferOver,
      switchedOff: this.#options.switchedOff,
      hooks: this.#hooks,
      onNotice: this.#notice,
    });
  }
}

function sameOverlay(a: ResolvedOverlay, b: ResolvedOverlay): boolean {
  return a.base === b.base && sameItems(a.sources, b.sources) && sameContributions(a.contributions, b.contributions);
}
