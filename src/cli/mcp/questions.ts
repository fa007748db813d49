/** What servers have of a person where there is no session: their words are dropped, and their questions asked here or declined. */
import type { AskOptions, Question, QuestionAnswer, BetweenTurnsContext } from "../../domain/backend.ts";
import { deferred } from "../../stdx/deferred.ts";
import type { Io } from "../io.ts";
import { askQuestion } from "../run/form/ask.ts";

export type AskQuestion = (question: Question, options?: AskOptions) => Promise<QuestionAnswer>;

/** Nobody is asked for a login by itself: that is what `rookery mcp auth` is for. */
export function createSessionlessDesk(ask: AskQuestion): BetweenTurnsContext {
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

/** One after another at the terminal. What has happened by itself meanwhile counts as accepted. */
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

/** Rejects when the signal fires. */
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
