/** The tools of one agent in one session: its sources, its overlay and its plugins, resolved when someone looks. */
import type { ToolSource } from "../domain/index.ts";
import type { Artifact } from "./artifact.ts";
import type { ToolFilter } from "./filter.ts";
import type { HookedTurn, OnNotice, Plugin } from "./plugin.ts";
import type { PromptContribution } from "./prompt.ts";

export interface AgentToolsOptions {
  readonly filter?: ToolFilter | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  readonly contributions?: readonly PromptContribution[] | undefined;
  /** Characters of definitions past which tools are found by searching; `Infinity`: never. */
  readonly deferOver?: number | undefined;
  readonly choices?: ReadonlyMap<string, boolean> | undefined;
  /** How long a plugin may think. */
  readonly pluginTimeoutMs?: number | undefined;
  readonly onNotice?: OnNotice | undefined;
}

/** Extends one session: its tools shadow base tools of the same name. */
export interface Overlay {
  readonly sources: readonly ToolSource[];
  readonly contributions: readonly PromptContribution[];
  /** Whether base tools, those of plugins too, stay beside its own. */
  readonly base: boolean;
}

export interface SavedTools {
  readonly generation: number;
  readonly choices: Readonly<Record<string, boolean>>;
}

/** By plugin. */
export type PluginStates = Readonly<Record<string, { readonly version: string; readonly state: unknown }>>;

export declare class AgentTools implements Disposable, AsyncDisposable {
  constructor(options?: AgentToolsOptions);
  get generation(): number;
  get choices(): ReadonlyMap<string, boolean>;
  add(source: ToolSource, options?: { readonly always?: boolean }): void;
  remove(id: string): void;
  setOverlay(overlay: Overlay): void;
  artifact(): Artifact;
  choose(tool: string, enabled: boolean): void;
  save(): SavedTools;
  restore(saved: SavedTools): void;
  turnStarted(turn: HookedTurn): Promise<void>;
  turnEnded(turn: HookedTurn & { readonly outcome: string }): Promise<void>;
  pluginStates(): Promise<PluginStates>;
  restorePlugins(states: PluginStates): Promise<void>;
  onChange(listener: () => void): () => void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}
