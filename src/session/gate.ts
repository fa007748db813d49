/** The permission gate: decides by policy if it can, and otherwise asks a person. Requests are durable. */
import { isCommandGranted } from "../domain/command-prefix.ts";
import type {
  AskOptions,
  CallPreview,
  EventBody,
  EventOf,
  PermissionDecision,
  PermissionRequest,
  Question,
  QuestionAnswer,
  SessionState,
  SessionStore,
} from "../domain/index.ts";
import { waitForAnswer } from "./answer-watch.ts";
import type { Recorder } from "./recorder.ts";

export interface GateOptions {
  readonly recorder: Recorder;
  readonly store: SessionStore;
  /** Undefined between turns. */
  readonly turnId: string | undefined;
  /** The agent that asks. Default: the agent that drives the session. */
  readonly by?: string | undefined;
  /** True if a person can answer requests. */
  readonly attended: boolean;
  readonly signal: AbortSignal;
}

const ALLOWED: PermissionDecision = { allowed: true };
const WITHDRAWN: PermissionDecision = { allowed: false, outcome: "cancelled", message: "the request was withdrawn" };

/**
 * Requests of a session that wait for an answer at once. Nobody answers more, and each one takes a part of every list of
 * what waits.
 */
const MAX_WAITING = 100;
const waitingRequests = new WeakMap<Recorder, number>();

/** Undefined if too many requests of the session wait already. Dispose it when the request is answered. */
function enterWaiting(recorder: Recorder): Disposable | undefined {
  const count = waitingRequests.get(recorder) ?? 0;
  if (count >= MAX_WAITING) return undefined;
  waitingRequests.set(recorder, count + 1);
  const leave = (): void => void waitingRequests.set(recorder, (waitingRequests.get(recorder) ?? 0) - 1);
  return { [Symbol.dispose]: leave };
}

/**
 * Decides whether a tool call is allowed. It is denied if 100 requests wait for an answer. Rejects with the signal's
 * reason if the turn is cancelled or the asker's signal fires; the request then counts as cancelled. A request from
 * before a crash is still waited for, even if nobody attends the session now, because an answer may be on its way.
 */
export async function decidePermission(
  gate: GateOptions,
  request: PermissionRequest,
  { signal }: Pick<AskOptions, "signal"> = {},
): Promise<PermissionDecision> {
  const { recorder, turnId } = gate;
  const { head } = recorder.state;
  const before = findPermissionRequest(recorder.state, turnId, request.toolId);
  if (before?.answer !== undefined) return toPermissionDecision(before.answer);
  const decided = decideByPolicy(recorder.state, request);
  if (decided !== undefined) {
    if (before !== undefined) await recordDecision(gate, before.requestId, decided);
    return decided;
  }
  using waiting = enterWaiting(recorder);
  if (waiting === undefined && before === undefined) {
    return toDenial(`${MAX_WAITING} requests of this session wait for an answer already; wait until they are answered`);
  }
  const preview = before === undefined ? await previewCall(request) : {};
  if (preview.refusal !== undefined) return { allowed: false, outcome: "failed", message: preview.refusal };
  const requestId = before?.requestId ?? (await askPermission(gate, request, preview));
  if (before === undefined && !gate.attended) {
    const refusal = toDenial(
      "nobody is available to approve it; to allow it, use --permissions all, or use --permissions ask and answer with `rookery answer`",
    );
    await recordDecision(gate, requestId, refusal);
    return refusal;
  }
  try {
    const asked = { ...gate, signal: anySignal(gate.signal, signal) };
    return toPermissionDecision(await waitForAnswer({ ...asked, requestId, after: head }));
  } catch (error) {
    if (signal?.aborted === true && !gate.signal.aborted) await recordDecision(gate, requestId, WITHDRAWN);
    throw error;
  }
}

/**
 * Asks a person. Resolves with `cancel` if 100 requests wait for an answer. Rejects with the signal's reason if the turn
 * is cancelled or the asker's signal fires; the question then counts as cancelled. A question from before a crash is not
 * asked again: its answer is used, or waited for.
 */
export async function askPerson(
  gate: GateOptions,
  question: Question,
  options: AskOptions = {},
): Promise<QuestionAnswer> {
  const { recorder, turnId, by } = gate;
  const { head } = recorder.state;
  const earlier = recorder.takeEarlierQuestion(turnId, question.message);
  if (earlier?.answer?.type === "question.answered") return toQuestionAnswer(earlier.answer);
  using waiting = enterWaiting(recorder);
  if (waiting === undefined && earlier === undefined) return { action: "cancel" };
  const requestId = earlier?.requestId ?? recorder.nextRequestId();
  if (earlier === undefined) {
    const { message, from, schema, url } = question;
    const asked: EventBody = { type: "question.asked", requestId, message, from, schema, url };
    const refusal = gate.attended ? [] : [toPolicyAnswer(requestId, "decline")];
    await recorder.write([asked, ...refusal], { turnId, by, patient: true });
    if (!gate.attended) return { action: "decline" };
  }
  return toQuestionAnswer(await waitForQuestion(gate, { requestId, head }, options));
}

