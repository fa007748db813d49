/** Opens a session for driving: a new one, or one that is in the log already, whoever left it there. */
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
import { Driver, changeEvents, isSameAgent, type Changes, type PrepareAgent } from "./driver.ts";
import { endTurn, closingEvents } from "./end-turn.ts";
import { keepLeaseRenewed } from "./lease-keeper.ts";
import type { LeaseTiming } from "./lease-timing.ts";
import { releaseSessionLease, takeLease } from "./lease.ts";
import { readSessionPages } from "./pages.ts";
import { Recorder } from "./recorder.ts";
import { Session } from "./session.ts";

export interface OpenOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Who holds the lease: the process, as its children know it. */
  readonly owner: string;
  /** Can anyone be asked for a permission? */
  readonly attended: boolean;
  /** How often a turn looks whether its time has run out. */
  readonly lookMs?: number | undefined;
  /** How long failures of the store that may pass are waited out, in milliseconds. Default: 30 s. */
  readonly patienceMs?: number | undefined;
  /** Default: 30 s, renewed every 10 s. */
  readonly leaseTiming?: LeaseTiming | undefined;
  readonly onReleased?: ((session: Session) => void) | undefined;
}

export interface NewSessionOptions {
  readonly title?: string | undefined;
  readonly task?: string | undefined;
  /** Where another session's agent begins it: it has its id beforehand. */
  readonly child?: { readonly id: string; readonly parent: string; readonly depth: number } | undefined;
}

/** What the session may use, and the task that it is of. What is left out stays as the log has it. */
export interface BudgetOptions {
  readonly budget?: Budget | undefined;
  readonly taskBudget?: { readonly budget: Budget; readonly elsewhere: Partial<Amounts> } | undefined;
}

export async function createSession(
  options: OpenOptions,
  { title, task, child, budget, taskBudget, ...changes }: Changes & NewSessionOptions & BudgetOptions,
  prepare: PrepareAgent,
): Promise<Session> {
  const { store, clock } = options;
  const { id: sessionId = newId("ses", clock.now()), parent, depth } = child ?? {};
  await using opening = new DisposeStack();
  const prepared = await prepare({ ...emptyState(sessionId), parent, depth: depth ?? 0 }, changes);
  const { settings } = prepared;
  const driver = opening.use(await Driver.connect(prepare, prepared));
  const body = { type: "session.opened" as const, ...settings, title, task, parent, depth };
  const stamp = { at: new Date(clock.now()).toISOString(), agent: settings.agent };
  const events = [body, ...budgetEvents(NO_BUDGETS, { budget, taskBudget })].map((draft) => ({ ...draft, ...stamp }));
  await store.append({ sessionId, id: newId("app", clock.now()), expectedHead: 0, events });
  const { recorder, lost } = await openRecorder(options, opening, sessionId);
  return new Session({ ...options, recorder, lost, driver, shownThrough: 0, owned: opening.move() });
}

/** Ends or goes on with a turn that a dead process left. Rejects with `session_not_found`, `session_in_use` or `session_closed`. */
export async function reopenSession(
  options: OpenOptions,
  sessionId: string,
  { budget, taskBudget, ...changes }: Changes & BudgetOptions,
  prepare: PrepareAgent,
): Promise<Session> {
  await using opening = new DisposeStack();
  const { recorder, lost } = await openRecorder(options, opening, sessionId);
  const { state } = recorder;
  const left = state.turn;
  if (state.closed) {
    await endAbandonedTurn(options, recorder, { status: "cancelled" });
    throw new RookeryError("session_closed", `session ${sessionId} was closed: start a new one with \`rookery run\``);
  }
  const careful: PrepareAgent = async (of, wanted) => prepare(await withValidFork(options.store, of), wanted);
  const prepared = await careful(state, changes);
  const { settings } = prepared;
  const driver = opening.use(await Driver.connect(careful, prepared));
  const isAtRest = left?.parkedUntil !== undefined; // nobody was in the middle of anything
  if (left !== undefined && !((isAtRest || driver.connection.resumesTurns) && isSameAgent(state, settings))) {
    const message = "the process that ran this turn ended before the turn did";
    await endAbandonedTurn(options, recorder, { status: "failed", code: "interrupted", message });
  }
  const allowed = budgetEvents(state.budgets, { budget, taskBudget });
  const ends = closingEvents(state, undefined, false); // whoever asked between turns is dead
  await recorder.write([...ends, ...changeEvents(state, settings), ...allowed]);
  return new Session({ ...options, recorder, lost, driver, shownThrough: state.head, owned: opening.move() });
}

