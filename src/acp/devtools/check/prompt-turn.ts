/** One prompt, from its request to its answer, left alone or interrupted. */
import { formatOutcome, getResultObject, type RequestOutcome } from "./agent/outcome.ts";
import type { CheckConnection } from "./agent/check-connection.ts";
import { settlesWithin } from "./agent/process.ts";
import { cancelledReply, defaultReply } from "./agent/reply.ts";
import { toTurnUpdate, Transcript, type TurnUpdate } from "./turn-updates.ts";

export const STOP_REASONS: readonly unknown[] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

export interface PromptTurn {
  readonly outcome: RequestOutcome;
  readonly stopReason: unknown;
  readonly transcript: Transcript;
}

export const textBlock = (words: string): object => ({ type: "text", text: words });

export async function runPrompt(
  peer: CheckConnection,
  sessionId: string,
  prompt: readonly object[],
  onUpdate: (update: TurnUpdate) => void = () => undefined,
): Promise<PromptTurn> {
  const words = new Transcript();
  const deafen = peer.listen((heard) => {
    const update = toTurnUpdate(heard);
    if (update === undefined) return;
    words.add(update);
    onUpdate(update);
  });
  const outcome = await peer.request("session/prompt", { sessionId, prompt });
  deafen();
  return { outcome, stopReason: getResultObject(outcome)?.["stopReason"], transcript: words };
}

/** At once, or when the turn was seen to run. */
export type InterruptMoment = "at_once" | "running";

export interface InterruptedTurn extends PromptTurn {
  /**
   * How surely an end that is not `cancelled` ignores the interruption: 0 where the turn may have been over before, 1
   * where it was seen to run just before, 2 where it went on for long afterwards. Two turns of 1 are no chance any more.
   */
  readonly ignored: 0 | 1 | 2;
}

export interface Interruption {
  readonly when: InterruptMoment;
  readonly interrupt: () => void;
  readonly settleMs: number;
  /** How long the turn has to run on after it was seen to run. One that ends meanwhile is not interrupted. Default: 0. */
  readonly afterMs?: number;
}

/** Interrupts a prompt in the way that is given; a permission that is asked for meanwhile is answered as cancelled. */
export async function runInterruptedPrompt(
  peer: CheckConnection,
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
    peer.reply = cancelledReply;
    interrupt();
  };
  const seenRunning = (): void => {
    ran ||= !answered && interruptedAt === undefined;
    act();
  };
  peer.reply = (request) => {
    seenRunning(); // it waits for this answer
    return cancelledReply(request);
  };
  const deafen = peer.listen((heard) => (answered ||= heard.kind === "answer" && heard.method === "session/prompt"));
  const sign = once(() => {
    // The last words of a turn and its end come together; what still runs after this was answered really runs.
    void settlesWithin(settleMs, peer.request("_rookery/running", {})).then(
      () => (later ??= setTimeout(seenRunning, afterMs)),
      () => undefined,
    );
  });
  const turn = runPrompt(peer, sessionId, prompt, sign);
  if (when === "at_once") act();
  const timer = setTimeout(seenRunning, patienceMs + afterMs);
  const ended = await turn;
  clearTimeout(timer);
  clearTimeout(later);
  deafen();
  peer.reply = defaultReply;
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
export function formatTurn(turn: PromptTurn): string {
  return formatOutcome("session/prompt", turn.outcome);
}
