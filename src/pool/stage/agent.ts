/** Runs a stage in which an agent works. A task has one session per agent, which later stages of that agent reuse. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  addUsage,
  isRookeryError,
  newId,
  RookeryError,
  type ErrorCode,
  type SessionStore,
  type TurnOutcome,
  type Usage,
} from "../../domain/index.ts";
import { followWithRetry, isTransientFailure, type Session, type Turn } from "../../session/index.ts";
import { findExceededTaskBudget, secondsLeft, sumOtherUsage } from "../budget.ts";
import { commitRemainingChanges } from "../commit.ts";
import { runParked, runStopped, type RunEnd } from "../run-end.ts";
import { AgentFailure, openStageSession, type AgentStage } from "./stage-session.ts";
import type { StagePosition, TaskRun, StageResult } from "./task-run.ts";
import { stagePrompt, resumePrompt } from "./prompts.ts";

/** Many agents report usage just before their turn ends. A turn that ends within this time is not stopped. */
const LAST_USAGE_MS = 200;

export async function runAgentStage(run: TaskRun, stage: AgentStage, place: StagePosition): Promise<StageResult> {
  const session = await openStageSession(run, stage);
  try {
    const outcome = await withPausedTimer(run, session, () => runStageTurn(run, session, { ...place, stage }));
    throwUnlessDone(outcome, session, run.signal);
    await session.close(); // its processes must not work in the folder anymore
    const said = await lastMessage(run.parts.store, session.id);
    await commitRemainingChanges(run);
    return toStageResult(stage, said);
  } finally {
    await session.close();
  }
}

/** Pauses the time limit if the agent enforces the task's budget itself. */
async function withPausedTimer<T>({ time }: TaskRun, session: Session, work: () => Promise<T>): Promise<T> {
  if (!enforcesBudget(session)) return work();
  time.pause();
  try {
    return await work();
  } finally {
    time.resume(secondsLeft(session.state));
  }
}

function enforcesBudget({ state }: Session): boolean {
  return state.budgets.task !== undefined;
}

/** Runs the turn of this stage, or continues or reuses it if an earlier process started or finished it. */
async function runStageTurn(
  run: TaskRun,
  session: Session,
  { stage, index, attempt }: StagePosition & { readonly stage: AgentStage },
): Promise<TurnOutcome | undefined> {
  const { writer, parts, signal } = run;
  const { current } = writer.state;
  const sessionId = session.id;
  const own = current?.stage === index && current.sessionId === sessionId ? current : undefined;
  const start = (turns: number, turnId: string | undefined) =>
    writer.write({ type: "stage.started", stage: index, name: stage.name, attempt, sessionId, turns, turnId });
  if (own?.turnId !== undefined && session.resumed?.id === own.turnId) {
    await start(own.turns ?? 0, own.turnId);
    return followTurn(run, session, session.resumed);
  }
  await waitForOtherTurns(run, session);
  signal.throwIfAborted();
  const { turns: before, lastOutcome, usage } = session.state;
  const turns = own?.turns ?? before;
  if (lastOutcome?.status === "done" && (await isRecordedDone(parts.store, sessionId, own?.turnId))) {
    await start(turns, own?.turnId);
    return lastOutcome;
  }
  const over = enforcesBudget(session)
    ? undefined
    : findExceededTaskBudget(writer.state, await sumOtherUsage(run, sessionId), usage);
  if (over !== undefined) throw over;
  const turnId = newId("trn", parts.clock.now());
  await start(turns, turnId);
  const words = (before > turns ? resumePrompt : stagePrompt)(writer.state, stage, turns > 0);
  return followTurn(run, session, await promptWhenIdle(run, session, words, turnId));
}

/** Starts the turn. If the user starts a turn first, waits until that one ends. */
async function promptWhenIdle(run: TaskRun, session: Session, words: string, turnId: string): Promise<Turn> {
  for (;;) {
    try {
      return session.prompt(words, { signal: run.signal, turnId });
    } catch (error) {
      if (!isRookeryError(error, "turn_in_progress")) throw error;
      await waitForOtherTurns(run, session);
      run.signal.throwIfAborted();
    }
  }
}

/** Waits for the turns that the user started or queued in the session. */
async function waitForOtherTurns({ signal }: TaskRun, session: Session): Promise<void> {
  using _ = releaseOnAbort(signal, session);
  await session.idle();
}

