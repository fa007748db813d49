/** How a turn ends in the log: after whatever it left open. */
import { messageOf, type EventBody, type SessionState, type TurnOutcome } from "../domain/index.ts";
import { isWriterFailure } from "./entry-writer.ts";
import type { Recorder } from "./recorder.ts";

/** Writes the end, and before it the end of whatever the turn left open; what a dead process left, nobody stopped. */
export async function endTurn(
  recorder: Recorder,
  turnId: string,
  outcome: TurnOutcome,
  { deserted = false }: { deserted?: boolean } = {},
): Promise<void> {
  await commitRecorded(recorder);
  const stopped = outcome.status === "cancelled" && !deserted;
  const write = (end: TurnOutcome) =>
    recorder.write([...closingEvents(recorder.state, turnId, stopped), { type: "turn.ended", outcome: end }], {
      turnId,
      journal: [{ op: "forget", turnId }],
      patient: true,
    });
  try {
    await write(outcome);
  } catch (error) {
    if (recorder.isBroken || isWriterFailure(error)) throw error;
    const message = `the turn's outcome (${outcome.status}) could not be recorded: ${messageOf(error).slice(0, 500)}`;
    await write({ status: "failed", code: "internal", message });
  }
}

/** Waits for what was recorded. Events that the store refused have their substitutes in the log, and are no failure here. */
export async function commitRecorded(recorder: Recorder): Promise<void> {
  try {
    await recorder.commit();
  } catch (error) {
    if (recorder.isBroken || isWriterFailure(error)) throw error;
  }
}

/** Nobody waits any more for what this turn asked and began, or, where none is named, for what happened between turns. */
export function closingEvents(state: SessionState, turnId: string | undefined, stopped: boolean): EventBody[] {
  const how = stopped
    ? ({
        outcome: "cancelled",
        text: turnId === undefined ? "its session was let go" : "cancelled with its turn",
      } as const)
    : ({
        outcome: "unknown",
        text: `its ${turnId === undefined ? "process" : "turn"} ended before its outcome was known`,
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
