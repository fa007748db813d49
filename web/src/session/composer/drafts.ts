/** Keeps what a person typed and did not send, for this tab. */
import { draftName, removeDraft } from "../../kept-input.ts";

const MAX_LENGTH = 100_000;

export function loadDraft(sessionId: string): string {
  return sessionStorage.getItem(draftName(sessionId)) ?? "";
}

export function saveDraft(sessionId: string, text: string): void {
  try {
    if (text === "") removeDraft(sessionId);
    else sessionStorage.setItem(draftName(sessionId), text.slice(0, MAX_LENGTH));
  } catch {
    // The storage is full: the text stays in the box.
  }
}
