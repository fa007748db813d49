/** A stage in which an agent works: one session for each agent of a task, which it comes back to. */
import {
  isRookeryError,
  newId,
  RookeryError,
  type ErrorCode,
  type SessionStore,
  type Stage,
  type TurnOutcome,
} from "../../domain/index.ts";
import { isTransientFailure, type Session, type Turn } from "../../session/index.ts";
import { budgetFor, refuseOverBudget, secondsLeft, usedElsewhere } from "../budget.ts";
import { commitLeft } from "../commit.ts";
import { parked, stopped } from "../reasons.ts";
import type { Place, Run, StageResult } from "./run.ts";
import { firstWords, goOnWords } from "./words.ts";

type AgentStage = Extract<Stage, { kind: "agent" }>;

/** The agent came to no good end: it may be tried again. */
export class AgentFailed extends RookeryError {}

/** How often it is looked whether the turn is parked, or has used too much. */
const LOOK_MS = 200;

export async function agentStage(run: Run, stage: AgentStage, place: Place): Promise<StageResult> {
  const session = await openFor(run, stage);
  try {
    const outcome = await withItsBudget(run, session, () => outcomeOf(run, session, { ...place, stage }));
    refuseUnlessDone(outcome, session, run.signal);
    await session[Symbol.asyncDispose](); // nothing of it works in the folder any more
    const said = await lastMessage(run.parts.store, session.id);
    await commitLeft(run);
    return resultOf(stage, said);
  } finally {
    await session[Symbol.asyncDispose]();
  }
}

/** The built-in agent asks by itself where the task's budget is used up: no clock stops it meanwhile. */
async function withItsBudget<T>({ time }: Run, session: Session, work: () => Promise<T>): Promise<T> {
  if (!asksItself(session)) return work();
  time.hold();
  try {
    return await work();
  } finally {
    time.goOn(secondsLeft(session.state));
  }
}

function asksItself({ state }: Session): boolean {
  return state.budgets.task !== undefined;
}

/** Of the turn that is this stage's own: it may have been given, or done, before its process died. */
async function outcomeOf(
  run: Run,
  session: Session,
  { stage, index, attempt }: Place & { readonly stage: AgentStage },
): Promise<TurnOutcome | undefined> {
  const { pen, parts, signal } = run;
  const { current } = pen.state;
  const sessionId = session.id;
  const own = current?.stage === index && current.sessionId === sessionId ? current : undefined;
  const start = (turns: number, turnId: string | undefined) =>
    pen.write({ type: "stage.started", stage: index, name: stage.name, attempt, sessionId, turns, turnId });
  if (own?.turnId !== undefined && session.resumed?.id === own.turnId) {
    await start(own.turns ?? 0, own.turnId);
    return followed(run, session, session.resumed);
  }
  await othersFirst(run, session);
  signal.throwIfAborted();
  const { turns: before, lastOutcome, usage } = session.state;
  const turns = own?.turns ?? before;
  if (lastOutcome?.status === "done" && (await wasDone(parts.store, sessionId, own?.turnId))) {
    await start(turns, own?.turnId);
    return lastOutcome;
  }
  const over = asksItself(session)
    ? undefined
    : refuseOverBudget(pen.state, await usedElsewhere(run, sessionId), usage);
  if (over !== undefined) throw over;
  const turnId = newId("trn", parts.clock.now());
  await start(turns, turnId);
  const words = (before > turns ? goOnWords : firstWords)(pen.state, stage, turns > 0);
  return followed(run, session, await prompted(run, session, words, turnId));
}

/** What a person says at any moment goes first: it began before this did. */
async function prompted(run: Run, session: Session, words: string, turnId: string): Promise<Turn> {
  for (;;) {
    try {
      return session.prompt(words, { signal: run.signal, turnId });
    } catch (error) {
      if (!isRookeryError(error, "turn_in_progress")) throw error;
      await othersFirst(run, session);
      run.signal.throwIfAborted();
    }
  }
}

/** What a person began or queued in the session, and did not see the end of. */
async function othersFirst({ signal }: Run, session: Session): Promise<void> {
  using _ = lettingGo(signal, session);
  await session.idle();
}

