/** The answer of a turn: what its agent said at the end. */
import { ERROR_CODES, RookeryError, type ErrorCode, type SessionEvent, type TurnOutcome } from "../domain/index.ts";

/** Throws the reason why the turn is not done. */
export function requireDone(outcome: TurnOutcome): void {
  switch (outcome.status) {
    case "done":
      return;
    case "cancelled":
      throw new RookeryError("interrupted", "the turn has no final text because it was cancelled");
    case "failed":
      throw new RookeryError(toErrorCode(outcome.code), outcome.message);
    case "stalled":
      throw new RookeryError("agent_failed", outcome.message);
  }
}

/** Collects the final text from the events of one turn, in their order. */
export class TurnText {
  #messages: string[] = [];
  #printed: string[] = [];
  #hasMessage = false;

  get text(): string {
    return this.#hasMessage ? this.#messages.join("\n\n") : this.#printed.join("");
  }

  add(event: SessionEvent): void {
    if (event.type === "tool.started") this.#messages = [];
    else if (event.type === "output.text" && event.from === undefined) this.#printed.push(event.text);
    if (event.type !== "message.completed" || event.text.trim() === "") return;
    this.#hasMessage = true;
    if ((event.toolCalls ?? []).length === 0) this.#messages.push(event.text);
  }
}

/** The agent of a newer version may report a code that this one does not know. */
function toErrorCode(code: string): ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(code) ? (code as ErrorCode) : "agent_failed";
}
