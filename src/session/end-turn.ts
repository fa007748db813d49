/** Ends a turn in the log, after closing everything that it left open. */
import { messageOf, type EventBody, type SessionState, type TurnOutcome } from "../domain/index.ts";
import { isWriterFailure } from "./entry-writer.ts";
import type { Recorder } from "./recorder.ts";

/** More are written in several appends, so that other sessions do not wait. A crash between them ends the rest later. */
const MAX_CLOSING_EVENTS = 1_000;

/**
 * Closes the turn's open requests and tools, then writes `turn.ended`. `abandoned` means that the turn's process
 * died, so its tools have an unknown outcome instead of a cancelled one.
 */
export async function endTurn(
  recorder: Recorder,
  turnId: string,
  outcome: TurnOutcome,
  { abandoned = false }: { abandoned?: boolean } = {},
): Promise<void> {
  await commitRecorded(recorder);
  const stopped = outcome.status === "cancelled" && !abandoned;
  const write = async (end: TurnOutcome): Promise<void> => {
    const closing = closingEvents(recorder.state, turnId, stopped);
    while (closing.length > MAX_CLOSING_EVENTS) {
      await recorder.write(closing.splice(0, MAX_CLOSING_EVENTS), { turnId, patient: true });
    }
    await recorder.write([...closing, { type: "turn.ended", outcome: end }], {
      turnId,
      journal: [{ op: "forget", turnId }],
      patient: true,
    });
  };
  try {
    await write(outcome);
  } catch (error) {
    if (recorder.isBroken || isWriterFailure(error)) throw error;
    const message = `the turn's outcome (${outcome.status}) could not be recorded: ${messageOf(error).slice(0, 500)}`;
    await write({ status: "failed", code: "internal", message });
  }
}

/**
 * Waits until all recorded events are committed. Does not reject for events that the store refused, because the log
 * has substitutes for them.
 */
export async function commitRecorded(recorder: Recorder): Promise<void> {
  try {
    await recorder.commit();
  } catch (error) {
    if (recorder.isBroken || isWriterFailure(error)) throw error;
  }
}

/**
 * Returns the events that close the open requests, tools and sub-agents of this turn, or, if `turnId` is undefined,
 * those that started between turns.
 */
export function closingEvents(state: SessionState, turnId: string | undefined, stopped: boolean): EventBody[] {
  const how = stopped
    ? ({
        outcome: "cancelled",
        text: turnId === undefined ? "cancelled because the session was released" : "cancelled with its turn",
      } as const)
    : ({
        outcome: "unknown",
        text: `the outcome is unknown because the ${turnId === undefined ? "process" : "turn"} ended first`,
      } as const);
  const tools = state.tools.filter((tool) => tool.turnId === turnId);
  return [
    ...withdrawRequests(state, turnId),
    ...tools.map(({ toolId }): EventBody => ({ type: "tool.ended", toolId, ...how })),
    ...state.subagents
      .filter((child) => child.turnId === turnId && child.outcome === undefined)
      .map(({ childSessionId }): EventBody => {
        return { type: "subagent.ended", childSessionId, outcome: { status: "cancelled" } };
      }),
  ];
}

function withdrawRequests({ requests }: SessionState, turnId: string | undefined): EventBody[] {
  return requests
    .filter((request) => request.answer === undefined && request.turnId === turnId)
    .map(({ requestId, toolId }): EventBody =>
      toolId === undefined
        ? { type: "question.answered", requestId, action: "cancel", by: "policy" }
        : { type: "permission.resolved", requestId, decision: "cancelled", scope: "once", by: "policy" },
    );
}