/** What waits in the session waits on for whoever opens it next: a turn that is only cancelled would be followed by it. */
function lettingGo(signal: AbortSignal, session: Session): Disposable {
  const letGo = () => void session[Symbol.asyncDispose]().catch(() => undefined); // the stage waits for the same
  if (signal.aborted) letGo();
  signal.addEventListener("abort", letGo, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", letGo) };
}

/** The newest that the task has with this agent, also one that was opened just before its process died. */
async function openFor(run: Run, stage: AgentStage): Promise<Session> {
  const { parts, pen, worktree, env } = run;
  const { id: task, spec } = pen.state;
  const [known] = await parts.store.list({ task, agent: stage.agent, limit: 1 });
  const model = stage.model ?? (stage.agent === spec.agent ? spec.model : undefined);
  const options = {
    agent: stage.agent,
    cwd: worktree.path,
    title: spec.title,
    task,
    env,
    ...(model !== undefined && { model }),
    ...(spec.permissions !== undefined && { permissions: spec.permissions }),
  };
  const usable = known === undefined || known.status === "closed" ? undefined : known;
  const taskBudget = await budgetFor(run, stage.agent, usable?.id);
  const budgeted = { ...options, ...(taskBudget !== undefined && { taskBudget }) };
  try {
    return await parts.openSession(usable === undefined ? budgeted : { ...budgeted, id: usable.id });
  } catch (error) {
    if (isRookeryError(error) && /^(agent_(unavailable|exited|failed)|provider_)/.test(error.code)) {
      throw new AgentFailed(error.code, error.message, { cause: error });
    }
    throw error;
  }
}

/** Waits for the turn's end; a turn that is parked is left so, and the task with it. */
async function followed(run: Run, session: Session, turn: Turn): Promise<TurnOutcome> {
  const { signal, pen } = run;
  const elsewhere = await usedElsewhere(run, session.id);
  using _ = lettingGo(signal, session);
  let left: Error | undefined;
  const leave = (why: Error): void => {
    left ??= why;
    void session.leave().catch(() => undefined);
  };
  const timer = setInterval(() => {
    if (left !== undefined) return;
    const { parkedUntil } = session.state.turn ?? {};
    if (parkedUntil !== undefined) return leave(parked(parkedUntil, `its account may do no more until ${parkedUntil}`));
    if (asksItself(session)) return;
    const over = refuseOverBudget(pen.state, elsewhere, session.state.usage);
    if (over !== undefined) leave(over);
  }, LOOK_MS);
  try {
    const outcome = await endOf(session, turn);
    if (left !== undefined && !signal.aborted) throw left;
    return outcome;
  } catch (error) {
    throw left ?? error;
  } finally {
    clearInterval(timer);
  }
}

/** What a person said that the turn could not hear any more is a turn of its own, and the stage is over when that is. */
async function endOf(session: Session, turn: Turn): Promise<TurnOutcome> {
  const outcome = await turn.outcome;
  await session.idle();
  return outcome.status === "done" ? (session.state.lastOutcome ?? outcome) : outcome;
}

/** Is it in the log that this turn was done? Others may have come after it. */
async function wasDone(store: SessionStore, sessionId: string, turnId: string | undefined): Promise<boolean> {
  if (turnId === undefined) return false;
  for (let before: number | undefined; ;) {
    const { events } = await store.read({ sessionId, before, order: "newest_first" });
    const found = events.find((event) => event.turnId === turnId);
    if (found !== undefined) return found.type === "turn.ended" && found.outcome.status === "done";
    before = events.at(-1)?.seq;
    if (before === undefined) return false;
  }
}

function refuseUnlessDone(outcome: TurnOutcome | undefined, { id, state }: Session, signal: AbortSignal): void {
  signal.throwIfAborted();
  switch (outcome?.status) {
    case "done":
      return;
    case "failed":
      if (outcome.code === "budget_reached") throw stopped(outcome.message, outcome.code); // no further try would help
      if (isTransientFailure(failureOf(outcome))) throw failureOf(outcome); // the run is queued again, and goes on
      throw new AgentFailed("stage_failed", wordsOf(state.agent, "failed", outcome.message));
    case "stalled":
      throw new AgentFailed("stage_failed", wordsOf(state.agent, "stalled", outcome.message));
    case "cancelled":
    case undefined:
      throw stopped(`its turn was cancelled in session ${id}`);
  }
}

function failureOf({ code, message }: Extract<TurnOutcome, { status: "failed" }>): RookeryError {
  return new RookeryError(code as ErrorCode, message);
}

/** Many failures begin with the agent's name already. */
function wordsOf(agent: string, how: string, message: string): string {
  return message.startsWith(agent) ? message : `${agent} ${how}: ${message}`;
}

function resultOf(stage: AgentStage, said: string): StageResult {
  if (stage.pass === undefined) return { passed: true };
  const passed = said.split("\n").some((line) => line.trim() === stage.pass);
  return passed ? { passed } : { passed, message: said };
}

const LOOK_BACK = 500;

/** Of its last turn; of an agent that only prints, all it printed. */
async function lastMessage(store: SessionStore, sessionId: string): Promise<string> {
  const { events } = await store.read({ sessionId, order: "newest_first", limit: LOOK_BACK });
  const begin = events.findIndex(({ type }) => type === "turn.started");
  const turn = begin === -1 ? events : events.slice(0, begin);
  const message = turn.find((event) => event.type === "message.completed" && event.text.trim() !== "");
  if (message?.type === "message.completed") return message.text;
  const printed = turn.flatMap((event) =>
    event.type === "output.text" && event.from === undefined ? [event.text] : [],
  );
  return printed.toReversed().join("");
}
