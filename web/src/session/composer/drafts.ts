/** What a person typed and did not send, kept for this tab. */
const PREFIX = "rookery-draft-";
const MAX_LENGTH = 100_000;

export function loadDraft(sessionId: string): string {
  return sessionStorage.getItem(PREFIX + sessionId) ?? "";
}

export function saveDraft(sessionId: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(PREFIX + sessionId);
    else sessionStorage.setItem(PREFIX + sessionId, text.slice(0, MAX_LENGTH));
  } catch {
    // The storage is full: the text stays in the box.
  }
}
