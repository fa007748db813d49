/** Reads the result of a child from its log: the outcome of the turn that its parent started. */
import type { ChildEnd, SessionEvent, SessionStore, TurnOutcome } from "../domain/index.ts";

/** The ID of a turn that a parent starts in a child. Each retry after a crash starts another turn. */
export function childTurnId(childId: string, attempt: number): string {
  const first = childId.replace(/^ses_/, "trn_");
  return attempt === 1 ? first : `${first}-${attempt}`;
}

export function parseAttempt(childId: string, turnId: string | undefined): number | undefined {
  const first = childTurnId(childId, 1);
  if (turnId === first) return 1;
  return turnId?.startsWith(`${first}-`) === true ? Number(turnId.slice(first.length + 1)) : undefined;
}

export interface ChildAttemptEnd extends ChildEnd {
  readonly attempt: number;
}

/** Resolves with undefined if the turn has not ended or there is no such session. */
export async function readChildEnd(store: SessionStore, childId: string): Promise<ChildAttemptEnd | undefined> {
  const summary = await store.summary(childId);
  if (summary === undefined) return undefined;
  const reader = new ChildTurnReader(childId);
  for (let before: number | undefined; !reader.isFinished;) {
    const { events } = await store.read({ sessionId: childId, before, order: "newest_first" });
    for (const event of events) reader.add(event);
    before = events.at(-1)?.seq;
    if (before === undefined) break;
  }
  return reader.end === undefined ? undefined : { ...reader.end, usage: summary.usage };
}

/** Reads the newest turn of the parent, from its end backward. */
class ChildTurnReader {
  readonly #childId: string;
  readonly #printed: string[] = [];
  #turnId: string | undefined;
  #outcome: TurnOutcome | undefined;
  #message: string | undefined;
  isFinished = false;

  constructor(childId: string) {
    this.#childId = childId;
  }

  get end(): Omit<ChildAttemptEnd, "usage"> | undefined {
    const attempt = parseAttempt(this.#childId, this.#turnId);
    if (this.#outcome === undefined || attempt === undefined) return undefined;
    return { outcome: this.#outcome, text: this.#message ?? this.#printed.toReversed().join(""), attempt };
  }

  add(event: SessionEvent): void {
    if (this.isFinished || parseAttempt(this.#childId, event.turnId) === undefined) return;
    this.#turnId ??= event.turnId;
    if (event.type === "turn.ended") this.#outcome = event.outcome;
    else if (event.type === "turn.started") this.isFinished = true;
    else if (event.type === "message.completed" && event.text.trim() !== "") this.#message ??= event.text;
    else if (event.type === "output.text" && event.from === undefined) this.#printed.push(event.text);
  }
}
