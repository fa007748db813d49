/** The gate: decides by policy where it can, and asks a person, durably, where it cannot. */
import type {
  AskOptions,
  EventBody,
  EventOf,
  PermissionDecision,
  PermissionRequest,
  Question,
  QuestionAnswer,
  SessionState,
  SessionStore,
} from "../domain/index.ts";
import type { Recorder } from "./recorder.ts";
import { followWithRetry } from "./store-retry.ts";

export interface GateOptions {
  readonly recorder: Recorder;
  readonly store: SessionStore;
  /** Undefined between turns. */
  readonly turnId: string | undefined;
  /** Who asks, where it may be another than the agent that drives. */
  readonly by?: string | undefined;
  /** Is there anyone who can be asked? */
  readonly attended: boolean;
  readonly signal: AbortSignal;
}

const ALLOWED: PermissionDecision = { allowed: true };
const WITHDRAWN: PermissionDecision = { allowed: false, outcome: "cancelled", message: "whoever asked gave up" };

/**
 * Rejects with the signal's reason when the turn is cancelled while it waits, or the asker's own signal fires; then it
 * counts as cancelled. What was once asked is waited for, also where nobody can be asked now: someone may be on the
 * way to answer it.
 */
export async function decidePermission(
  gate: GateOptions,
  request: PermissionRequest,
  { signal }: Pick<AskOptions, "signal"> = {},
): Promise<PermissionDecision> {
  const { recorder, turnId } = gate;
  const before = findPermissionRequest(recorder.state, turnId, request.toolId);
  if (before?.answer !== undefined) return toPermissionDecision(before.answer);
  const decided = decideByPolicy(recorder.state, request);
  if (decided !== undefined) {
    if (before !== undefined) await recordDecision(gate, before.requestId, decided);
    return decided;
  }
  const requestId = before?.requestId ?? (await askPermission(gate, request));
  if (before === undefined && !gate.attended) {
    const refusal = toDenial(
      "nobody can be asked here; to allow it, use --permissions all, or --permissions ask and `rookery answer`",
    );
    await recordDecision(gate, requestId, refusal);
    return refusal;
  }
  try {
    return toPermissionDecision(await waitForAnswer({ ...gate, signal: anySignal(gate.signal, signal) }, requestId));
  } catch (error) {
    if (signal?.aborted === true && !gate.signal.aborted) await recordDecision(gate, requestId, WITHDRAWN);
    throw error;
  }
}

/**
 * Rejects with the signal's reason when the turn is cancelled while it waits, or the asker's own signal fires; then it
 * counts as cancelled. What was asked before its process died is not asked again: its answer is taken, or waited for.
 */
export async function askQuestion(gate: GateOptions, question: Question, options: AskOptions = {}): Promise<QuestionAnswer> {
  const { recorder, turnId, by } = gate;
  const left = recorder.takeLeft(turnId, question.message);
  if (left?.answer?.type === "question.answered") return toQuestionAnswer(left.answer);
  const requestId = left?.requestId ?? recorder.nextRequestId();
  if (left === undefined) {
    const { message, from, schema, url } = question;
    const asked: EventBody = { type: "question.asked", requestId, message, from, schema, url };
    const refusal = gate.attended ? [] : [toPolicyAnswer(requestId, "decline")];
    await recorder.write([asked, ...refusal], { turnId, by, patient: true });
    if (!gate.attended) return { action: "decline" };
  }
  return toQuestionAnswer(await waitForQuestion(gate, requestId, options));
}

async function waitForQuestion(
  gate: GateOptions,
  requestId: string,
  { signal, completed }: AskOptions,
): Promise<EventOf<"question.answered">> {
  const { recorder, turnId, by } = gate;
  const own = new AbortController();
  const asking = AbortSignal.any([anySignal(gate.signal, signal), own.signal]);
  const answer = waitForAnswer({ ...gate, signal: asking }, requestId);
  let over = false;
  const settle = async (action: "accept" | "cancel"): Promise<void> => {
    await recorder.write([toPolicyAnswer(requestId, action)], { turnId, by, patient: true });
  };
  void completed?.then(
    () => (over ? undefined : settle("accept").catch((error: unknown) => own.abort(error))),
    () => undefined,
  );
  try {
    const given = await answer.finally(() => {
      over = true;
    });
    if (given.type === "question.answered") return given;
  } catch (error) {
    if (signal?.aborted === true && !gate.signal.aborted) await settle("cancel");
    throw error;
  }
  throw new Error(`request ${requestId} is a question`); // answers are checked when given
}

function anySignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other]);
}

function toPolicyAnswer(requestId: string, action: QuestionAnswer["action"]): EventBody {
  return { type: "question.answered", requestId, action, by: "policy" };
}

function toQuestionAnswer({ action, content }: EventOf<"question.answered">): QuestionAnswer {
  return { action, content };
}

async function askPermission({ recorder, turnId, by }: GateOptions, request: PermissionRequest): Promise<string> {
  const requestId = recorder.nextRequestId();
  const { toolId, tool, title, kind, input, from } = request;
  const asked = { type: "permission.requested" as const, requestId, toolId, tool, title, kind, input, from };
  await recorder.write([asked], { turnId, by, patient: true });
  return requestId;
}

/** The policy answers in a person's place, and the log says so. */
async function recordDecision(
  { recorder, turnId, by }: GateOptions,
  requestId: string,
  how: PermissionDecision,
): Promise<void> {
  const said = how.allowed ? {} : { message: how.message };
  const decision = how.allowed ? "allow" : how.outcome === "cancelled" ? "cancelled" : "deny";
  const resolved: EventBody = {
    type: "permission.resolved",
    requestId,
    decision,
    scope: "once",
    by: "policy",
    ...said,
  };
  await recorder.write([resolved], { turnId, by, patient: true });
}

function decideByPolicy(state: SessionState, request: PermissionRequest): PermissionDecision | undefined {
  switch (state.permissions) {
    case "all":
      return ALLOWED;
    case "none":
      return toDenial(`${request.tool} was refused: this session's permissions are "none"`);
    case "read":
      return request.readOnly
        ? ALLOWED
        : toDenial(
            `${request.tool} was refused: this session may only read ("read"); --permissions ask or all allows more`,
          );
    case "ask":
      return request.readOnly || state.grants.includes(request.tool) ? ALLOWED : undefined;
  }
}

function toPermissionDecision(answer: EventOf<"permission.resolved"> | EventOf<"question.answered">): PermissionDecision {
  if (answer.type === "question.answered") return ALLOWED; // no question has a tool's id
  if (answer.decision === "allow") return ALLOWED;
  const outcome = answer.decision === "cancelled" ? "cancelled" : "denied";
  return { allowed: false, outcome, message: answer.message ?? "the user refused it" };
}

function toDenial(message: string): PermissionDecision {
  return { allowed: false, outcome: "denied", message };
}

function findPermissionRequest(state: SessionState, turnId: string | undefined, toolId: string) {
  return state.requests.find((request) => request.turnId === turnId && request.toolId === toolId);
}

/** The answer may come from any process; the log is where it appears. */
async function waitForAnswer({ recorder, store, signal }: GateOptions, requestId: string) {
  const { id: sessionId, head: after } = recorder.state;
  for await (const event of followWithRetry(store, { sessionId, after, signal })) {
    recorder.advance([event]);
    const isAnswer = event.type === "permission.resolved" || event.type === "question.answered";
    if (isAnswer && event.requestId === requestId) return event;
  }
  signal.throwIfAborted();
  throw new Error("the log ended while a permission was awaited"); // only a closed store does that
}
