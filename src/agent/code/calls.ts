/** The calls of one program: begun in the order in which it made them, and given back to it in the same order. */
import { messageOf, type ToolResult, type ToolSpec } from "../../domain/index.ts";
import { MOST_CALL_CHARACTERS } from "./limits.ts";
import type { ToProgram } from "./messages.ts";

export interface CallsOptions {
  /** Of the tools that a program may call. */
  readonly specs: ReadonlyMap<string, ToolSpec>;
  /** Rejects for a cancelled turn or a broken log only. */
  call(name: string, input: unknown): Promise<ToolResult>;
  give(result: ToProgram): void;
  /** A call was rejected: nothing more can be done for the program. */
  broke(error: unknown): void;
}

interface Asked {
  readonly id: number;
  readonly name: string;
  readonly input: string;
}

/** At once; the others wait. */
const MOST_AT_ONCE = 8;

/**
 * A program that is run again must do the same again, so what it is given must not depend on which call was quicker: a
 * result waits for those of all calls before it. What changes something runs alone, as in a reply of the model.
 */
export class Calls {
  readonly #options: CallsOptions;
  readonly #asked: Asked[] = [];
  readonly #running = new Map<number, Asked>();
  readonly #done = new Map<number, string>();
  readonly #idle: (() => void)[] = [];
  #given = 0;
  #isClosed = false;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** How many have begun. */
  get begun(): number {
    return this.#given + this.#done.size + this.#running.size;
  }

  /** Does the program wait for one? */
  get isWaitedFor(): boolean {
    return this.#asked.length + this.#running.size > 0;
  }

  ask(asked: Asked): void {
    if (this.#isClosed) return;
    this.#asked.push(asked);
    this.#begin();
  }

  /** None begins any more. Resolves when those that run have come to something. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#asked.length = 0;
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #begin(): void {
    for (let next = this.#asked[0]; next !== undefined && this.#fits(next); next = this.#asked[0]) {
      this.#asked.shift();
      this.#running.set(next.id, next);
      this.#run(next).catch((error: unknown) => this.#options.broke(error));
    }
  }

  async #run(asked: Asked): Promise<void> {
    try {
      this.#done.set(asked.id, resultText(asked.name, await this.#options.call(asked.name, JSON.parse(asked.input))));
    } finally {
      this.#running.delete(asked.id);
      if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
    if (this.#isClosed) return;
    this.#begin();
    this.#give();
  }

  #give(): void {
    for (let result = this.#done.get(this.#given); result !== undefined; result = this.#done.get(this.#given)) {
      const id = this.#given;
      this.#done.delete(id);
      this.#given += 1;
      this.#options.give({ id, result });
    }
  }

  #fits({ name }: Asked): boolean {
    const running = [...this.#running.values()];
    if (running.length === 0) return true;
    return running.length < MOST_AT_ONCE && this.#isShared(name) && running.every((one) => this.#isShared(one.name));
  }

  #isShared(name: string): boolean {
    const spec = this.#options.specs.get(name);
    return spec?.concurrent ?? spec?.readOnly ?? false;
  }
}

/** What a program sees of a result. */
function resultText(name: string, { outcome, text, structured }: ToolResult): string {
  const whole = asJson({ outcome, text, structured });
  if (whole.length <= MOST_CALL_CHARACTERS) return whole;
  const words = `${name} was run (${outcome}), but what it gave back is too long for a program: ${whole.length} characters`;
  return asJson({ outcome: "failed", text: words });
}

function asJson(result: ToolResult): string {
  try {
    return JSON.stringify(result);
  } catch (error) {
    return JSON.stringify({ outcome: "failed", text: `its result is no JSON: ${messageOf(error)}` });
  }
}
