/** The handle of a turn that a caller gets: its events, read from the log, and its outcome. */
import type { SessionEvent, SessionStore, TurnOutcome } from "../domain/index.ts";
import { readSessionPages } from "./pages.ts";
import { followWithRetry, retryStore } from "./store-retry.ts";
import { TurnText, requireDone } from "./turn-text.ts";

/**
 * A running or finished turn. Iterating yields its events as they are committed, from start to end. When the iteration is
 * over, the session accepts the next prompt.
 */
export interface Turn extends AsyncIterable<SessionEvent> {
  readonly id: string;
  /** Rejects only if the log cannot be written, or the session is released while the turn is parked. */
  readonly outcome: Promise<TurnOutcome>;
  /**
   * Waits for the end of the turn, and resolves with the agent's final text: its messages after the last tool call,
   * separated by an empty line; or what its program printed, if it sends no messages. Empty if there is none. Rejects
   * with the code and message of the outcome if the turn failed, with `agent_failed` if it stalled, with `interrupted`
   * if it was cancelled, or like `outcome`.
   */
  text(): Promise<string>;
}

export interface TurnHandleOptions {
  readonly turnId: string;
  readonly outcome: Promise<TurnOutcome>;
  readonly store: SessionStore;
  readonly sessionId: string;
  /** The iteration starts after this `seq`. Events from before the turn that were not shown yet are included. */
  readonly after: number;
}

export function createTurnHandle({ turnId, outcome, store, sessionId, after }: TurnHandleOptions): Turn {
  outcome.catch(() => undefined); // callers that wait for the turn or read its events get the error
  const turn: Turn = {
    id: turnId,
    outcome,
    text: async () => {
      requireDone(await outcome);
      return readTurnText(turn, store, sessionId, after);
    },
    [Symbol.asyncIterator]: () => followTurn(turn, store, sessionId, after),
  };
  return turn;
}

async function* followTurn(turn: Turn, store: SessionStore, sessionId: string, after: number) {
  const broken = new AbortController();
  turn.outcome.catch(() => broken.abort());
  for await (const event of followWithRetry(store, { sessionId, after, signal: broken.signal })) {
    yield event;
    if (event.type !== "turn.ended" || event.turnId !== turn.id) continue;
    await turn.outcome.catch(() => undefined); // the next prompt is refused until then
    return;
  }
  await turn.outcome; // throws the reason why the log ended
}

async function readTurnText(turn: Turn, store: SessionStore, sessionId: string, after: number): Promise<string> {
  const read: SessionStore["read"] = (query) => retryStore(() => store.read(query));
  const final = new TurnText();
  for await (const page of readSessionPages({ read }, sessionId, { after })) {
    for (const event of page) {
      if (event.turnId !== turn.id) continue;
      if (event.type === "turn.ended") return final.text;
      final.add(event);
    }
  }
  return final.text;
}
