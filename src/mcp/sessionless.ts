/** The context of connections to MCP servers that belong to no session. */
import type { AskOptions, BetweenTurnsContext, Question, QuestionAnswer } from "../domain/backend.ts";

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
