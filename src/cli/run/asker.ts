/** Brings what an agent waits for to a person: asked here, one at a time, or told how to answer from elsewhere. */
import { isRookeryError } from "../../domain/errors.ts";
import type { Answer } from "../../session/answer.ts";
import { count } from "../format.ts";
import { type Io, say } from "../io.ts";
import { oneLine } from "../printable.ts";
import { type Asked, detailsOf, forWords, subjectOf } from "./asked.ts";
import { askPerson } from "./form/ask.ts";
import { question } from "./question.ts";

export interface AskerOptions {
  readonly io: Io;
  readonly sessionId: string;
  /** Is the person at this terminal? */
  readonly here: boolean;
  readonly answer: (requestId: string, answer: Answer) => Promise<void>;
  /** Told before and after the terminal is used for a question. */
  readonly onBusy: (busy: boolean) => void;
}

/** What a small screen has room for. */
const MOST_LINES = 20;

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
    if (!this.#options.here) this.#tell(asked);
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

  #tell(asked: Asked): void {
    const { io, sessionId } = this.#options;
    const answer = asked.question === undefined ? "allow" : asked.question.url ? "accept" : `accept --content '{…}'`;
    const how = `answer with: rookery answer ${sessionId} ${asked.requestId} ${answer}`;
    say(io, `waiting for ${subjectOf(asked)}:`, [...detailsOf(asked), how]);
  }

  async #askHere(asked: Asked, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#options.onBusy(true);
    try {
      const answer = await this.#asked(asked, signal);
      await this.#options.answer(asked.requestId, answer);
    } catch (error) {
      if (!signal.aborted && !isRookeryError(error, "request_resolved")) this.#failure ??= error;
    } finally {
      this.#options.onBusy(false);
    }
  }

  #asked(asked: Asked, signal: AbortSignal): Promise<Answer> {
    const { question } = asked;
    return question === undefined ? this.#decision(asked, signal) : askPerson(this.#options.io, question, signal);
  }

  /** Shown whole each time: what was there before may be off the screen. */
  async #decision(asked: Asked, signal: AbortSignal): Promise<Answer> {
    const tool = oneLine(asked.tool ?? "", 100);
    const lines = detailsOf(asked);
    const many = lines.length > MOST_LINES ? `, all ${count(lines.length)} lines above` : "";
    const whose = forWords(asked.from);
    const ask = `Allow ${tool}${whose}${many}? [y]es, [a]lways ${tool} in this session, [n]o `;
    for (;;) {
      const typed = await question(this.#options.io, [`${tool}${whose}:`, ...lines, ask].join("\n"), signal);
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
