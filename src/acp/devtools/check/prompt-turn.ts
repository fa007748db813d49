/** Runs one prompt from its request to its answer, undisturbed or interrupted. */
import { formatOutcome, getResultObject, type RequestOutcome } from "./agent/outcome.ts";
import type { CheckConnection } from "./agent/check-connection.ts";
import { settlesWithin } from "../../../stdx/index.ts";
import { cancelledReply, defaultReply } from "./agent/reply.ts";
import { toTurnUpdate, TurnTranscript, type TurnUpdate } from "./turn-updates.ts";

export const STOP_REASONS: readonly unknown[] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

export interface PromptTurn {
  readonly outcome: RequestOutcome;
  readonly stopReason: unknown;
  readonly transcript: TurnTranscript;
}

export const textBlock = (words: string): object => ({ type: "text", text: words });

export async function runPrompt(
  peer: CheckConnection,
  sessionId: string,
  prompt: readonly object[],
  onUpdate: (update: TurnUpdate) => void = () => undefined,
): Promise<PromptTurn> {
  const transcript = new TurnTranscript();
  const stopListening = peer.listen((message) => {
    const update = toTurnUpdate(message);
    if (update === undefined) return;
    transcript.add(update);
    onUpdate(update);
  });
  const outcome = await peer.request("session/prompt", { sessionId, prompt });
  stopListening();
  return { outcome, stopReason: getResultObject(outcome)?.["stopReason"], transcript };
}

/** Immediately after the request, or once the turn is known to run. */
export type InterruptMoment = "at_once" | "running";

export interface InterruptedTurn extends PromptTurn {
  /**
   * How certain it is that the agent ignored the interruption, if it did not end with `cancelled`: 0 if the turn may
   * have ended before, 1 if it was seen running just before, 2 if it continued for long afterwards. Two turns with 1
   * cannot be coincidence.
   */
  readonly ignored: 0 | 1 | 2;
}

export interface Interruption {
  readonly when: InterruptMoment;
  readonly interrupt: () => void;
  readonly settleMs: number;
  /** How long the turn has to run before it is interrupted. A turn that ends earlier is not interrupted. Default: 0. */
  readonly afterMs?: number;
}

/** Runs a prompt and interrupts it. Answers permission requests with `cancelled` from then on. */
export async function runInterruptedPrompt(
  peer: CheckConnection,
  sessionId: string,
  prompt: readonly object[],
  { when, interrupt, settleMs, afterMs = 0 }: Interruption,
): Promise<InterruptedTurn> {
  const patienceMs = 4 * settleMs; // also with an agent that gives no onFirstUpdate of running
  let interruptedAt: number | undefined;
  let answered = false;
  let later: NodeJS.Timeout | undefined;
  let ran = false;
  const interruptNow = (): void => {
    if (interruptedAt !== undefined || answered) return;
    interruptedAt = performance.now();
    peer.reply = cancelledReply;
    interrupt();
  };
  const seenRunning = (): void => {
    ran ||= !answered && interruptedAt === undefined;
    interruptNow();
  };
  peer.reply = (request) => {
    seenRunning(); // the agent waits for this answer, so the turn runs
    return cancelledReply(request);
  };
  const stopListening = peer.listen(
    (message) => (answered ||= message.kind === "answer" && message.method === "session/prompt"),
  );
  const onFirstUpdate = once(() => {
    // The last text and the end of a turn arrive together. A turn that still runs after the answer to this request
    // really runs.
    void settlesWithin(settleMs, peer.request("_rookery/running", {})).then(
      () => (later ??= setTimeout(seenRunning, afterMs)),
      () => undefined,
    );
  });
  const turn = runPrompt(peer, sessionId, prompt, onFirstUpdate);
  if (when === "at_once") interruptNow();
  const timer = setTimeout(seenRunning, patienceMs + afterMs);
  const ended = await turn;
  clearTimeout(timer);
  clearTimeout(later);
  stopListening();
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

/** Describes how the turn ended. */
export function formatTurn(turn: PromptTurn): string {
  return formatOutcome("session/prompt", turn.outcome);
}
