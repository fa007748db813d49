/** What an agent's connection may do between turns: say something, and ask. */
import type { SessionDesk, SessionStore } from "../domain/index.ts";
import { ask, permit, type GateOptions } from "./gate.ts";
import type { Recorder } from "./recorder.ts";
import { withdrawals } from "./turn.ts";

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
  const gate = (signal?: AbortSignal): GateOptions => {
    closing.signal.throwIfAborted();
    const either = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
    return { recorder, store, turnId: undefined, attended, signal: either };
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
    permit: async (request, { signal } = {}) => permit(gate(signal), request),
  };
  return {
    desk,
    async [Symbol.asyncDispose]() {
      if (closing.signal.aborted) return;
      closing.abort(new Error("the session was let go"));
      try {
        await recorder.commit();
        if (recorder.state.closed) return;
        recorder.record(withdrawals(recorder.state, undefined));
        await recorder.commit();
      } catch {
        // who opens the session next finds them, and withdraws them
      }
    },
  };
}
