/** Lets an agent connection record events and ask questions between turns. */
import type { BetweenTurnsContext, SessionStore } from "../domain/index.ts";
import { closingEvents } from "./end-turn.ts";
import { askPerson, decidePermission, type GateOptions } from "./gate.ts";
import type { Recorder } from "./recorder.ts";
import { retryStore } from "./store-retry.ts";

export interface BetweenTurnsOptions {
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly attended: boolean;
}

export interface BetweenTurns extends AsyncDisposable {
  /** Events and requests of this context belong to this agent, even while another agent drives the session. */
  forAgent(agent: string): BetweenTurnsContext;
}

/** Disposing withdraws the open requests. It never rejects, not even if the log cannot be written. */
export function openBetweenTurns({ recorder, store, attended }: BetweenTurnsOptions): BetweenTurns {
  const closing = new AbortController();
  const gate = (by: string): GateOptions => {
    closing.signal.throwIfAborted();
    return { recorder, store, turnId: undefined, by, attended, signal: closing.signal };
  };
  const forAgent = (agent: string): BetweenTurnsContext => ({
    attended,
    record: (...bodies) => {
      if (closing.signal.aborted) return;
      try {
        recorder.record(bodies, undefined, [], agent);
      } catch {
        // the log is broken; the next turn reports it
      }
    },
    ask: async (question, options) => askPerson(gate(agent), question, options),
    putBlob: async (bytes) => (await retryStore(() => store.putBlob(bytes))).hash,
    getBlob: (hash) => retryStore(() => store.getBlob(hash)),
    permit: async (request, options) => decidePermission(gate(agent), request, options),
  });
  return {
    forAgent,
    async [Symbol.asyncDispose]() {
      if (closing.signal.aborted) return;
      closing.abort(new Error("the session was released"));
      try {
        await recorder.commit();
        if (recorder.state.closed) return;
        await recorder.write(closingEvents(recorder.state, undefined, true));
      } catch {
        // the next process that opens the session withdraws them
      }
    },
  };
}
