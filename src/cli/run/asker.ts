/** Brings what an agent waits for to a person: asked here, one at a time, or told how to answer from elsewhere. */
import { isRookeryError } from "../../domain/errors.ts";
import type { Answer } from "../../session/answer.ts";
import { type Io, say } from "../io.ts";
import { oneLine } from "../printable.ts";
import { question } from "./question.ts";

export interface Asked {
  readonly requestId: string;
  /** Undefined for a question, which is always answered from elsewhere. */
  readonly tool: string | undefined;
  readonly title: string;
}

export interface AskerOptions {
  readonly io: Io;
  readonly sessionId: string;
  /** Is the person at this terminal? */
  readonly here: boolean;
  readonly answer: (requestId: string, answer: Answer) => Promise<void>;
  /** Told before and after the terminal is used for a question. */
  readonly onBusy: (busy: boolean) => void;
}

export class Asker implements AsyncDisposable {
  readonly #options: AskerOptions;
  readonly #open = new Map<string, AbortController>();
  #last: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(options: AskerOptions) {
    this.#options = options;
  }

  /** A request that was brought up before is not asked twice. */
  ask(asked: Asked): void {
    if (this.#open.has(asked.requestId)) return;
    const controller = new AbortController();
    this.#open.set(asked.requestId, controller);
    if (!this.#options.here || asked.tool === undefined) this.#tell(asked);
    else this.#last = this.#last.then(() => this.#askHere(asked, controller.signal));
  }

  /** Someone answered, here or elsewhere. */
  resolved(requestId: string): void {
    this.#open.get(requestId)?.abort();
  }

  /** Stops asking. Rejects with what kept an answer from being given. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const controller of this.#open.values()) controller.abort();
    await this.#last;
    if (this.#failure !== undefined) throw this.#failure as Error;
  }

  #tell({ requestId, tool, title }: Asked): void {
    const { io, sessionId } = this.#options;
    const what = tool === undefined ? oneLine(title, 200) : describe(tool, title);
    const answer = tool === undefined ? `accept --content '{…}'` : "allow";
    say(io, `waiting for a decision on ${what}; answer with: rookery answer ${sessionId} ${requestId} ${answer}`);
  }

  async #askHere(asked: Asked, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#options.onBusy(true);
    try {
      await this.#options.answer(asked.requestId, await this.#decision(asked, signal));
    } catch (error) {
      if (!signal.aborted && !isRookeryError(error, "request_resolved")) this.#failure ??= error;
    } finally {
      this.#options.onBusy(false);
    }
  }

  async #decision({ tool = "", title }: Asked, signal: AbortSignal): Promise<Answer> {
    const text = `Allow ${describe(tool, title)}? [y]es, [a]lways in this session, [n]o `;
    for (;;) {
      const typed = await question(this.#options.io, text, signal);
      const answer = answerOf(typed);
      if (answer !== undefined) return answer;
    }
  }
}

/** Undefined where it is none; a closed input is a no. */
export function answerOf(typed: string | undefined): Answer | undefined {
  const word = typed?.trim().toLowerCase() ?? "no";
  if (["y", "yes"].includes(word)) return { decision: "allow", scope: "once" };
  if (["a", "always"].includes(word)) return { decision: "allow", scope: "session" };
  return ["n", "no"].includes(word) ? { decision: "deny" } : undefined;
}

/** Titles of some tools begin with their name already. */
export function describe(tool: string, title: string): string {
  const line = oneLine(title, 300);
  return line === "" || line === tool ? tool : line.startsWith(tool) ? line : `${tool}: ${line}`;
}
