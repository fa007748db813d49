/**
 * Takes back a queued input from any process. The log decides: of the events that take an input out of the queue, the
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

/**
 * Resolves with the input when its withdrawal is durable. Rejects with `input_not_queued` if the agent has it already
 * or if it was withdrawn before, with `session_not_found` or `session_closed`.
 */
export async function withdrawStoredInput(
  store: SessionStore,
  { sessionId, inputId, clock }: WithdrawStoredInputOptions,
): Promise<readonly InputPart[]> {
  checkText(sessionId, "the session ID");
  checkText(inputId, "the input ID");
  if ((await store.summary(sessionId)) === undefined) throw sessionNotFound(sessionId);
  const { queued, takenAt } = await findInput(store, sessionId, inputId);
  if (queued === undefined || takenAt !== undefined) throw inputNotQueued(sessionId, inputId);
  const head = await appendWithoutLease(store, sessionId, clock, ({ status }) => {
    if (status === "copying") throw sessionNotFound(sessionId);
    if (status === "closed") throw sessionClosed(sessionId);
    return { body: { type: "input.withdrawn", inputId }, turnId: undefined };
  });
  await requireWithdrawnAt(store, { sessionId, inputId, seq: head }); // the agent may have taken it in the meantime
  return queued.input;
}

/** Rejects with `input_not_queued` unless the event with this `seq` took the input out of the queue. */
export async function requireWithdrawnAt(
  store: SessionStore,
  { sessionId, inputId, seq }: { readonly sessionId: string; readonly inputId: string; readonly seq: number },
): Promise<void> {
  const { takenAt } = await findInput(store, sessionId, inputId);
  if (takenAt !== seq) throw inputNotQueued(sessionId, inputId);
}

interface FoundInput {
  readonly queued: EventOf<"input.queued"> | undefined;
  /** The `seq` of the event that took it out of the queue. */
  readonly takenAt: number | undefined;
}

/** Reads from the newest page backward, because inputs that wait are recent. */
async function findInput(store: SessionStore, sessionId: string, inputId: string): Promise<FoundInput> {
  let takenAt: number | undefined;
  for (let before: number | undefined; ;) {
    const { events } = await store.read({ sessionId, before, order: "newest_first" });
    for (const event of events) {
      if (takesInput(event, inputId)) takenAt = event.seq;
      if (event.type === "input.queued" && event.inputId === inputId) return { queued: event, takenAt };
    }
    before = events.at(-1)?.seq;
    if (before === undefined) return { queued: undefined, takenAt };
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
