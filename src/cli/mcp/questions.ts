/** Handles questions of MCP servers without a session: asks them at the terminal, or declines them. */
import type { AskOptions, Question, QuestionAnswer, BetweenTurnsContext } from "../../domain/backend.ts";
import { deferred } from "../../stdx/deferred.ts";
import type { Io } from "../io.ts";
import { askQuestion } from "../run/form/ask.ts";

export type AskQuestion = (question: Question, options?: AskOptions) => Promise<QuestionAnswer>;

/** Never asks for a login; `rookery mcp auth` does. */
export function createSessionlessContext(ask: AskQuestion): BetweenTurnsContext {
  return {
    attended: false,
    record: () => undefined,
    ask,
    putBlob: () => Promise.reject(new Error("there is no session here")),
    getBlob: () => Promise.resolve(undefined),
    permit: () => Promise.resolve({ allowed: false, outcome: "denied", message: "there is no session here" }),
  };
}

export const declineQuestions: AskQuestion = () => Promise.resolve({ action: "decline" });

/** Asks one question at a time. A question that completes by itself counts as accepted. */
export function askAtTerminal(io: Io, asking: (busy: boolean) => void = () => undefined): AskQuestion {
  let last: Promise<unknown> = Promise.resolve();
  return (question, options = {}) => {
    const answer = last.then(async () => {
      asking(true);
      try {
        return await untilCompleted(options, (signal) => askQuestion(io, question, signal));
      } finally {
        asking(false);
      }
    });
    last = answer.catch(() => undefined);
    return answer;
  };
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
