/** Runs plugin hooks. A hook that throws or times out is reported and skipped, and does not affect other plugins. */
import {
  messageOf,
  RookeryError,
  type PromptContribution,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
} from "../domain/index.ts";
import { validatePlugin, type BeforeCall, type HookedTurn, type OnNotice, type Plugin } from "./plugin.ts";
import { checkContributions } from "./prompt.ts";
import { toPlainJson, validateToolResult } from "./tool-result.ts";

const MAX_STATE_CHARACTERS = 1_000_000;

export interface PluginHooksOptions {
  readonly plugins: readonly Plugin[];
  readonly timeoutMs: number;
  readonly onNotice: OnNotice;
}

/** Saved states by plugin id. */
export type PluginStates = Readonly<Record<string, { readonly version: string; readonly state: unknown }>>;

export interface CheckedCall {
  readonly call: ToolCall;
  readonly refused?: string | undefined;
  readonly answer?: ToolResult | undefined;
}

export class PluginHooks {
  readonly plugins: readonly Plugin[];
  readonly #options: Omit<PluginHooksOptions, "plugins">;
  readonly #revisions = new Map<Plugin, number>();
  readonly #reportedErrors = new Map<string, string>();

  constructor(options: PluginHooksOptions) {
    this.plugins = options.plugins.map(validatePlugin);
    const ids = this.plugins.map(({ id }) => id);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice !== undefined)
      throw new RookeryError("plugin_failed", `two plugins have the id "${twice}"; remove one of them`);
    this.#options = options;
  }

  /** Identifies the plugins and their revisions. A plugin whose `revision` fails keeps its last known revision. */
  fingerprint(): string {
    const parts = this.plugins.map((plugin) => {
      try {
        const revision: unknown = plugin.revision?.() ?? 0;
        if (typeof revision !== "number") throw new Error("revision() did not return a number");
        this.#revisions.set(plugin, revision);
      } catch (error) {
        this.#reportOnce(plugin, "revision", error);
      }
      return [plugin.id, plugin.version, this.#revisions.get(plugin) ?? 0];
    });
    return JSON.stringify(parts);
  }

  contributions(): readonly PromptContribution[] {
    return this.plugins.flatMap((plugin) => {
      try {
        const { contributions = [] } = plugin;
        return checkContributions(typeof contributions === "function" ? contributions() : contributions);
      } catch (error) {
        this.#reportOnce(plugin, "contributions", error);
        return [];
      }
    });
  }

  /** Runs the `beforeCall` hooks in order. Rejects with the signal's reason when it fires. */
  async before(given: ToolCall, spec: ToolSpec, signal: AbortSignal): Promise<CheckedCall> {
    let checked: CheckedCall = { call: given };
    for (const plugin of this.plugins) {
      if (plugin.beforeCall === undefined) continue;
      const { call } = checked;
      const ask = (hookSignal: AbortSignal) => plugin.beforeCall?.({ call, spec, signal: hookSignal });
      let answer: BeforeCall | undefined;
      try {
        answer = parseBeforeCall(await runWithTimeout(this.#options.timeoutMs, signal, ask));
      } catch (error) {
        signal.throwIfAborted();
        this.#reportFailure(plugin, "beforeCall", error);
        if (plugin.onFailure === "ignore") continue;
        answer = { refuse: `the plugin ${plugin.id} failed while checking this call: ${messageOf(error)}` };
      }
      if (answer !== undefined) checked = applyBeforeCall(checked, answer);
    }
    return checked;
  }

  /** Runs the `afterCall` hooks, even if the turn is cancelled, because the result is logged in that case too. */
  async after(call: ToolCall, spec: ToolSpec, given: ToolResult): Promise<ToolResult> {
    let result = given;
    for (const plugin of this.plugins) {
      if (plugin.afterCall === undefined) continue;
      const before = result;
      const ask = (hookSignal: AbortSignal) => plugin.afterCall?.({ call, spec, signal: hookSignal }, before);
      try {
        result = parseOptionalResult(await runWithTimeout(this.#options.timeoutMs, undefined, ask)) ?? before;
      } catch (error) {
        this.#reportFailure(plugin, "afterCall", error);
      }
    }
    return result;
  }

  async turnStarted(turn: HookedTurn): Promise<void> {
    await this.#runHook("turnStarted", turn.signal, (plugin, signal) => plugin.turnStarted?.({ ...turn, signal }));
  }

  async turnEnded(turn: { readonly turnId: string; readonly outcome: string }): Promise<void> {
    await this.#runHook("turnEnded", undefined, (plugin, signal) => plugin.turnEnded?.({ ...turn, signal }));
  }

  async save(): Promise<PluginStates> {
    const states: Record<string, { version: string; state: unknown }> = {};
    await this.#runHook("save", undefined, async (plugin, signal) => {
      if (plugin.save === undefined) return;
      const saved: unknown = await plugin.save();
      if (saved === undefined || signal.aborted) return;
      const state = toPlainJson(saved, "its state");
      if (JSON.stringify(state).length > MAX_STATE_CHARACTERS) {
        throw new Error(`its state is longer than ${MAX_STATE_CHARACTERS} characters`);
      }
      states[plugin.id] = { version: plugin.version, state };
    });
    return states;
  }

  async restore(states: PluginStates): Promise<void> {
    await this.#runHook("restore", undefined, (plugin) => {
      const saved = Object.hasOwn(states, plugin.id) ? states[plugin.id] : undefined;
      return saved === undefined ? undefined : plugin.restore?.(saved.state, { version: saved.version });
    });
  }

  /** Runs one hook of all plugins concurrently, so that the total time is at most one timeout. */
  async #runHook(
    hook: string,
    signal: AbortSignal | undefined,
    ask: (plugin: Plugin, signal: AbortSignal) => unknown,
  ): Promise<void> {
    await Promise.all(
      this.plugins.map(async (plugin) => {
        try {
          await runWithTimeout(this.#options.timeoutMs, signal, (hookSignal) => ask(plugin, hookSignal));
        } catch (error) {
          if (signal?.aborted !== true) this.#reportFailure(plugin, hook, error);
        }
      }),
    );
  }

  /** Reports the failure of a hook that is called often. The same error is reported once. */
  #reportOnce(plugin: Plugin, hook: "revision" | "contributions", error: unknown): void {
    const key = `${plugin.id} ${hook}`;
    if (this.#reportedErrors.get(key) === messageOf(error)) return;
    this.#reportedErrors.set(key, messageOf(error));
    this.#reportFailure(plugin, hook, error);
  }

  #reportFailure({ id }: Plugin, hook: string, error: unknown): void {
    const message = `the plugin ${id} failed in ${hook}: ${messageOf(error)}`;
    this.#options.onNotice({ level: "warning", code: "plugin_failed", message });
  }
}