async function waitForQuestion(
  gate: GateOptions,
  { requestId, head }: { readonly requestId: string; readonly head: number },
  { signal, completed }: AskOptions,
): Promise<EventOf<"question.answered">> {
  const { recorder, turnId, by } = gate;
  const own = new AbortController();
  const asking = AbortSignal.any([anySignal(gate.signal, signal), own.signal]);
  const answer = waitForAnswer({ ...gate, signal: asking, requestId, after: head });
  let isAnswered = false;
  const settle = async (action: "accept" | "cancel"): Promise<void> => {
    await recorder.write([toPolicyAnswer(requestId, action)], { turnId, by, patient: true });
  };
  void completed?.then(
    () => (isAnswered ? undefined : settle("accept").catch((error: unknown) => own.abort(error))),
    () => undefined,
  );
  try {
    const event = await answer.finally(() => {
      isAnswered = true;
    });
    if (event.type === "question.answered") return event;
  } catch (error) {
    if (signal?.aborted === true && !gate.signal.aborted) await settle("cancel");
    throw error;
  }
  throw new Error(`the answer to question ${requestId} is a permission decision`); // `answerRequest` checks the kind of an answer
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

/** A preview helps to decide; without one, the input and the later run still show what is wrong. */
async function previewCall({ preview }: PermissionRequest): Promise<CallPreview> {
  try {
    return (await preview?.()) ?? {};
  } catch {
    return {};
  }
}

async function askPermission(
  { recorder, turnId, by }: GateOptions,
  { toolId, tool, title, kind, input, from }: PermissionRequest,
  { diffs = [] }: CallPreview,
): Promise<string> {
  const requestId = recorder.nextRequestId();
  const asked: EventBody = {
    type: "permission.requested",
    requestId,
    toolId,
    tool,
    title,
    kind,
    input,
    ...(diffs.length > 0 && { diffs: [...diffs] }),
    from,
  };
  await recorder.write([asked], { turnId, by, patient: true });
  return requestId;
}

/** Records a decision that the policy made instead of a person. */
async function recordDecision(
  { recorder, turnId, by }: GateOptions,
  requestId: string,
  how: PermissionDecision,
): Promise<void> {
  const explanation = how.allowed ? {} : { message: how.message };
  const decision = how.allowed ? "allow" : how.outcome === "cancelled" ? "cancelled" : "deny";
  const resolved: EventBody = {
    type: "permission.resolved",
    requestId,
    decision,
    scope: "once",
    by: "policy",
    ...explanation,
  };
  await recorder.write([resolved], { turnId, by, patient: true });
}

function decideByPolicy(state: SessionState, request: PermissionRequest): PermissionDecision | undefined {
  switch (state.permissions) {
    case "all":
      return ALLOWED;
    case "none":
      return toDenial(`${request.tool} was denied: the permissions of this session are "none"`);
    case "read":
      return request.readOnly
        ? ALLOWED
        : toDenial(
            `${request.tool} was denied: the permissions of this session are "read"; use --permissions ask or --permissions all to allow more`,
          );
    case "ask":
      return request.readOnly || isGranted(state, request) ? ALLOWED : undefined;
  }
}

/** A grant by its first words never covers a command with shell syntax, or one in another directory. */
function isGranted({ grants, commandGrants, cwd }: SessionState, request: PermissionRequest): boolean {
  return grants.includes(request.tool) || isCommandGranted(commandGrants, request, cwd);
}

function toPermissionDecision(
  answer: EventOf<"permission.resolved"> | EventOf<"question.answered">,
): PermissionDecision {
  if (answer.type === "question.answered") return ALLOWED; // cannot happen: a question has no tool ID
  if (answer.decision === "allow") return ALLOWED;
  const outcome = answer.decision === "cancelled" ? "cancelled" : "denied";
  return { allowed: false, outcome, message: answer.message ?? "the user denied it" };
}

function toDenial(message: string): PermissionDecision {
  return { allowed: false, outcome: "denied", message };
}

function findPermissionRequest(state: SessionState, turnId: string | undefined, toolId: string) {
  return state.requests.find((request) => request.turnId === turnId && request.toolId === toolId);
}
