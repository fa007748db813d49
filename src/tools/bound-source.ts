/** One tool source of an agent: caches the tools that it listed and knows when to list them again. */
import { messageOf, RookeryError, type ToolSource, type ToolSpec } from "../domain/index.ts";
import { listSourceTools } from "./validate-source.ts";
import { readDefinitions, type ToolDefinition } from "./tool-definition.ts";
import type { OnNotice } from "./plugin.ts";

const MAX_NAMED_IN_NOTICE = 5;

/** A tool definition together with its source. */
export interface BoundTool extends ToolDefinition {
  readonly source: ToolSource;
  /** Never deferred to search. */
  readonly always: boolean;
}

export interface BoundSourceOptions {
  readonly always: boolean;
  readonly onNotice: OnNotice;
  /** Called when the source reports a change of its list. */
  readonly onChange: () => void;
}

export class BoundSource {
  readonly source: ToolSource;
  tools: readonly BoundTool[] = [];
  readonly #options: BoundSourceOptions;
  #list: readonly ToolSpec[] | undefined;
  #stale = true;
  #lastNotice = "";
  #unsubscribe: (() => void) | undefined;

  /**
   * Reads the source immediately. Throws `input_invalid` if it has no id and `internal` if it cannot list its tools.
   */
  constructor(source: ToolSource, options: BoundSourceOptions) {
    this.source = withFixedId(source);
    this.#options = options;
    try {
      this.#read();
    } catch (error) {
      throw new RookeryError("internal", `cannot list the tools of ${this.source.id}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** Subscribes to changes. A source without change events is read on every refresh. */
  listen(): void {
    try {
      const unsubscribe: unknown = this.source.onChange?.(() => {
        this.#stale = true;
        this.#options.onChange();
      });
      if (typeof unsubscribe === "function") this.#unsubscribe ??= unsubscribe as () => void;
    } catch (error) {
      this.#notifyOnce("source_failed", `cannot subscribe to tool changes of ${this.source.id}: ${messageOf(error)}`);
    }
  }

  markStale(): void {
    this.#stale = true;
  }

  /** Reads the source again if needed. Returns whether its tools changed. If reading fails, the previous tools stay. */
  refresh(): boolean {
    if (!this.#stale && this.#unsubscribe !== undefined) return false;
    const before = this.tools;
    try {
      this.#read();
    } catch (error) {
      this.#notifyOnce(
        "source_failed",
        `cannot list the tools of ${this.source.id}; keeping its previous tools: ${messageOf(error)}`,
      );
    }
    return before !== this.tools;
  }

  close(): void {
    const unsubscribe = this.#unsubscribe;
    this.#unsubscribe = undefined;
    try {
      unsubscribe?.();
    } catch (error) {
      this.#notifyOnce(
        "source_failed",
        `cannot unsubscribe from tool changes of ${this.source.id}: ${messageOf(error)}`,
      );
    }
  }

  #read(): void {
    const { source } = this;
    const { always } = this.#options;
    this.#stale = false; // first, because the source may change while it is read
    const list = listSourceTools(source);
    if (sameItems(list, this.#list)) return;
    const { taken, leftOut } = readDefinitions(list, this.tools);
    const old = new Map(this.tools.map((bound) => [bound.text, bound]));
    const now = taken.map((offer) => old.get(offer.text) ?? { ...offer, source, always });
    this.#list = [...list]; // a copy, because the source may modify its array
    if (!sameItems(now, this.tools)) this.tools = now;
    this.#notifyOnce(
      "tool_left_out",
      leftOut.length === 0 ? "" : `skipped tools of ${source.id}: ${joinFirst(leftOut)}`,
    );
  }

  /** Reports a message unless it is the same as the last one. */
  #notifyOnce(code: "tool_left_out" | "source_failed", message: string): void {
    if (message !== "" && message !== this.#lastNotice) this.#options.onNotice({ level: "warning", code, message });
    this.#lastNotice = message;
  }
}

/** Reads the id once, because a getter may throw or return something else when it is read again. */
function withFixedId(source: ToolSource): ToolSource {
  const id = readId(source);
  if (id === undefined) throw new RookeryError("input_invalid", "a tool source needs an id; it must be a string");
  return {
    id,
    list: () => source.list(),
    describe: (call) => source.describe(call),
    preview: async (call, context) => (await source.preview?.(call, context)) ?? {},
    call: (call, context) => source.call(call, context),
    onChange: (listener) => source.onChange?.(listener) as () => void,
  };
}

function readId(source: ToolSource): string | undefined {
  try {
    const id: unknown = source.id;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

export function sameItems<T>(a: readonly T[], b: readonly T[] | undefined): boolean {
  return a.length === b?.length && a.every((item, index) => item === b[index]);
}

export function joinFirst(clauses: readonly string[]): string {
  const more = clauses.length - MAX_NAMED_IN_NOTICE;
  return clauses.slice(0, MAX_NAMED_IN_NOTICE).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
