/** Runs the tool calls of one program: starts them and delivers their results in the order of the calls. */
import { messageOf, type ToolResult, type ToolSpec } from "../../domain/index.ts";
import { MAX_CALL_LENGTH } from "./code-limits.ts";
import type { CallResultMessage } from "./thread-messages.ts";

export interface ProgramCallsOptions {
  /** The tools that a program may call, by name. */
  readonly specs: ReadonlyMap<string, ToolSpec>;
  /** Rejects only for a cancelled turn or a broken log. */
  call(name: string, input: unknown): Promise<ToolResult>;
  deliverResult(result: CallResultMessage): void;
  /** Called if a call rejects. The program cannot continue. */
  fail(error: unknown): void;
}

interface RequestedCall {
  readonly id: number;
  readonly name: string;
  readonly input: string;
}

/** Maximum number of concurrent calls. The others wait. */
const MAX_CONCURRENT = 8;

/**
 * A program that runs again must behave the same, so results must not depend on which call was faster: each result
 * waits for those of all earlier calls. A call that is not concurrent runs alone, as in a reply of the model.
 */
export class ProgramCalls {
  readonly #options: ProgramCallsOptions;
  readonly #waiting: RequestedCall[] = [];
  readonly #running = new Map<number, RequestedCall>();
  readonly #done = new Map<number, string>();
  readonly #idle: (() => void)[] = [];
  #delivered = 0;
  #isClosed = false;

  constructor(options: ProgramCallsOptions) {
    this.#options = options;
  }

  /** Number of calls that have started. */
  get startedCount(): number {
    return this.#delivered + this.#done.size + this.#running.size;
  }

  /** Whether a call is waiting or running. */
  get hasUnfinished(): boolean {
    return this.#waiting.length + this.#running.size > 0;
  }

  request(call: RequestedCall): void {
    if (this.#isClosed) return;
    this.#waiting.push(call);
    this.#startWaiting();
  }

  /** Starts no further calls. Resolves when the running ones have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #startWaiting(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#canStart(next); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#running.set(next.id, next);
      this.#run(next).catch((error: unknown) => this.#options.fail(error));
    }
  }

  async #run(call: RequestedCall): Promise<void> {
    try {
      this.#done.set(call.id, encodeResult(call.name, await this.#options.call(call.name, JSON.parse(call.input))));
    } finally {
      this.#running.delete(call.id);
      if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
    if (this.#isClosed) return;
    this.#startWaiting();
    this.#deliver();
  }

  #deliver(): void {
    for (let result = this.#done.get(this.#delivered); result !== undefined; result = this.#done.get(this.#delivered)) {
      const id = this.#delivered;
      this.#done.delete(id);
      this.#delivered += 1;
      this.#options.deliverResult({ id, result });
    }
  }

  #canStart({ name }: RequestedCall): boolean {
    const running = [...this.#running.values()];
    if (running.length === 0) return true;
    return (
      running.length < MAX_CONCURRENT &&
      this.#isConcurrent(name) &&
      running.every((one) => this.#isConcurrent(one.name))
    );
  }

  #isConcurrent(name: string): boolean {
    const spec = this.#options.specs.get(name);
    return spec?.concurrent ?? spec?.readOnly ?? false;
  }
}

/** Encodes the part of a result that a program can see. */
function encodeResult(name: string, { outcome, text, structured }: ToolResult): string {
  const whole = stringifyResult({ outcome, text, structured });
  if (whole.length <= MAX_CALL_LENGTH) return whole;
  const message = `${name} ran (${outcome}), but its result is too long for a program: ${whole.length} characters`;
  return stringifyResult({ outcome: "failed", text: message });
}

function stringifyResult(result: ToolResult): string {
  try {
    return JSON.stringify(result);
  } catch (error) {
    return JSON.stringify({ outcome: "failed", text: `the result is not valid JSON: ${messageOf(error)}` });
  }
}
