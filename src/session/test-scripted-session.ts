/** For tests of time: a session whose agent does what the test says, and a clock that the test turns. */
import {
  NO_CAPABILITIES,
  type AgentConnection,
  type LimitReached,
  type Store,
  type TurnContext,
  type TurnOutcome,
} from "../domain/index.ts";
import { DisposeStack, type Clock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { transcript } from "../testing/index.ts";
import type { Changes, PreparedAgent } from "./driver.ts";
import { createSession, reopenSession } from "./open.ts";

const SETTINGS = { agent: "robin", backend: "acp", model: undefined, cwd: "/", permissions: "ask" } as const;

export const DONE: TurnOutcome = { status: "done" };

export type ScriptedTurn = (turn: TurnContext) => Promise<TurnOutcome | LimitReached>;

export interface ScriptedSessionOptions {
  readonly patience?: PreparedAgent["patience"];
  readonly childMarker?: string;
  readonly heard?: () => number;
  readonly store?: Store;
  /** What is written goes through this one. */
  readonly through?: (store: Store) => Store;
  readonly patienceMs?: number;
}

/** A clock that goes only as far as it is turned. */
export function manualClock(): Clock & { turn(seconds: number): void } {
  let now = Date.parse("2026-01-01T00:00:00.000Z");
  return {
    now: () => now,
    turn: (seconds) => {
      now += seconds * 1000;
    },
  };
}

export async function openScriptedSession(
  play: ScriptedTurn,
  { patience, childMarker, heard, store: given, through = (real) => real, patienceMs }: ScriptedSessionOptions = {},
) {
  const owned = new DisposeStack();
  const store = owned.use(given ?? openMemoryStore());
  const clock = manualClock();
  const connection: AgentConnection = {
    resumesTurns: false,
    capabilities: NO_CAPABILITIES,
    childMarker,
    get heard() {
      return heard?.();
    },
    runTurn: play,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const prepare = (_: unknown, { agent = SETTINGS.agent }: Changes): Promise<PreparedAgent> =>
    Promise.resolve({ settings: { ...SETTINGS, agent }, connect: () => Promise.resolve(connection), patience });
  const opening = { clock, owner: "elsewhere-played", attended: true, lookMs: 10, patienceMs };
  const session = owned.use(await createSession({ ...opening, store: through(store) }, {}, prepare));
  return {
    store,
    clock,
    session,
    /** As another process does after this one was killed, whose lease has run out. */
    reopen: async (changes: Changes = {}) => {
      clock.turn(60);
      return owned.use(await reopenSession({ ...opening, store }, session.id, changes, prepare));
    },
    events: async () => (await store.read({ sessionId: session.id })).events,
    lines: async () => transcript((await store.read({ sessionId: session.id })).events).slice(1),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Resolves when the turn is told to stop. */
export function waitForStop({ signal }: TurnContext): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
