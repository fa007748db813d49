/** The plugin interface: a plugin contributes tools and prompts, inspects calls before and after, and keeps state. */
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

/** Every hook is optional and may be async. A hook that exceeds the timeout counts as failed; see `onFailure`. */
export interface Plugin {
  readonly id: string;
  readonly version: string;
  /** Must increase when the contributions change. Part of the snapshot key, so it must be cheap. Default: 0. */
  revision?(): number;
  /** Base tools: hidden while an overlay switches the base off. Never deferred. */
  readonly sources?: readonly ToolSource[] | undefined;
  readonly contributions?: readonly PromptContribution[] | (() => readonly PromptContribution[]) | undefined;
  /** Receives the call as earlier plugins left it. Every plugin runs, and the most restrictive answer wins. */
  beforeCall?(call: HookedCall): BeforeCall | undefined | Promise<BeforeCall | undefined>;
  /** Receives the result as earlier plugins left it. Return undefined to keep it. */
  afterCall?(call: HookedCall, result: ToolResult): ToolResult | undefined | Promise<ToolResult | undefined>;
  turnStarted?(turn: HookedTurn): unknown;
  turnEnded?(turn: HookedTurn & { readonly outcome: string }): unknown;
  /** Returns JSON of at most 1 MB. */
  save?(): unknown;
  restore?(state: unknown, saved: { readonly version: string }): unknown;
  /**
   * What happens if `beforeCall` throws or times out. With "refuse", the call is refused, because a broken guard has
   * not approved it. With "ignore", the plugin is skipped. A failure of any other hook is always ignored. Default:
   * "refuse".
   */
  readonly onFailure?: "refuse" | "ignore" | undefined;
}

export interface HookedCall {
  readonly call: ToolCall;
  readonly spec: ToolSpec;
  /** Fires when the hook's time is up and, in `beforeCall`, when the turn is cancelled. */
  readonly signal: AbortSignal;
}

export interface HookedTurn {
  readonly turnId: string;
  readonly signal: AbortSignal;
}

/**
 * Precedence: refuse, answer, arguments. The first refusal and the first answer win; replaced arguments apply in order.
 */
export type BeforeCall =
  | { readonly refuse: string }
  /** Used as the result. The tool does not run, and no permission is requested. */
  | { readonly answer: ToolResult }
  | { readonly arguments: unknown };

/** A warning or hint for people. Nothing stopped because of it. */
export interface ToolNotice {
  readonly level: "info" | "warning";
  readonly code: "tool_conflict" | "tool_left_out" | "source_failed" | "plugin_failed" | "prompt_left_out";
  readonly message: string;
}

export type OnNotice = (notice: ToolNotice) => void;

const HOOKS = ["revision", "beforeCall", "afterCall", "turnStarted", "turnEnded", "save", "restore"] as const;

/**
 * Returns the plugin with its id, version and sources read once, because its getters may throw when they are read again.
 * Throws `plugin_failed` if the value is not a valid plugin. It may come from plain JavaScript.
 */
export function validatePlugin(candidate: unknown): Plugin {
  try {
    checkPlugin(candidate);
    const plugin = candidate as Readonly<Record<keyof Plugin, unknown>>;
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
      /** Read at every use. */
      get contributions() {
        const value = plugin.contributions;
        return typeof value === "function" ? () => bound(value)([]) : value;
      },
    };
    return Object.assign(checked, Object.fromEntries(hooks)) as unknown as Plugin;
  } catch (cause) {
    if (isRookeryError(cause)) throw cause;
    throw new RookeryError("plugin_failed", `cannot read a plugin: ${messageOf(cause)}`, { cause });
  }
}

function checkPlugin(candidate: unknown): void {
  const plugin = (typeof candidate === "object" ? candidate : undefined) as
    { readonly [Key in keyof Plugin]?: unknown } | null;
  const { id, version, sources = [] } = plugin ?? {};
  if (typeof id !== "string" || typeof version !== "string") {
    throw new RookeryError("plugin_failed", "a plugin needs an id and a version; both must be strings");
  }
  const wrong = HOOKS.find((hook) => plugin?.[hook] !== undefined && typeof plugin[hook] !== "function");
  if (wrong !== undefined) throw new RookeryError("plugin_failed", `${wrong} of the plugin ${id} must be a function`);
  if (!Array.isArray(sources)) throw new RookeryError("plugin_failed", `sources of the plugin ${id} must be an array`);
}