/** What is to be recorded of budgets: nothing where they are as they were. */
function budgetEvents(before: SessionBudgets, { budget, taskBudget }: BudgetOptions): EventBody[] {
  const isNew = budget !== undefined && !isSameBudget(before.session, budget);
  return [
    ...(isNew ? [{ type: "budget.set" as const, of: "session" as const, budget }] : []),
    ...(taskBudget === undefined ? [] : [{ type: "budget.set" as const, of: "task" as const, ...taskBudget }]),
  ];
}

/** Where the other session has gone on, its program would bring along what the log of this one does not have. */
async function withValidFork(store: SessionStore, state: SessionState): Promise<SessionState> {
  if (state.forkOf === undefined || state.parent === undefined) return state;
  const parent = await store.summary(state.parent);
  return parent?.turns === state.turns ? state : { ...state, forkOf: undefined };
}

/** Ends the conversation, also one that another process drives, and the turn that a dead process left in it. */
export async function closeStoredSession(options: OpenOptions, sessionId: string, reason?: string): Promise<void> {
  const closing = { type: "session.closed" as const, ...(reason !== undefined && { reason }) };
  await using opening = new DisposeStack();
  const pen = await openRecorder(options, opening, sessionId).catch(async (error: unknown) => {
    if (!isRookeryError(error, "session_in_use")) throw error;
    await appendWithoutLease(options.store, sessionId, options.clock, ({ status }) =>
      status === "closed" ? undefined : { body: closing, turnId: undefined },
    ); // its driver finds it and stops
  });
  if (pen === undefined) return;
  const { recorder } = pen;
  const { closed } = recorder.state;
  await endAbandonedTurn(options, recorder, { status: "cancelled" });
  if (closed) return;
  await recorder.write([...closingEvents(recorder.state, undefined, false), closing]);
}

/** Ends a turn that a dead process left, and opens no agent for it. Rejects with `session_in_use` while a living one drives it. */
export async function settleStoredSession(options: OpenOptions, sessionId: string): Promise<void> {
  await settleSession(options, sessionId);
}

async function settleSession(options: OpenOptions, sessionId: string): Promise<SessionState> {
  await using opening = new DisposeStack();
  const { recorder } = await openRecorder(options, opening, sessionId);
  await endAbandonedTurn(options, recorder, { status: "cancelled" });
  return recorder.state;
}

/** Ends a turn that a dead process left, after those of the children that it left with it. */
async function endAbandonedTurn(options: OpenOptions, recorder: Recorder, outcome: TurnOutcome): Promise<void> {
  const { turn, subagents } = recorder.state;
  if (turn === undefined) return;
  for (const child of subagents) {
    if (child.outcome === undefined) recorder.record(await settleChild(options, child.childSessionId), turn.id);
  }
  await endTurn(recorder, turn.id, outcome, { deserted: true });
}

/** What is to be recorded of it: nothing where it never began, or a living process goes on with it. */
async function settleChild(options: OpenOptions, childSessionId: string): Promise<EventBody[]> {
  try {
    const { lastOutcome = { status: "cancelled" }, usage } = await settleSession(options, childSessionId);
    return childEnded(childSessionId, lastOutcome, usage);
  } catch (error) {
    const isOthers = (["session_not_found", "session_in_use", "lease_lost"] as const).some((code) =>
      isRookeryError(error, code),
    );
    if (isOthers) return [];
    throw error;
  }
}

/** The lease first, the state after it: what is read then is what the last holder left. */
async function openRecorder(
  { store, clock, owner, patienceMs, leaseTiming: timing }: OpenOptions,
  opening: DisposeStack,
  sessionId: string,
): Promise<{ readonly recorder: Recorder; readonly lost: AbortSignal }> {
  const summary = await store.summary(sessionId);
  if (summary === undefined || summary.status === "copying") throw sessionNotFound(sessionId);
  const lease = await takeLease({ store, sessionId, owner, clock, timing });
  const state = await loadState(store, sessionId).catch(async (error: unknown) => {
    await releaseSessionLease(store, lease).catch(() => undefined); // the first failure says more
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

/** The fold of the whole log. Rejects with `session_not_found`. */
export async function loadState(store: SessionStore, sessionId: string): Promise<SessionState> {
  const fold = new SessionFold(emptyState(sessionId));
  for await (const page of readSessionPages(store, sessionId)) for (const event of page) fold.add(event);
  return fold.state;
}
