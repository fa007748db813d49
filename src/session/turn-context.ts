/** The `TurnContext` that an agent gets for one turn: its input, its log, its effects and the permission gate. */
import {
  NO_USAGE,
  RookeryError,
  workOf,
  type Amounts,
  type EventBody,
  type ReadQuery,
  type SessionEvent,
  type SessionState,
  type SessionStore,
  type Spent,
  type TurnContext,
  type Usage,
  type Work,
} from "../domain/index.ts";
import { journalHost } from "../effects/index.ts";
import type { Clock } from "../stdx/index.ts";
import { askPerson, decidePermission, type GateOptions } from "./gate.ts";
import { readSessionPages } from "./pages.ts";
import type { Recorder } from "./recorder.ts";
import { retryStore } from "./store-retry.ts";
import type { Watchdog } from "./stall/watchdog.ts";

export interface TurnContextOptions {
  readonly turnId: string;
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly attended: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Gets every recorded event. */
  readonly watchdog: Watchdog;
}

/** A context that its owner can end. After `end`, it rejects every record with `interrupted`. */
export interface OwnedTurnContext extends TurnContext {
  end(): void;
}

export function createTurnContext(
  { recorder, store, turnId, attended, clock, signal, watchdog }: TurnContextOptions,
  journal: Awaited<ReturnType<SessionStore["journal"]>>,
): OwnedTurnContext {
  let hasEnded = false;
  const requireActive = (): void => {
    if (hasEnded) throw new RookeryError("interrupted", `turn ${turnId} has ended: events cannot be added to it`);
  };
  const createWriter =
    (how: "record" | "recordLazily") =>
    (bodies: readonly EventBody[], writes: Parameters<Recorder["record"]>[2] = []): void => {
      requireActive();
      recorder[how](bodies, turnId, writes);
      watchdog.observe(bodies);
    };
  const record = createWriter("record");
  const gate = (): GateOptions => {
    signal.throwIfAborted();
    requireActive();
    return { recorder, store, turnId, attended, signal };
  };
  const turn = recorder.state.turn;
  return {
    turnId,
    continued: turn !== undefined && turn.parks > 0,
    permissions: recorder.state.permissions,
    input: turn?.input ?? [],
    signal,
    log: {
      record: (...bodies) => record(bodies),
      ready: () => recorder.ready(),
      commit: () => recorder.commit(),
      get head() {
        return recorder.state.head;
      },
    },
    steering: () => (signal.aborted ? [] : recorder.state.queue.filter(({ deliver }) => deliver === "steer")),
    spent: () => sumSpent(recorder.state, clock.now()),
    subagents: () => ({ ofTurn: recorder.state.subagents, usage: recorder.state.usageOfSubagents }),
    pauseStallCheck: (work) => watchdog.whileAsking(work),
    effects: journalHost(journal, {
      commit: async (bodies, writes) => {
        record(bodies, writes);
        await recorder.commit();
      },
      queue: createWriter("recordLazily"),
      commitAlone: async (bodies, writes) => {
        requireActive();
        await recorder.write(bodies, { turnId, journal: writes, patient: true });
        watchdog.observe(bodies);
      },
    }),
    history: () => readHistory(recorder, store, signal),
    permit: async (request, options) => watchdog.whileAsking(decidePermission(gate(), request, options)),
    ask: async (question, options) => watchdog.whileAsking(askPerson(gate(), question, options)),
    blob: (hash) => retryStore(() => store.getBlob(hash), { signal }),
    putBlob: async (bytes) => (await retryStore(() => store.putBlob(bytes), { signal })).hash,
    end: () => {
      hasEnded = true;
    },
  };
}

function sumSpent({ usage, usageByAgent, agent, work, budgets, task }: SessionState, now: number): Spent {
  const ofAgent = Object.hasOwn(usageByAgent, agent) ? usageByAgent[agent] : undefined;
  return {
    session: toAmounts(usage, workOf(work, now)),
    agent: toAmounts(ofAgent ?? NO_USAGE, workOf(work, now, agent)),
    budgets,
    task,
  };
}

function toAmounts({ inputTokens, outputTokens, costUsd }: Usage, { steps, ranMs }: Work): Amounts {
  return { tokens: inputTokens + outputTokens, usd: costUsd, steps, seconds: ranMs / 1000 };
}

async function* readHistory(recorder: Recorder, store: SessionStore, signal: AbortSignal): AsyncIterable<SessionEvent> {
  await recorder.commit();
  const { id, head: through } = recorder.state;
  const retryingStore = { read: (query: ReadQuery) => retryStore(() => store.read(query), { signal }) };
  for await (const page of readSessionPages(retryingStore, id, { through })) yield* page;
}
