/** Asks the questions of MCP servers without a session at the terminal. */
import type { AskOptions, Question, QuestionAnswer } from "../../domain/backend.ts";
import type { AskQuestion } from "../../mcp/sessionless.ts";
import { deferred } from "../../stdx/deferred.ts";
import type { Io } from "../io.ts";
import { canAskWithKeys, InterruptedQuestion } from "../questions/question-terminal.ts";
import { askQuestion } from "../run/form/ask.ts";

/** Asks one question at a time. A question that completes by itself counts as accepted. */
export function askAtTerminal(io: Io, asking: (busy: boolean) => void = () => undefined): AskQuestion {
  let last: Promise<unknown> = Promise.resolve();
  return (question, options = {}) => {
    const answer = last.then(async () => {
      asking(true);
      try {
        return await untilCompleted(options, (signal) => askHere(io, question, signal));
      } finally {
        asking(false);
      }
    });
    last = answer.catch(() => undefined);
    return answer;
  };
}

async function askHere(io: Io, question: Question, signal: AbortSignal): Promise<QuestionAnswer> {
  if (!canAskWithKeys(io)) return askQuestion(io, question, signal);
  const { askQuestionWithKeys } = await import("../questions/ask-with-keys.ts");
  return withoutInterrupts(signal, () => askQuestionWithKeys({ io }, question, signal));
}

/** After Ctrl-C at a question, waits for the signal that Ctrl-C aborts, so that the server gets no answer. */
export async function withoutInterrupts<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof InterruptedQuestion) return rejectOnAbort(signal);
    throw error;
  }
}

export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/** Rejects when the signal aborts. */
export async function untilCompleted(
  { signal, completed }: AskOptions,
  ask: (signal: AbortSignal) => Promise<QuestionAnswer>,
): Promise<QuestionAnswer> {
  const happened = new AbortController();
  const accepted = deferred<QuestionAnswer>();
  void completed?.then(
    () => {
      accepted.resolve({ action: "accept" });
      happened.abort();
    },
    () => undefined,
  );
  const either = signal === undefined ? happened.signal : AbortSignal.any([happened.signal, signal]);
  const asked = ask(either).catch((error: unknown) => {
    if (happened.signal.aborted) return accepted.promise;
    throw error;
  });
  return Promise.race([asked, accepted.promise]);
}
