/** What an agent has of the turn that it runs: its input, its pen, its effects and the gate. */
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
import { askQuestion, decidePermission, type GateOptions } from "./gate.ts";
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
  /** Sees all that is recorded. */
  readonly watchdog: Watchdog;
}

/** Nothing is recorded through it once it is ended. */
export interface OwnedTurnContext extends TurnContext {
  end(): void;
}

export function createTurnContext(
  { recorder, store, turnId, attended, clock, signal, watchdog }: TurnContextOptions,
  journal: Awaited<ReturnType<SessionStore["journal"]>>,
): OwnedTurnContext {
  let over = false;
  const refuseIfOver = (): void => {
    if (over) throw new RookeryError("interrupted", `turn ${turnId} is over; nothing more is recorded for it`);
  };
  const written =
    (how: "record" | "note") =>
    (bodies: readonly EventBody[], writes: Parameters<Recorder["record"]>[2] = []): void => {
      refuseIfOver();
      recorder[how](bodies, turnId, writes);
      watchdog.saw(bodies);
    };
  const record = written("record");
  const gate = (): GateOptions => {
    signal.throwIfAborted();
    refuseIfOver();
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
    steering: () => recorder.state.queue.filter(({ deliver }) => deliver === "steer"),
    spent: () => sumSpent(recorder.state, clock.now()),
    subagents: () => ({ ofTurn: recorder.state.subagents, usage: recorder.state.usageOfSubagents }),
    away: (work) => watchdog.whileAsking(work),
    effects: journalHost(
      journal,
      async (bodies, writes) => {
        record(bodies, writes);
        await recorder.commit();
      },
      written("note"),
    ),
    history: () => readHistory(recorder, store, signal),
    permit: async (request, options) => watchdog.whileAsking(decidePermission(gate(), request, options)),
    ask: async (question, options) => watchdog.whileAsking(askQuestion(gate(), question, options)),
    blob: (hash) => retryStore(() => store.getBlob(hash), { signal }),
    putBlob: async (bytes) => (await retryStore(() => store.putBlob(bytes), { signal })).hash,
    end: () => {
      over = true;
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
  const patient = { read: (query: ReadQuery) => retryStore(() => store.read(query), { signal }) };
  for await (const page of readSessionPages(patient, id, { through })) yield* page;
}