/** Runs `work` with a timeout. Rejects when the time is up or the signal fires, and ignores the later outcome. */
async function runWithTimeout<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const end = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", end, { once: true });
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${ms} ms`)), ms);
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason as Error), { once: true });
  });
  try {
    return await Promise.race([(async () => work(controller.signal))(), aborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

function applyBeforeCall(checked: CheckedCall, answer: BeforeCall): CheckedCall {
  if ("refuse" in answer) return { ...checked, refused: checked.refused ?? answer.refuse };
  if ("answer" in answer) return { ...checked, answer: checked.answer ?? answer.answer };
  return { ...checked, call: { ...checked.call, input: answer.arguments } };
}

/** Validates the return value of `beforeCall`, because a plugin may be plain JavaScript. */
function parseBeforeCall(value: unknown): BeforeCall | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object") {
    if ("refuse" in value && typeof value.refuse === "string") return { refuse: value.refuse };
    if ("answer" in value) {
      const answer = parseOptionalResult(value.answer);
      if (answer !== undefined) return { answer };
    }
    if ("arguments" in value && !("refuse" in value) && !("answer" in value)) {
      return { arguments: toPlainJson(value.arguments, "the replacement arguments") };
    }
  }
  throw new Error("it must return refuse, answer or arguments");
}

/** Returns undefined if the hook returned nothing. */
function parseOptionalResult(value: unknown): ToolResult | undefined {
  return value === undefined || value === null ? undefined : validateToolResult(value);
}
