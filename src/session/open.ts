/** Opens a session to drive it: a new one, or one from the log. */
import {
  RookeryError,
  SessionFold,
  emptyState,
  isRookeryError,
  newId,
  childEnded,
  isSameBudget,
  NO_BUDGETS,
  type Amounts,
  type Budget,
  type EventBody,
  type SessionBudgets,
  type SessionState,
  type SessionStore,
  type TurnOutcome,
} from "../domain/index.ts";
import { DisposeStack, type Clock } from "../stdx/index.ts";
import { appendWithoutLease, sessionNotFound } from "./answer.ts";
import { changeEvents, definitionEvents, isSameAgent, type NamedChanges } from "./agent-settings.ts";
import { SessionAgent, type PrepareAgent } from "./session-agent.ts";
import type { Replacement } from "./conversation.ts";
import { endTurn, closingEvents } from "./end-turn.ts";
import { keepLeaseRenewed } from "./lease-keeper.ts";
import type { LeaseTiming } from "./lease-timing.ts";
import { isOtherProcessError, releaseSessionLease, takeLease } from "./lease.ts";
import { readSessionPages } from "./pages.ts";
import { Recorder } from "./recorder.ts";
import { Session } from "./session.ts";

export interface OpenOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** The owner of the lease: the identity of this process, as its children know it. */
  readonly owner: string;
  /** The ID of this host, if several hosts share the store. */
  readonly host?: string | undefined;
  /** True if a person can answer requests. */
  readonly attended: boolean;
  /** How often time limits and events of other processes are checked, in milliseconds. */
  readonly pollMs?: number | undefined;
  /**
   * How long transient failures of the store are retried before waiters are rejected, in milliseconds. Default: 30 s.
   */
  readonly patienceMs?: number | undefined;
  /** Default: 30 s, renewed every 10 s. */
  readonly leaseTiming?: LeaseTiming | undefined;
  readonly onReleased?: ((session: Session) => void) | undefined;
}

export interface NewSessionOptions {
  readonly title?: string | undefined;
  readonly task?: string | undefined;
  /** What the conversation starts with. Default: nothing. */
  readonly conversation?: Replacement | undefined;
  /** Set for a sub-agent's session, whose ID is known beforehand. */
  readonly child?: { readonly id: string; readonly parent: string; readonly depth: number } | undefined;
}

/** Budgets of the session and of its task. Default of each: unchanged. */
export interface BudgetOptions {
  readonly budget?: Budget | undefined;
  readonly taskBudget?: { readonly budget: Budget; readonly elsewhere: Partial<Amounts> } | undefined;
}

/**
 * Creates a session with a connected agent. The lease comes last, because the session exists only after its first event;
 * until then no other process knows its id.
 */
export async function createSession(
  options: OpenOptions,
  {
    title,
    task,
    child,
    conversation,
    budget,
    taskBudget,
    ...changes
  }: NamedChanges & NewSessionOptions & BudgetOptions,
  prepare: PrepareAgent,
): Promise<Session> {
  const { store, clock } = options;
  const { id: sessionId = newId("ses", clock.now()), parent, depth } = child ?? {};
  await using opening = new DisposeStack();
  const prepared = await prepare({ ...emptyState(sessionId), parent, depth: depth ?? 0 }, changes);
  const { definition: _, ...settings } = prepared.settings;
  const sessionAgent = opening.use(await SessionAgent.connect(prepare, prepared));
  const { host } = options;
  const body = { type: "session.opened" as const, ...settings, title, task, parent, depth, host };
  const stamp = { at: new Date(clock.now()).toISOString(), agent: settings.agent };
  const bodies = [
    body,
    ...definitionEvents(emptyState(sessionId), prepared.settings),
    ...budgetEvents(NO_BUDGETS, { budget, taskBudget }),
    ...(conversation === undefined ? [] : [conversation]),
  ];
  const events = bodies.map((draft) => ({ ...draft, ...stamp }));
  await store.append({ sessionId, id: newId("app", clock.now()), expectedHead: 0, events });
  const { recorder, lost } = await openRecorder(options, opening, sessionId);
  return new Session({ ...options, recorder, lost, sessionAgent, shownThrough: 0, owned: opening.move() });
}

/**
 * Opens a stored session. Ends or resumes a turn that a dead process left. Rejects with `session_not_found`,
 * `session_in_use` or `session_closed`.
 */
export async function reopenSession(
  options: OpenOptions,
  sessionId: string,
  { budget, taskBudget, ...changes }: NamedChanges & BudgetOptions,
  prepare: PrepareAgent,
): Promise<Session> {
  await using opening = new DisposeStack();
  const { recorder, lost } = await openRecorder(options, opening, sessionId);
  const { state } = recorder;
  const abandonedTurn = state.turn;
  if (state.closed) {
    await endAbandonedTurn(options, recorder, { status: "cancelled" });
    throw new RookeryError("session_closed", `session ${sessionId} is closed: start a new one with \`rookery run\``);
  }
  const prepareFork: PrepareAgent = async (before, settings) =>
    prepare(await withValidFork(options.store, before), settings);
  const prepared = await prepareFork(state, changes);
  const { settings } = prepared;
  const sessionAgent = opening.use(await SessionAgent.connect(prepareFork, prepared));
  const isParked = abandonedTurn?.parkedUntil !== undefined; // a parked turn has no work in progress
  const canResume = (isParked || sessionAgent.connection.resumesTurns) && isSameAgent(state, settings);
  if (abandonedTurn !== undefined && !canResume) {
    const message = "the process that ran this turn exited before the turn ended";
    await endAbandonedTurn(options, recorder, { status: "failed", code: "interrupted", message });
  }
  await recorder.write([
    ...closingEvents(state, undefined, false), // requests from between turns, whose process is dead
    ...changeEvents(state, settings, options.host),
    ...budgetEvents(state.budgets, { budget, taskBudget }),
  ]);
  return new Session({ ...options, recorder, lost, sessionAgent, shownThrough: state.head, owned: opening.move() });
}

