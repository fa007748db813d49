/** What an agent's connection may do between turns: say something, and ask. */
import type { SessionDesk, SessionStore } from "../domain/index.ts";
import { looseEnds } from "./ending.ts";
import { ask, permit, type GateOptions } from "./gate.ts";
import type { Recorder } from "./recorder.ts";

export interface DeskOptions {
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly attended: boolean;
}

export interface OwnedDesk extends AsyncDisposable {
  readonly desk: SessionDesk;
}

/** Disposing ends what is asked there; it does so also where the log cannot be written. */
export function openDesk({ recorder, store, attended }: DeskOptions): OwnedDesk {
  const closing = new AbortController();
  const gate = (): GateOptions => {
    closing.signal.throwIfAborted();
    return { recorder, store, turnId: undefined, attended, signal: closing.signal };
  };
  const desk: SessionDesk = {
    attended,
    record: (...bodies) => {
      if (closing.signal.aborted) return;
      try {
        recorder.record(bodies);
      } catch {
        // the log is broken, which the next turn tells
      }
    },
    ask: async (question, options) => ask(gate(), question, options),
    putBlob: async (bytes) => (await store.putBlob(bytes)).hash,
    getBlob: (hash) => store.getBlob(hash),
    permit: async (request, options) => permit(gate(), request, options),
  };
  return {
    desk,
    async [Symbol.asyncDispose]() {
      if (closing.signal.aborted) return;
      closing.abort(new Error("the session was let go"));
      try {
        await recorder.commit();
        if (recorder.state.closed) return;
        recorder.record(looseEnds(recorder.state, undefined, true));
        await recorder.commit();
      } catch {
        // who opens the session next finds them, and withdraws them
      }
    },
  };
}
