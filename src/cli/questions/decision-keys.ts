/** Interprets keys at a permission question. A typed sentence never counts as a decision. */
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import type { ChoiceTimer } from "./choice-timer.ts";
import { type DecisionKey, parseDecisionKey } from "./permission-keys.ts";

/** Keys that follow each other within this time, in milliseconds, belong to one burst of typing. */
export const TYPING_PAUSE_MS = 500;

export interface DecisionHandlers {
  /** The prefix of the command that `a` always allows; `A` allows the whole tool. Default: `a` does that. */
  readonly prefix?: string | undefined;
  /** Whether the person has pressed `a` once. */
  readonly isAlwaysAsked: boolean;
  /** Asks for a second `a`, or for `A`. */
  askAlways(): void;
  /** Goes back to the question after Esc in place of the second `a`. */
  leaveAlways(): void;
  act(key: DecisionKey): void;
  /** The person types a sentence in place of a choice: it becomes the reason for a denial. */
  startReason(text: string): void;
}

/** Returns false for a key that neither chooses nor types. */
export function takeDecisionKey(choice: ChoiceTimer, data: string, handlers: DecisionHandlers): boolean {
  const first = choice.key;
  if (matchesKey(data, "enter")) {
    choice.actNow();
    return true;
  }
  if (matchesKey(data, "escape") && (handlers.isAlwaysAsked || first?.toLowerCase() === "a")) {
    choice.cancel();
    handlers.leaveAlways();
    return true;
  }
  const key = parseDecisionKey(data, handlers.prefix);
  if (first === data && data.toLowerCase() !== "a") return true; // it repeats
  if (isTyped(data) && (key === undefined || (first !== undefined && first !== data))) {
    choice.cancel();
    handlers.startReason((first ?? "") + data);
    return true;
  }
  if (key === undefined) {
    choice.cancel();
    return false;
  }
  const isAlways = "answer" in key && "scope" in key.answer && key.answer.scope === "session";
  const isWholeTool = isAlways && handlers.prefix !== undefined && !("prefix" in key.answer);
  if (isWholeTool && !handlers.isAlwaysAsked) {
    choice.cancel(); // with Caps Lock, A twice must not allow more than a twice
    return true;
  }
  const isConfirmed = handlers.isAlwaysAsked || first === data;
  choice.offer(data, () => {
    if (isAlways && !isConfirmed) handlers.askAlways();
    else handlers.act(key);
  });
  return true;
}

/** True for characters, even if several arrive together. */
export function isTyped(data: string): boolean {
  return /^[^\p{Cc}]+$/u.test(data);
}
