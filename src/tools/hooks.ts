/** Asks plugins, and lets none of them hurt more than its own answer: one that throws or hangs is named and passed over. */
import {
  messageOf,
  RookeryError,
  type PromptContribution,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
} from "../domain/index.ts";
import { checkedPlugin, type BeforeCall, type HookedTurn, type OnNotice, type Plugin } from "./plugin.ts";
import { checkContributions } from "./prompt.ts";
import { checkedResult, plainJson } from "./result.ts";

const STATE_CHARACTERS = 1_000_000;

export interface HooksOptions {
  readonly plugins: readonly Plugin[];
  readonly timeoutMs: number;
  readonly onNotice: OnNotice;
}

/** By plugin. */
export type PluginStates = Readonly<Record<string, { readonly version: string; readonly state: unknown }>>;

export interface Asked {
  readonly call: ToolCall;
  readonly refused?: string | undefined;
  readonly answer?: ToolResult | undefined;
}

export class Hooks {
  readonly plugins: readonly Plugin[];
  readonly #options: Omit<HooksOptions, "plugins">;
  readonly #revisions = new Map<Plugin, number>();
  readonly #said = new Map<string, string>();

  constructor(options: HooksOptions) {
    this.plugins = options.plugins.map(checkedPlugin);
    const ids = this.plugins.map(({ id }) => id);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice !== undefined) throw new RookeryError("plugin_failed", `there are two plugins "${twice}"; keep one`);
    this.#options = options;
  }

  /** One whose revision cannot be read is as it was. */
  fingerprint(): string {
    const parts = this.plugins.map((plugin) => {
      try {
        const revision: unknown = plugin.revision?.() ?? 0;
        if (typeof revision !== "number") throw new Error(`its revision is not a number`);
        this.#revisions.set(plugin, revision);
      } catch (error) {
        this.#failedAgain(plugin, "revision", error);
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
        this.#failedAgain(plugin, "contributions", error);
        return [];
      }
    });
  }

  /** Rejects with the signal's reason when it fires. */
  async before(given: ToolCall, spec: ToolSpec, signal: AbortSignal): Promise<Asked> {
    let asked: Asked = { call: given };
    for (const plugin of this.plugins) {
      if (plugin.beforeCall === undefined) continue;
      const { call } = asked;
      const ask = (its: AbortSignal) => plugin.beforeCall?.({ call, spec, signal: its });
      let said: BeforeCall | undefined;
      try {
        said = checkedAnswer(await within(this.#options.timeoutMs, signal, ask));
      } catch (error) {
        signal.throwIfAborted();
        this.#failed(plugin, "beforeCall", error);
        if (plugin.onFailure === "ignore") continue;
        said = { refuse: `the plugin ${plugin.id}, which looks at calls before they run, failed: ${messageOf(error)}` };
      }
      if (said !== undefined) asked = restricted(asked, said);
    }
    return asked;
  }

  /** Also when the turn was cancelled: what came of the call is logged then too, and should be as plugins want it. */
  async after(call: ToolCall, spec: ToolSpec, given: ToolResult): Promise<ToolResult> {
    let result = given;
    for (const plugin of this.plugins) {
      if (plugin.afterCall === undefined) continue;
      const before = result;
      const ask = (its: AbortSignal) => plugin.afterCall?.({ call, spec, signal: its }, before);
      try {
        result = resultIn(await within(this.#options.timeoutMs, undefined, ask)) ?? before;
      } catch (error) {
        this.#failed(plugin, "afterCall", error);
      }
    }
    return result;
  }

  async turnStarted(turn: HookedTurn): Promise<void> {
    await this.#each("turnStarted", turn.signal, (plugin, signal) => plugin.turnStarted?.({ ...turn, signal }));
  }

  async turnEnded(turn: { readonly turnId: string; readonly outcome: string }): Promise<void> {
    await this.#each("turnEnded", undefined, (plugin, signal) => plugin.turnEnded?.({ ...turn, signal }));
  }

  async save(): Promise<PluginStates> {
    const states: Record<string, { version: string; state: unknown }> = {};
    await this.#each("save", undefined, async (plugin, signal) => {
      if (plugin.save === undefined) return;
      const saved: unknown = await plugin.save();
      if (saved === undefined || signal.aborted) return;
      const state = plainJson(saved, "its state");
      if (JSON.stringify(state).length > STATE_CHARACTERS) {
        throw new Error(`its state is longer than ${STATE_CHARACTERS} characters`);
      }
      states[plugin.id] = { version: plugin.version, state };
    });
    return states;
  }

  async restore(states: PluginStates): Promise<void> {
    await this.#each("restore", undefined, (plugin) => {
      const saved = Object.hasOwn(states, plugin.id) ? states[plugin.id] : undefined;
      return saved === undefined ? undefined : plugin.restore?.(saved.state, { version: saved.version });
    });
  }

  /** Beside each other: together they take no longer than one of them may. */
  async #each(
    hook: string,
    signal: AbortSignal | undefined,
    ask: (plugin: Plugin, signal: AbortSignal) => unknown,
  ): Promise<void> {
    await Promise.all(
      this.plugins.map(async (plugin) => {
        try {
          await within(this.#options.timeoutMs, signal, (its) => ask(plugin, its));
        } catch (error) {
          if (signal?.aborted !== true) this.#failed(plugin, hook, error);
        }
      }),
    );
  }

  /** For what is asked whenever someone looks: said once, until it is something else. */
  #failedAgain(plugin: Plugin, hook: "revision" | "contributions", error: unknown): void {
    const key = `${plugin.id} ${hook}`;
    if (this.#said.get(key) === messageOf(error)) return;
    this.#said.set(key, messageOf(error));
    this.#failed(plugin, hook, error);
  }

  #failed({ id }: Plugin, hook: string, error: unknown): void {
    const message = `the plugin ${id} failed in ${hook}: ${messageOf(error)}`;
    this.#options.onNotice({ level: "warning", code: "plugin_failed", message });
  }
}

/** Rejects when the time is over or the signal fires; whatever comes later is dropped. */
async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const over = new AbortController();
  const end = () => over.abort(signal?.reason);
  signal?.addEventListener("abort", end, { once: true });
  const timer = setTimeout(() => over.abort(new Error(`no answer within ${ms} ms`)), ms);
  const given = new Promise<never>((_, reject) => {
    over.signal.addEventListener("abort", () => reject(over.signal.reason as Error), { once: true });
  });
  try {
    return await Promise.race([(async () => work(over.signal))(), given]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

function restricted(asked: Asked, said: BeforeCall): Asked {
  if ("refuse" in said) return { ...asked, refused: asked.refused ?? said.refuse };
  if ("answer" in said) return { ...asked, answer: asked.answer ?? said.answer };
  return { ...asked, call: { ...asked.call, input: said.arguments } };
}

/** A plugin may be plain JavaScript: what it says is looked at. */
function checkedAnswer(said: unknown): BeforeCall | undefined {
  if (said === undefined || said === null) return undefined;
  if (typeof said === "object") {
    if ("refuse" in said && typeof said.refuse === "string") return { refuse: said.refuse };
    if ("answer" in said) {
      const answer = resultIn(said.answer);
      if (answer !== undefined) return { answer };
    }
    if ("arguments" in said && !("refuse" in said) && !("answer" in said)) {
      return { arguments: plainJson(said.arguments, "what it gives as arguments") };
    }
  }
  throw new Error("its answer is none of refuse, answer and arguments");
}

/** Undefined where it says nothing. */
function resultIn(said: unknown): ToolResult | undefined {
  return said === undefined || said === null ? undefined : checkedResult(said);
}
