/** One prompt, from its request to its answer, left alone or interrupted. */
import { outcomeText, resultOf, type Outcome } from "./agent/outcome.ts";
import type { Peer } from "./agent/peer.ts";
import { within } from "./agent/process.ts";
import { cancellingReply, usualReply } from "./agent/reply.ts";
import { turnUpdate, Words, type Update } from "./updates.ts";

export const STOP_REASONS: readonly unknown[] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

export interface Turn {
  readonly outcome: Outcome;
  readonly stopReason: unknown;
  readonly words: Words;
}

export const text = (words: string): object => ({ type: "text", text: words });

export async function promptTurn(
  peer: Peer,
  sessionId: string,
  prompt: readonly object[],
  onUpdate: (update: Update) => void = () => undefined,
): Promise<Turn> {
  const words = new Words();
  const deafen = peer.listen((heard) => {
    const update = turnUpdate(heard);
    if (update === undefined) return;
    words.add(update);
    onUpdate(update);
  });
  const outcome = await peer.request("session/prompt", { sessionId, prompt });
  deafen();
  return { outcome, stopReason: resultOf(outcome)?.["stopReason"], words };
}

/** At once, or when the turn was seen to run. */
export type Moment = "at_once" | "running";

export interface InterruptedTurn extends Turn {
  /**
   * How surely an end that is not `cancelled` ignores the interruption: 0 where the turn may have been over before, 1
   * where it was seen to run just before, 2 where it went on for long afterwards. Two turns of 1 are no chance any more.
   */
  readonly ignored: 0 | 1 | 2;
}

export interface Interruption {
  readonly when: Moment;
  readonly interrupt: () => void;
  readonly settleMs: number;
  /** How long the turn has to run on after it was seen to run. One that ends meanwhile is not interrupted. Default: 0. */
  readonly afterMs?: number;
}

/** Interrupts a prompt in the way that is given; a permission that is asked for meanwhile is answered as cancelled. */
export async function interruptedTurn(
  peer: Peer,
  sessionId: string,
  prompt: readonly object[],
  { when, interrupt, settleMs, afterMs = 0 }: Interruption,
): Promise<InterruptedTurn> {
  const patienceMs = 4 * settleMs; // also with an agent that gives no sign
  let interruptedAt: number | undefined;
  let answered = false;
  let later: NodeJS.Timeout | undefined;
  let ran = false;
  const act = (): void => {
    if (interruptedAt !== undefined || answered) return;
    interruptedAt = performance.now();
    peer.reply = cancellingReply;
    interrupt();
  };
  const seenRunning = (): void => {
    ran ||= !answered && interruptedAt === undefined;
    act();
  };
  peer.reply = (request) => {
    seenRunning(); // it waits for this answer
    return cancellingReply(request);
  };
  const deafen = peer.listen((heard) => (answered ||= heard.kind === "answer" && heard.method === "session/prompt"));
  const sign = once(() => {
    // The last words of a turn and its end come together; what still runs after this was answered really runs.
    void within(settleMs, peer.request("_rookery/running", {})).then(
      () => (later ??= setTimeout(seenRunning, afterMs)),
      () => undefined,
    );
  });
  const turn = promptTurn(peer, sessionId, prompt, sign);
  if (when === "at_once") act();
  const timer = setTimeout(seenRunning, patienceMs + afterMs);
  const ended = await turn;
  clearTimeout(timer);
  clearTimeout(later);
  deafen();
  peer.reply = usualReply;
  const lateMs = interruptedAt === undefined ? 0 : performance.now() - interruptedAt;
  return { ...ended, ignored: ended.stopReason === "cancelled" ? 0 : lateMs > patienceMs ? 2 : ran ? 1 : 0 };
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

/** How a turn ended that should have ended otherwise. */
export function turnText(turn: Turn): string {
  return outcomeText("session/prompt", turn.outcome);
}
