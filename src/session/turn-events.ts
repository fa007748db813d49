/** A turn as whoever began it sees it: its events, and how it ended. */
import type { SessionEvent, SessionStore, TurnOutcome } from "../domain/index.ts";
import { followWithRetry } from "./store-retry.ts";

/** The events of a turn as they are committed, from its start to its end. */
export interface Turn extends AsyncIterable<SessionEvent> {
  readonly id: string;
  /** Rejects only where the log cannot be written, or the session is left while the turn is parked. */
  readonly outcome: Promise<TurnOutcome>;
}

export interface TurnReaderOptions {
  readonly turnId: string;
  readonly outcome: Promise<TurnOutcome>;
  readonly store: SessionStore;
  readonly sessionId: string;
  /** Where its reader starts: what happened before the turn and was not shown yet is shown with it. */
  readonly after: number;
}

export function createTurn({ turnId, outcome, store, sessionId, after }: TurnReaderOptions): Turn {
  outcome.catch(() => undefined); // told to whoever waits for the turn or reads its events
  const turn: Turn = {
    id: turnId,
    outcome,
    [Symbol.asyncIterator]: () => followTurn(turn, store, sessionId, after),
  };
  return turn;
}

async function* followTurn(turn: Turn, store: SessionStore, sessionId: string, after: number) {
  const broken = new AbortController();
  turn.outcome.catch(() => broken.abort());
  for await (const event of followWithRetry(store, { sessionId, after, signal: broken.signal })) {
    yield event;
    if (event.type === "turn.ended" && event.turnId === turn.id) return;
  }
  await turn.outcome; // says why the log went silent
}
