/** What an agent's connection may do between turns: say something, and ask. */
import type { BetweenTurnsContext, SessionStore } from "../domain/index.ts";
import { closingEvents } from "./end-turn.ts";
import { askQuestion, decidePermission, type GateOptions } from "./gate.ts";
import type { Recorder } from "./recorder.ts";
import { retryStore } from "./store-retry.ts";

export interface BetweenTurnsOptions {
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly attended: boolean;
}

export interface BetweenTurns extends AsyncDisposable {
  /** What is said and asked there is this agent's, whoever drives the session meanwhile. */
  of(agent: string): BetweenTurnsContext;
}

/** Disposing ends what is asked there; it does so also where the log cannot be written. */
export function openBetweenTurns({ recorder, store, attended }: BetweenTurnsOptions): BetweenTurns {
  const closing = new AbortController();
  const gate = (by: string): GateOptions => {
    closing.signal.throwIfAborted();
    return { recorder, store, turnId: undefined, by, attended, signal: closing.signal };
  };
  const of = (agent: string): BetweenTurnsContext => ({
    attended,
    record: (...bodies) => {
      if (closing.signal.aborted) return;
      try {
        recorder.record(bodies, undefined, [], agent);
      } catch {
        // the log is broken, which the next turn tells
      }
    },
    ask: async (question, options) => askQuestion(gate(agent), question, options),
    putBlob: async (bytes) => (await retryStore(() => store.putBlob(bytes))).hash,
    getBlob: (hash) => retryStore(() => store.getBlob(hash)),
    permit: async (request, options) => decidePermission(gate(agent), request, options),
  });
  return {
    of,
    async [Symbol.asyncDispose]() {
      if (closing.signal.aborted) return;
      closing.abort(new Error("the session was let go"));
      try {
        await recorder.commit();
        if (recorder.state.closed) return;
        await recorder.write(closingEvents(recorder.state, undefined, true));
      } catch {
        // who opens the session next finds them, and withdraws them
      }
    },
  };
}
