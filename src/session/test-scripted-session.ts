/** For tests of time limits: a session with a scripted agent and a manual clock. */
import {
  NO_CAPABILITIES,
  type AgentConnection,
  type LimitReached,
  type Store,
  type TurnContext,
  type TurnOutcome,
} from "../domain/index.ts";
import { DisposeStack, waitForAbort, type Clock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { transcript } from "../testing/index.ts";
import type { NamedChanges } from "./agent-settings.ts";
import type { PreparedAgent } from "./session-agent.ts";
import { createSession, reopenSession } from "./open.ts";

const SETTINGS = { agent: "robin", backend: "acp", model: undefined, cwd: "/", permissions: "ask" } as const;

export const DONE: TurnOutcome = { status: "done" };

export type ScriptedTurn = (turn: TurnContext) => Promise<TurnOutcome | LimitReached>;

export interface ScriptedSessionOptions {
  readonly timeLimits?: PreparedAgent["timeLimits"];
  readonly childMarker?: string;
  readonly activityCount?: () => number;
  readonly store?: Store;
  /** Wraps the store that the session writes to. */
  readonly through?: (store: Store) => Store;
  readonly patienceMs?: number;
}

/** A clock that advances only when `advance` is called. */
export function manualClock(): Clock & { advance(seconds: number): void } {
  let now = Date.parse("2026-01-01T00:00:00.000Z");
  return {
    now: () => now,
    advance: (seconds) => {
      now += seconds * 1000;
    },
  };
}

export async function openScriptedSession(
  runTurn: ScriptedTurn,
  {
    timeLimits,
    childMarker,
    activityCount,
    store: existing,
    through = (real) => real,
    patienceMs,
  }: ScriptedSessionOptions = {},
) {
  const owned = new DisposeStack();
  const store = owned.use(existing ?? openMemoryStore());
  const clock = manualClock();
  const connection: AgentConnection = {
    resumesTurns: false,
    capabilities: NO_CAPABILITIES,
    childMarker,
    get activityCount() {
      return activityCount?.();
    },
    runTurn,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const prepare = (_: unknown, { agent = SETTINGS.agent }: NamedChanges): Promise<PreparedAgent> =>
    Promise.resolve({ settings: { ...SETTINGS, agent }, connect: () => Promise.resolve(connection), timeLimits });
  const opening = { clock, owner: "elsewhere-played", attended: true, pollMs: 10, patienceMs };
  const session = owned.use(await createSession({ ...opening, store: through(store) }, {}, prepare));
  return {
    store,
    clock,
    session,
    /** Opens the session like another process after this one was killed and its lease expired. */
    reopen: async (changes: NamedChanges = {}) => {
      clock.advance(60);
      return owned.use(await reopenSession({ ...opening, store }, session.id, changes, prepare));
    },
    events: async () => (await store.read({ sessionId: session.id })).events,
    lines: async () => transcript((await store.read({ sessionId: session.id })).events).slice(1),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Resolves when the turn's signal fires. */
export function waitForStop({ signal }: TurnContext): Promise<void> {
  return waitForAbort(signal);
}
