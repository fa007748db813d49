/** One source as an agent has it: what it offered when it was last read, and whether to read it again. */
import { messageOf, RookeryError, type ToolSource, type ToolSpec } from "../domain/index.ts";
import { checkedList } from "./checked.ts";
import { readOffers, type Offer } from "./offer.ts";
import type { OnNotice } from "./plugin.ts";

const NAMED_IN_A_NOTICE = 5;

/** A tool with who has it. */
export interface Bound extends Offer {
  readonly source: ToolSource;
  /** Told to the model however large the catalog is. */
  readonly always: boolean;
}

export interface BoundSourceOptions {
  readonly always: boolean;
  readonly onNotice: OnNotice;
  /** The source says that its list changed. */
  readonly onChange: () => void;
}

export class BoundSource {
  readonly source: ToolSource;
  tools: readonly Bound[] = [];
  readonly #options: BoundSourceOptions;
  #list: readonly ToolSpec[] | undefined;
  #stale = true;
  #said = "";
  #stop: (() => void) | undefined;

  /** Reads it at once, and throws where it cannot be read. */
  constructor(source: ToolSource, options: BoundSourceOptions) {
    this.source = viewOf(source);
    this.#options = options;
    try {
      this.#read();
    } catch (error) {
      throw new RookeryError("internal", `${this.source.id} cannot say its tools: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** From now on it is read again when it says so; one that never says so is read each time. */
  listen(): void {
    try {
      const stop: unknown = this.source.onChange?.(() => {
        this.#stale = true;
        this.#options.onChange();
      });
      if (typeof stop === "function") this.#stop ??= stop as () => void;
    } catch (error) {
      this.#say("source_failed", `${this.source.id} cannot say when its tools change: ${messageOf(error)}`);
    }
  }

  readAgain(): void {
    this.#stale = true;
  }

  /** Answers whether its tools are others now. One that cannot be read has the tools that it had. */
  refresh(): boolean {
    if (!this.#stale && this.#stop !== undefined) return false;
    const before = this.tools;
    try {
      this.#read();
    } catch (error) {
      this.#say("source_failed", `${this.source.id} cannot say its tools and keeps those it had: ${messageOf(error)}`);
    }
    return before !== this.tools;
  }

  close(): void {
    const stop = this.#stop;
    this.#stop = undefined;
    try {
      stop?.();
    } catch (error) {
      this.#say("source_failed", `${this.source.id} cannot stop telling of its tools: ${messageOf(error)}`);
    }
  }

  #read(): void {
    const { source } = this;
    const { always } = this.#options;
    this.#stale = false; // before it is read: it may change meanwhile, and say so
    const list = checkedList(source);
    if (sameItems(list, this.#list)) return;
    const { taken, leftOut } = readOffers(list, this.tools);
    const old = new Map(this.tools.map((bound) => [bound.text, bound]));
    const now = taken.map((offer) => old.get(offer.text) ?? { ...offer, source, always });
    this.#list = [...list]; // the source may go on with its own
    if (!sameItems(now, this.tools)) this.tools = now;
    this.#say("tool_left_out", leftOut.length === 0 ? "" : `left out of ${source.id}: ${few(leftOut)}`);
  }

  /** Once, until there is something else to say. */
  #say(code: "tool_left_out" | "source_failed", message: string): void {
    if (message !== "" && message !== this.#said) this.#options.onNotice({ level: "warning", code, message });
    this.#said = message;
  }
}

/** The source with its id read once: a getter may throw, or return something else, when it is read again. */
function viewOf(source: ToolSource): ToolSource {
  const id = readId(source);
  if (id === undefined) throw new RookeryError("input_invalid", "a source of tools has no id: give it one, as text");
  return {
    id,
    list: () => source.list(),
    describe: (call) => source.describe(call),
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

export function few(clauses: readonly string[]): string {
  const more = clauses.length - NAMED_IN_A_NOTICE;
  return clauses.slice(0, NAMED_IN_A_NOTICE).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
