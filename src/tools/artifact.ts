/** What an agent can do at one moment: the catalog, what the model is told of it, and the way to call it, from one reading. */
import type { ToolCall, ToolContext, ToolDescription, ToolResult, ToolSpec } from "../domain/index.ts";

export interface CatalogKey {
  readonly includeBase: boolean;
  readonly overlayRevision: number;
  readonly generation: number;
  /** (id, version, revision) of every plugin, in order. */
  readonly pluginRevision: string;
}

/** Never changes. A call of a tool that went away since still goes to its source, which says so. */
export interface Artifact {
  readonly key: CatalogKey;
  /** Everything that can be called, also what is only found by searching. */
  readonly catalog: ReadonlyMap<string, ToolSpec>;
  /** The prompt contributions, as text. */
  readonly preamble: string;
  /** What a model is told: without deferred tools, and with the search-and-call pair where there are some. */
  readonly definitions: readonly ToolSpec[];
  /** Never throws. */
  describe(call: ToolCall): ToolDescription;
  /** Asks the plugins; runs nothing. Rejects with the signal's reason when it fires, and for nothing else. */
  prepare(call: ToolCall, options: { readonly signal: AbortSignal }): Promise<PreparedCall>;
}

/** What came of looking at a call: plugins have seen it, and one through the search-and-call pair is the real one. */
export type PreparedCall = RunnableCall | SettledCall;

export interface RunnableCall {
  readonly kind: "run";
  readonly spec: ToolSpec;
  /** With the arguments that plugins replaced. */
  readonly call: ToolCall;
  readonly description: ToolDescription;
  /** With what plugins made of the result. Rejects only where the context did: a broken log is nobody's outcome. */
  run(context: ToolContext): Promise<ToolResult>;
}

/** An unknown tool, or one that a plugin refused or answered for. */
export interface SettledCall {
  readonly kind: "settled";
  readonly spec: ToolSpec | undefined;
  readonly call: ToolCall;
  readonly description: ToolDescription;
  readonly result: ToolResult;
}
