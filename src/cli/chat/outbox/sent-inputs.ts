/** The inputs that this chat has queued in the log, as the person typed them, so that they can be edited again. */
import type { QueuedInput } from "../../../domain/state.ts";
import type { FollowUp } from "./follow-ups.ts";

/**
 * Only the newest inputs are kept beyond this number. The others are returned as the agent would have received them.
 */
const MAX_SENT_INPUTS = 100;

export class SentInputs {
  readonly #sent = new Map<string, FollowUp>();

  add(inputId: string, sent: FollowUp): void {
    this.#sent.set(inputId, sent);
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > MAX_SENT_INPUTS && oldest !== undefined) this.#sent.delete(oldest);
  }

  /** What the person typed, or the text of an input that somebody else has queued. */
  take({ inputId, input }: QueuedInput): FollowUp {
    const sent = this.#sent.get(inputId);
    this.#sent.delete(inputId);
    const texts = input.flatMap((part) => (part.type === "text" ? [part.text] : []));
    return sent ?? { prompt: texts.join("\n"), outputs: [] };
  }
}
