/**
 * Withdraws a queued input from any process. The log decides: of the events that take an input out of the queue, the
 * first one counts, and the process that drives the session checks that before it uses an input.
 */
import type { EventOf, InputPart, SessionEvent, SessionStore } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { appendWithoutLease, sessionNotFound } from "./answer.ts";
import { inputNotQueued } from "./log-head.ts";
import { checkText } from "./parameters.ts";
import { sessionClosed } from "./queue-input.ts";

export interface WithdrawStoredInputOptions {
  readonly sessionId: string;
  readonly inputId: string;
  readonly clock: Clock;
}

/** Maximum number of reads. After that, the event is appended even if the log has grown since. */
const MAX_READS = 10;

/**
 * Resolves with the input when its withdrawal is durable, even if it was withdrawn before. Rejects with
 * `input_not_queued` if the agent already has it, `session_not_found`, or `session_closed`.
 */
export async function withdrawStoredInput(
  store: SessionStore,
  { sessionId, inputId, clock }: WithdrawStoredInputOptions,
): Promise<readonly InputPart[]> {
  checkText(sessionId, "the session ID");
  checkText(inputId, "the input ID");
  if ((await store.summary(sessionId)) === undefined) throw sessionNotFound(sessionId);
  let isAppended = false;
  for (let reads = 1; !isAppended; reads += 1) {
    const { queued, takenBy, head } = await findInput(store, sessionId, inputId);
    if (queued === undefined) throw inputNotQueued(sessionId, inputId);
    if (takenBy !== undefined) break;
    await appendWithoutLease(store, sessionId, clock, (summary) => {
      if (summary.status === "copying") throw sessionNotFound(sessionId);
      if (summary.status === "closed") throw sessionClosed(sessionId);
      // The agent may have taken the input since: the event would have no effect. A busy writer must not delay us, though.
      isAppended = summary.head === head || reads >= MAX_READS;
      return isAppended ? { body: { type: "input.withdrawn", inputId }, turnId: undefined } : undefined;
    });
  }
  return readWithdrawnInput(store, sessionId, inputId);
}

/** Returns an input that was withdrawn before an agent had it. Rejects with `input_not_queued` for any other input. */
export async function readWithdrawnInput(
  store: SessionStore,
  sessionId: string,
  inputId: string,
): Promise<readonly InputPart[]> {
  const { queued, takenBy } = await findInput(store, sessionId, inputId);
  if (queued === undefined || takenBy?.type !== "input.withdrawn") throw inputNotQueued(sessionId, inputId);
  return queued.input;
}

interface FoundInput {
  readonly queued: EventOf<"input.queued"> | undefined;
  /** The first event that took it out of the queue. */
  readonly takenBy: SessionEvent | undefined;
  /** The head of the log that was read. */
  readonly head: number;
}

/** Reads from the newest page backward, because inputs that wait are recent. */
async function findInput(store: SessionStore, sessionId: string, inputId: string): Promise<FoundInput> {
  let takenBy: SessionEvent | undefined;
  let head: number | undefined;
  for (let before: number | undefined; ;) {
    const page = await store.read({ sessionId, before, order: "newest_first" });
    head ??= page.events[0]?.seq ?? page.head;
    for (const event of page.events) {
      if (takesInput(event, inputId)) takenBy = event;
      if (event.type === "input.queued" && event.inputId === inputId) return { queued: event, takenBy, head };
    }
    before = page.events.at(-1)?.seq;
    if (before === undefined) return { queued: undefined, takenBy, head };
  }
}

function takesInput(event: SessionEvent, inputId: string): boolean {
  switch (event.type) {
    case "turn.started":
    case "input.delivered":
    case "input.withdrawn":
      return event.inputId === inputId;
    case "conversation.replaced":
    case "session.closed":
      return true;
    default: // other events do not change the queue
      return false;
  }
}
