/** One turn of a live session: from its start, through the agent, to exactly one end. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  RookeryError,
  isRookeryError,
  messageOf,
  type AgentConnection,
  type EventBody,
  type LimitReached,
  type SessionEvent,
  type SessionState,
  type SessionStore,
  type TurnContext,
  type TurnOutcome,
} from "../domain/index.ts";
import { journalHost } from "../effects/index.ts";
import { ask, permit, type GateOptions } from "./gate.ts";
import { pagesOf } from "./pages.ts";
import type { Recorder } from "./recorder.ts";

export interface TurnOptions {
  readonly turnId: string;
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly connection: AgentConnection;
  readonly attended: boolean;
  readonly signal: AbortSignal;
}

/** How long an agent may take to notice that it was cancelled. */
const CANCEL_GRACE_MS = 10_000;

/** Drives a turn that has been started in the log, and ends it there. Rejects only where the log cannot be written. */
export async function driveTurn(options: TurnOptions): Promise<TurnOutcome> {
  const { recorder, store, connection, turnId, signal } = options;
  await recorder.commit(); // a turn that did not start is not driven
  const journal = await store.journal(recorder.state.id, turnId);
  const context = contextOf(options, journal);
  const outcome = await Promise.race([
    connection
      .runTurn(context)
      .then(settled)
      .catch((error: unknown) => failureOf(error)),
    cancelledAfterGrace(signal),
  ]);
  context.end();
  await endTurn(recorder, turnId, outcome);
  return outcome;
}

/** Writes the end, and before it the end of whatever the turn left open; what a dead process left, nobody stopped. */
export async function endTurn(
  recorder: Recorder,
  turnId: string,
  outcome: TurnOutcome,
  { deserted = false }: { deserted?: boolean } = {},
): Promise<void> {
  await recorder.commit();
  const stopped = outcome.status === "cancelled" && !deserted;
  recorder.record([...looseEnds(recorder.state, turnId, stopped), { type: "turn.ended", outcome }], turnId, [
    { op: "forget", turnId },
  ]);
  await recorder.commit();
}

function contextOf(
  { recorder, store, turnId, attended, signal }: TurnOptions,
  journal: Awaited<ReturnType<SessionStore["journal"]>>,
): TurnContext & { end(): void } {
  let over = false;
  const refuseIfOver = (): void => {
    if (over) throw new RookeryError("interrupted", `turn ${turnId} is over; nothing more is recorded for it`);
  };
  const record = (bodies: readonly EventBody[], writes: Parameters<Recorder["record"]>[2] = []): void => {
    refuseIfOver();
    recorder.record(bodies, turnId, writes);
  };
  const gate = (): GateOptions => {
    signal.throwIfAborted();
    refuseIfOver();
    return { recorder, store, turnId, attended, signal };
  };
  const turn = recorder.state.turn;
  return {
    turnId,
    input: turn?.input ?? [],
    signal,
    log: { record: (...bodies) => record(bodies), ready: () => recorder.ready(), commit: () => recorder.commit() },
    effects: journalHost(journal, async (bodies, writes) => {
      record(bodies, writes);
      await recorder.commit();
    }),
    history: () => historyOf(recorder, store),
    permit: async (request, options) => permit(gate(), request, options),
    ask: async (question, options) => ask(gate(), question, options),
    blob: (hash) => store.getBlob(hash),
    putBlob: async (bytes) => (await store.putBlob(bytes)).hash,
    end: () => {
      over = true;
    },
  };
}

async function* historyOf(recorder: Recorder, store: SessionStore): AsyncIterable<SessionEvent> {
  await recorder.commit();
  const { id, head: through } = recorder.state;
  for await (const page of pagesOf(store, id, { through })) yield* page;
}

/** A limit that passes is a failure in words. */
function settled(end: TurnOutcome | LimitReached): TurnOutcome {
  return end.status === "limited" ? { status: "failed", code: "usage_limited", message: end.message } : end;
}

/** The agent's own failures are outcomes; what reaches here is a broken log, which is thrown on, or a defect. */
function failureOf(error: unknown): TurnOutcome {
  const logIsBroken = isRookeryError(error) && (error.code.startsWith("store_") || error.code === "lease_lost");
  if (logIsBroken) throw error;
  return { status: "failed", code: isRookeryError(error) ? error.code : "internal", message: messageOf(error) };
}

async function cancelledAfterGrace(signal: AbortSignal): Promise<TurnOutcome> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await sleep(CANCEL_GRACE_MS, undefined, { ref: false });
  return { status: "cancelled" };
}

/** Nobody waits any more for what this turn asked and began, or, where none is named, for what happened between turns. */
export function looseEnds(state: SessionState, turnId: string | undefined, stopped: boolean): EventBody[] {
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
    ...withdrawals(state, turnId),
    ...tools.map(({ toolId }): EventBody => ({ type: "tool.ended", toolId, ...how })),
  ];
}

function withdrawals({ requests }: SessionState, turnId: string | undefined): EventBody[] {
  return requests
    .filter((request) => request.answer === undefined && request.turnId === turnId)
    .map(({ requestId, toolId }): EventBody =>
      toolId === undefined
        ? { type: "question.answered", requestId, action: "cancel", by: "policy" }
        : { type: "permission.resolved", requestId, decision: "cancelled", scope: "once", by: "policy" },
    );
}