/** Returns the events that record changed budgets. Empty if nothing changed. */
function budgetEvents(before: SessionBudgets, { budget, taskBudget }: BudgetOptions): EventBody[] {
  const isNew = budget !== undefined && !isSameBudget(before.session, budget);
  return [
    ...(isNew ? [{ type: "budget.set" as const, of: "session" as const, budget }] : []),
    ...(taskBudget === undefined ? [] : [{ type: "budget.set" as const, of: "task" as const, ...taskBudget }]),
  ];
}

/**
 * Clears `forkOf` if the parent has more turns than this session, because its program would copy those turns too.
 */
async function withValidFork(store: SessionStore, state: SessionState): Promise<SessionState> {
  if (state.forkOf === undefined || state.parent === undefined) return state;
  const parent = await store.summary(state.parent);
  return parent?.turns === state.turns ? state : { ...state, forkOf: undefined };
}

/** Ends a session for good, even if another process drives it, and ends a turn that a dead process left. */
export async function endStoredSession(options: OpenOptions, sessionId: string, reason?: string): Promise<void> {
  const closed = { type: "session.closed" as const, ...(reason !== undefined && { reason }) };
  await using opening = new DisposeStack();
  const opened = await openRecorder(options, opening, sessionId).catch(async (error: unknown) => {
    if (!isRookeryError(error, "session_in_use")) throw error;
    await appendWithoutLease(options.store, sessionId, options.clock, ({ status }) =>
      status === "closed" ? undefined : { body: closed, turnId: undefined },
    ); // the driving process finds the event and stops
  });
  if (opened === undefined) return;
  const { recorder } = opened;
  const isClosed = recorder.state.closed;
  await endAbandonedTurn(options, recorder, { status: "cancelled" });
  if (isClosed) return;
  await recorder.write([...closingEvents(recorder.state, undefined, false), closed]);
}

/**
 * Ends a turn that a dead process left, without opening its agent. With `turnId`, only this turn. Resolves with the
 * state after that. Rejects with `session_in_use` while a live process drives the session.
 */
export async function settleStoredSession(
  options: OpenOptions,
  sessionId: string,
  turnId?: string,
): Promise<SessionState> {
  await using opening = new DisposeStack();
  const { recorder } = await openRecorder(options, opening, sessionId);
  const isThisTurn = turnId === undefined || recorder.state.turn?.id === turnId;
  if (isThisTurn) await endAbandonedTurn(options, recorder, { status: "cancelled" });
  return recorder.state;
}

/** Ends a turn that a dead process left, after the turns of its sub-agents. */
async function endAbandonedTurn(options: OpenOptions, recorder: Recorder, outcome: TurnOutcome): Promise<void> {
  const { turn, subagents } = recorder.state;
  if (turn === undefined) return;
  for (const child of subagents) {
    if (child.outcome === undefined) recorder.record(await settleChild(options, child.childSessionId), turn.id);
  }
  await endTurn(recorder, turn.id, outcome, { abandoned: true });
}

/** Returns the events that record the end of a sub-agent. Empty if it never started, or a live process drives it. */
async function settleChild(options: OpenOptions, childSessionId: string): Promise<EventBody[]> {
  try {
    const { lastOutcome = { status: "cancelled" }, usage } = await settleStoredSession(options, childSessionId);
    return childEnded(childSessionId, lastOutcome, usage);
  } catch (error) {
    if (isOtherProcessError(error)) return [];
    throw error;
  }
}

/** Acquires the lease, then reads the state, so that the state includes everything that the previous holder wrote. */
async function openRecorder(
  { store, clock, owner, patienceMs, leaseTiming: timing }: OpenOptions,
  opening: DisposeStack,
  sessionId: string,
): Promise<{ readonly recorder: Recorder; readonly lost: AbortSignal }> {
  const summary = await store.summary(sessionId);
  if (summary === undefined || summary.status === "copying") throw sessionNotFound(sessionId);
  const lease = await takeLease({ store, sessionId, owner, clock, timing });
  const state = await loadState(store, sessionId).catch(async (error: unknown) => {
    await releaseSessionLease(store, lease).catch(() => undefined); // the first error is more useful
    throw error;
  });
  const recorder = new Recorder({ store, state, fence: lease.generation, clock, patienceMs });
  const losing = new AbortController();
  const lose = (error: unknown): void => {
    recorder.break(error);
    losing.abort(error);
  };
  opening.use(keepLeaseRenewed({ store, sessionId, owner, clock, timing }, lease, lose));
  opening.defer(() => recorder.stopRetrying());
  return { recorder, lost: losing.signal };
}

/** Folds the log, or the part of it after an earlier state. Rejects with `session_not_found`. */
export async function loadState(
  store: Pick<SessionStore, "read">,
  sessionId: string,
  from: SessionState = emptyState(sessionId),
): Promise<SessionState> {
  const fold = new SessionFold(from);
  const pages = readSessionPages(store, sessionId, { after: from.head });
  for await (const page of pages) for (const event of page) fold.add(event);
  return fold.state;
}
