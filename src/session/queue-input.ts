/**
 * Queues input for a session from any process: the input is appended to the log, and the process that drives the
 * session finds it there.
 */
import { newId, RookeryError, type EventBody, type InputPart, type SessionStore } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { appendWithoutLease, sessionNotFound } from "./answer.ts";
import { toInputParts, requireAttachments } from "./input.ts";
import type { Deliver } from "./method-types.ts";
import { checkText, parseQueueOptions } from "./parameters.ts";

export interface QueueStoredInputOptions {
  readonly sessionId: string;
  readonly input: string | readonly InputPart[];
  /** Default: `follow_up`. */
  readonly deliver?: Deliver | undefined;
  readonly clock: Clock;
}

/**
 * Resolves with the input's ID. If no process drives the session, the input waits until one opens it. Rejects with
 * `session_not_found`, `session_closed`, `input_invalid`, `input_too_large` or `attachment_missing`.
 */
export async function queueStoredInput(store: SessionStore, options: QueueStoredInputOptions): Promise<string> {
  const { sessionId, clock } = options;
  checkText(sessionId, "the session ID");
  const { deliver } = parseQueueOptions({ deliver: options.deliver });
  const input = toInputParts(options.input);
  await requireAttachments(store, input);
  const inputId = newId("inp", clock.now());
  const body: EventBody = { type: "input.queued", inputId, input, ...(deliver === "steer" && { deliver }) };
  await appendWithoutLease(store, sessionId, clock, ({ status }) => {
    if (status === "copying") throw sessionNotFound(sessionId);
    if (status === "closed") throw sessionClosed(sessionId);
    return { body, turnId: undefined };
  });
  return inputId;
}

export function sessionClosed(sessionId: string): RookeryError {
  return new RookeryError("session_closed", `session ${sessionId} is closed: start a new one with \`rookery run\``);
}