/** Releases the session on abort. Cancelling the turn is not enough: the next queued input would start then. */
function releaseOnAbort(signal: AbortSignal, session: Session): Disposable {
  const release = () => void session.close({ cancelParked: true }).catch(() => undefined); // the stage awaits the same disposal
  if (signal.aborted) release();
  signal.addEventListener("abort", release, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", release) };
}

/** Waits until the turn ends. Leaves a parked turn parked, and throws so that the task is parked too. */
async function followTurn(run: TaskRun, session: Session, turn: Turn): Promise<TurnOutcome> {
  const { signal } = run;
  const elsewhere = await sumOtherUsage(run, session.id);
  using _ = releaseOnAbort(signal, session);
  const ended = new AbortController();
  let left: RunEnd | undefined;
  const watch = async (): Promise<void> => {
    left = await findReasonToLeave(run, session, { elsewhere, signal: ended.signal });
    if (left !== undefined) await session.close();
  };
  void watch().catch(() => undefined); // the turn fails too if the log cannot be read
  try {
    const outcome = await waitForEnd(session, turn);
    if (left !== undefined && !signal.aborted) throw left;
    return outcome;
  } catch (error) {
    throw left ?? error;
  } finally {
    ended.abort();
  }
}

/**
 * Follows the log until the turn is parked or the task is over its budget. Resolves with undefined if the signal fires.
 */
async function findReasonToLeave(
  { parts, writer }: TaskRun,
  session: Session,
  { elsewhere, signal }: { readonly elsewhere: Usage; readonly signal: AbortSignal },
): Promise<RunEnd | undefined> {
  const { head, turn, usage } = session.state;
  const until = turn?.parkedUntil;
  if (until !== undefined && Date.parse(until) > parts.clock.now()) return parkedAtLimit(until); // if earlier, it continues now
  const findExceeded = (used: Usage): RunEnd | undefined =>
    enforcesBudget(session) ? undefined : findExceededTaskBudget(writer.state, elsewhere, used);
  let used = usage;
  let exceeded = findExceeded(used);
  if (exceeded !== undefined) return exceeded;
  for await (const event of followWithRetry(parts.store, { sessionId: session.id, after: head, signal })) {
    if (event.type === "turn.parked") return parkedAtLimit(event.until);
    if (event.type !== "usage.reported") continue;
    used = addUsage(used, event);
    exceeded = findExceeded(used);
    if (exceeded === undefined) continue;
    await sleep(LAST_USAGE_MS, undefined, { signal }); // rejects if the turn ends
    return exceeded;
  }
  return undefined;
}

function parkedAtLimit(until: string): RunEnd {
  return runParked(until, `the account has reached its usage limit until ${until}`);
}

/** Also waits for turns that start from input which came too late for this turn. The last one decides the outcome. */
async function waitForEnd(session: Session, turn: Turn): Promise<TurnOutcome> {
  const outcome = await turn.outcome;
  await session.idle();
  return outcome.status === "done" ? (session.state.lastOutcome ?? outcome) : outcome;
}

/** True if the log says that this turn is done. Later turns may follow it. */
async function isRecordedDone(store: SessionStore, sessionId: string, turnId: string | undefined): Promise<boolean> {
  if (turnId === undefined) return false;
  for (let before: number | undefined; ;) {
    const { events } = await store.read({ sessionId, before, order: "newest_first" });
    const found = events.find((event) => event.turnId === turnId);
    if (found !== undefined) return found.type === "turn.ended" && found.outcome.status === "done";
    before = events.at(-1)?.seq;
    if (before === undefined) return false;
  }
}

function throwUnlessDone(outcome: TurnOutcome | undefined, { id, state }: Session, signal: AbortSignal): void {
  signal.throwIfAborted();
  switch (outcome?.status) {
    case "done":
      return;
    case "failed":
      if (outcome.code === "budget_reached") throw runStopped(outcome.message, outcome.code); // a retry would not help
      if (isTransientFailure(toTurnError(outcome))) throw toTurnError(outcome); // the run is queued again and continues
      throw new AgentFailure("stage_failed", formatAgentFailure(state.agent, "failed", outcome.message));
    case "stalled":
      throw new AgentFailure("stage_failed", formatAgentFailure(state.agent, "stalled", outcome.message));
    case "cancelled":
    case undefined:
      throw runStopped(`the turn was cancelled in session ${id}`);
  }
}

function toTurnError({ code, message }: Extract<TurnOutcome, { status: "failed" }>): RookeryError {
  return new RookeryError(code as ErrorCode, message);
}

/** Many failure messages already start with the agent's name. */
function formatAgentFailure(agent: string, how: string, message: string): string {
  return message.startsWith(agent) ? message : `${agent} ${how}: ${message}`;
}

function toStageResult(stage: AgentStage, said: string): StageResult {
  if (stage.pass === undefined) return { passed: true };
  const passed = said.split("\n").some((line) => line.trim() === stage.pass);
  return passed ? { passed } : { passed, message: said };
}

const MAX_EVENTS_READ = 500;

/** Returns the last message of the last turn or, if the agent only prints, everything that it printed. */
async function lastMessage(store: SessionStore, sessionId: string): Promise<string> {
  const { events } = await store.read({ sessionId, order: "newest_first", limit: MAX_EVENTS_READ });
  const begin = events.findIndex(({ type }) => type === "turn.started");
  const turn = begin === -1 ? events : events.slice(0, begin);
  const message = turn.find((event) => event.type === "message.completed" && event.text.trim() !== "");
  if (message?.type === "message.completed") return message.text;
  const printed = turn.flatMap((event) =>
    event.type === "output.text" && event.from === undefined ? [event.text] : [],
  );
  return printed.toReversed().join("");
}
