/** What a plugin may do: contribute tools and prompts, look at calls before and after, and keep a state. */
import {
  isRookeryError,
  messageOf,
  RookeryError,
  type PromptContribution,
  type ToolCall,
  type ToolResult,
  type ToolSource,
  type ToolSpec,
} from "../domain/index.ts";

/** Every hook may be left out, may be async, and is given up after a time; see `onFailure`. */
export interface Plugin {
  readonly id: string;
  readonly version: string;
  /** Goes up when its contributions are others than before; part of the key of an artifact. Must be cheap. */
  revision?(): number;
  /** Base tools: gone while an overlay has the base off. Told to the model however large the catalog is. */
  readonly sources?: readonly ToolSource[] | undefined;
  readonly contributions?: readonly PromptContribution[] | (() => readonly PromptContribution[]) | undefined;
  /** Sees a call as the plugins before it left it. All plugins see it, and the more restrictive answer wins. */
  beforeCall?(call: HookedCall): BeforeCall | undefined | Promise<BeforeCall | undefined>;
  /** Sees the result as the plugins before it left it; nothing returned leaves it so. */
  afterCall?(call: HookedCall, result: ToolResult): ToolResult | undefined | Promise<ToolResult | undefined>;
  turnStarted?(turn: HookedTurn): unknown;
  turnEnded?(turn: HookedTurn & { readonly outcome: string }): unknown;
  /** JSON, no larger than 1 MB. */
  save?(): unknown;
  restore?(state: unknown, saved: { readonly version: string }): unknown;
  /**
   * What a `beforeCall` that throws or hangs means. "refuse" where left out: a guard that broke has not agreed, and a
   * call that it would have stopped cannot be taken back. Any other hook that fails counts as if it had said nothing.
   */
  readonly onFailure?: "refuse" | "ignore" | undefined;
}

export interface HookedCall {
  readonly call: ToolCall;
  readonly spec: ToolSpec;
  /** Fires when the plugin's time is over and, before a call, when the turn is cancelled. */
  readonly signal: AbortSignal;
}

export interface HookedTurn {
  readonly turnId: string;
  readonly signal: AbortSignal;
}

/** refuse > answer > arguments. The first refusal and the first answer count; replaced arguments add up in order. */
export type BeforeCall =
  | { readonly refuse: string }
  /** In the tool's place, and without permission being asked: nothing runs. */
  | { readonly answer: ToolResult }
  | { readonly arguments: unknown };

/** Something that a person should know and that stopped nothing. */
export interface ToolNotice {
  readonly level: "info" | "warning";
  readonly code: "tool_conflict" | "tool_left_out" | "source_failed" | "plugin_failed" | "prompt_left_out";
  readonly message: string;
}

export type OnNotice = (notice: ToolNotice) => void;

const HOOKS = ["revision", "beforeCall", "afterCall", "turnStarted", "turnEnded", "save", "restore"] as const;

/**
 * The plugin with its id, version and sources read once: it may be plain JavaScript, or have getters that throw later.
 * Throws `plugin_failed` if it is no plugin.
 */
export function checkedPlugin(given: unknown): Plugin {
  try {
    checkPlugin(given);
    const plugin = given as Readonly<Record<keyof Plugin, unknown>>;
    const { id, version, sources = [], onFailure } = plugin;
    const bound = (value: unknown) => (args: unknown[]) =>
      Reflect.apply(value as () => unknown, plugin, args) as unknown;
    const hooks = HOOKS.filter((hook) => plugin[hook] !== undefined).map((hook) => {
      return [hook, (...args: unknown[]) => bound(plugin[hook])(args)] as const;
    });
    const checked: Readonly<Record<string, unknown>> = {
      id,
      version,
      sources: Array.from(sources as unknown[]),
      onFailure,
      /** Read each time. */
      get contributions() {
        const value = plugin.contributions;
        return typeof value === "function" ? () => bound(value)([]) : value;
      },
    };
    return Object.assign(checked, Object.fromEntries(hooks)) as unknown as Plugin;
  } catch (cause) {
    if (isRookeryError(cause)) throw cause;
    throw new RookeryError("plugin_failed", `a plugin cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function checkPlugin(given: unknown): void {
  const plugin = (typeof given === "object" ? given : undefined) as { readonly [Key in keyof Plugin]?: unknown } | null;
  const { id, version, sources = [] } = plugin ?? {};
  if (typeof id !== "string" || typeof version !== "string") {
    throw new RookeryError("plugin_failed", "a plugin has no id or no version: give it both, as text");
  }
  const wrong = HOOKS.find((hook) => plugin?.[hook] !== undefined && typeof plugin[hook] !== "function");
  if (wrong !== undefined) throw new RookeryError("plugin_failed", `${wrong} of the plugin ${id} is not a function`);
  if (!Array.isArray(sources)) throw new RookeryError("plugin_failed", `sources of the plugin ${id} is not an array`);
}
