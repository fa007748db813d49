/** Asks the person at this terminal to answer requests, one at a time, or prints how to answer them elsewhere. */
import { isRookeryError } from "../../domain/errors.ts";
import { shortId } from "../../domain/ids.ts";
import type { Answer } from "../../session/method-types.ts";
import { suggestAnswers } from "../inbox/answer-text.ts";
import { type Io, printNotice } from "../io.ts";
import { canAskWithKeys, InterruptedQuestion, type PrintAbove } from "../questions/question-terminal.ts";
import { askPermissionInLines } from "./ask-permission.ts";
import { askQuestion } from "./form/ask.ts";
import { type PendingRequest, formatRequestDetails, formatRequestSubject } from "./pending-request.ts";

export interface PrompterOptions {
  readonly io: Io;
  /** True if a person is at this terminal. */
  readonly atTerminal: boolean;
  readonly answer: (sessionId: string, requestId: string, answer: Answer) => Promise<void>;
  /**
   * Called with true before a question and with false after it. `printAbove`: prints output while the question is open.
   * Default: output is written to stdout.
   */
  readonly onBusy: (busy: boolean, printAbove?: PrintAbove) => void;
}

export class RequestPrompter implements AsyncDisposable {
  readonly #options: PrompterOptions;
  readonly #open = new Map<string, AbortController>();
  #last: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(options: PrompterOptions) {
    this.#options = options;
  }

  /** Does nothing for a request that was already asked. */
  ask(sessionId: string, asked: PendingRequest): void {
    const key = `${sessionId} ${asked.requestId}`;
    if (this.#open.has(key)) return;
    const controller = new AbortController();
    this.#open.set(key, controller);
    if (!this.#options.atTerminal) this.#tell(sessionId, asked);
    else this.#last = this.#last.then(() => this.#askHere(sessionId, asked, controller.signal));
  }

  /** Call it when a request was answered, here or elsewhere. */
  resolved(sessionId: string, requestId: string): void {
    this.#open.get(`${sessionId} ${requestId}`)?.abort();
  }

  /** Stops asking. Rejects with the first error of an answer. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const controller of this.#open.values()) controller.abort();
    await this.#last;
    if (this.#failure !== undefined) throw this.#failure as Error;
  }

  #tell(sessionId: string, asked: PendingRequest): void {
    const { io } = this.#options;
    const { question } = asked;
    const kind = question === undefined ? "permission" : "question";
    const [answer = ""] = suggestAnswers({ kind, schema: question?.schema, url: question?.url });
    const how = `answer with: rookery answer ${shortId(sessionId)} ${asked.requestId} ${answer}`;
    printNotice(io, `waiting for ${formatRequestSubject(asked)}:`, [...formatRequestDetails(asked), how]);
  }

  async #askHere(sessionId: string, asked: PendingRequest, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#options.onBusy(true);
    try {
      const answer = await this.#asked(asked, signal);
      await this.#options.answer(sessionId, asked.requestId, answer);
    } catch (error) {
      const isLeft = error instanceof InterruptedQuestion || isRookeryError(error, "request_resolved");
      if (!signal.aborted && !isLeft) this.#failure ??= error;
    } finally {
      this.#options.onBusy(false);
    }
  }

  async #asked(asked: PendingRequest, signal: AbortSignal): Promise<Answer> {
    const { io, onBusy } = this.#options;
    const { question } = asked;
    if (!canAskWithKeys(io)) {
      return question === undefined ? askPermissionInLines(io, asked, signal) : askQuestion(io, question, signal);
    }
    const { askPermissionWithKeys, askQuestionWithKeys } = await import("../questions/ask-with-keys.ts");
    const terminal = { io, onOpen: (printAbove: PrintAbove | undefined) => onBusy(true, printAbove) };
    return question === undefined
      ? askPermissionWithKeys(terminal, asked, signal)
      : askQuestionWithKeys(terminal, question, signal);
  }
}
