/** What a child came to, as its log says: the turn that its parent gave it, whatever others did in it since. */
import type { ChildEnd, SessionEvent, SessionStore, TurnOutcome } from "../domain/index.ts";

/** The turns that a parent gives a child: one, and another each time that a killed process could not go on with the last. */
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

/** Undefined while it has not ended, and where there is no such session. */
export async function readChildEnd(store: SessionStore, childId: string): Promise<ChildAttemptEnd | undefined> {
  const summary = await store.summary(childId);
  if (summary === undefined) return undefined;
  const reading = new ChildTurnReader(childId);
  for (let before: number | undefined; !reading.isOver;) {
    const { events } = await store.read({ sessionId: childId, before, order: "newest_first" });
    for (const event of events) reading.take(event);
    before = events.at(-1)?.seq;
    if (before === undefined) break;
  }
  return reading.end === undefined ? undefined : { ...reading.end, usage: summary.usage };
}

/** Reads the newest of its turns backwards. */
class ChildTurnReader {
  readonly #childId: string;
  readonly #printed: string[] = [];
  #turnId: string | undefined;
  #outcome: TurnOutcome | undefined;
  #said: string | undefined;
  isOver = false;

  constructor(childId: string) {
    this.#childId = childId;
  }

  get end(): Omit<ChildAttemptEnd, "usage"> | undefined {
    const attempt = parseAttempt(this.#childId, this.#turnId);
    if (this.#outcome === undefined || attempt === undefined) return undefined;
    return { outcome: this.#outcome, text: this.#said ?? this.#printed.toReversed().join(""), attempt };
  }

  take(event: SessionEvent): void {
    if (this.isOver || parseAttempt(this.#childId, event.turnId) === undefined) return;
    this.#turnId ??= event.turnId;
    if (event.type === "turn.ended") this.#outcome = event.outcome;
    else if (event.type === "turn.started") this.isOver = true;
    else if (event.type === "message.completed" && event.text.trim() !== "") this.#said ??= event.text;
    else if (event.type === "output.text" && event.from === undefined) this.#printed.push(event.text);
  }
}
