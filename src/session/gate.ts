/** The gate: decides by policy where it can, and asks a person, durably, where it cannot. */
import type {
  EventOf,
  PermissionDecision,
  PermissionRequest,
  Question,
  QuestionAnswer,
  SessionState,
  SessionStore,
} from "../domain/index.ts";
import type { Recorder } from "./recorder.ts";

export interface GateOptions {
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly turnId: string;
  /** Is there anyone who can be asked? */
  readonly attended: boolean;
  readonly signal: AbortSignal;
}

const ALLOWED: PermissionDecision = { allowed: true };

/**
 * Rejects with the signal's reason when the turn is cancelled while it waits. What was once asked is waited for, also
 * where nobody can be asked now: someone may be on the way to answer it.
 */
export async function permit(gate: GateOptions, request: PermissionRequest): Promise<PermissionDecision> {
  const { recorder, turnId } = gate;
  const before = askedFor(recorder.state, turnId, request.toolId);
  if (before?.answer !== undefined) return decisionOf(before.answer);
  const decided = byPolicy(recorder.state, request);
  if (decided !== undefined) {
    if (before !== undefined) await resolve(gate, before.requestId, decided);
    return decided;
  }
  const requestId = before?.requestId ?? (await askPermission(gate, request));
  if (before === undefined && !gate.attended) {
    const refusal = refused(
      "nobody can be asked here; to allow it, use --permissions all, or --permissions ask and `rookery answer`",
    );
    await resolve(gate, requestId, refusal);
    return refusal;
  }
  return decisionOf(await answerTo(gate, requestId));
}

/** Rejects with the signal's reason when the turn is cancelled while it waits. */
export async function ask(gate: GateOptions, { message, from, schema, url }: Question): Promise<QuestionAnswer> {
  const { recorder, turnId, attended } = gate;
  const requestId = recorder.nextRequestId();
  recorder.record([{ type: "question.asked", requestId, message, from, schema, url }], turnId);
  if (!attended) recorder.record([{ type: "question.answered", requestId, action: "decline", by: "policy" }], turnId);
  await recorder.commit();
  if (!attended) return { action: "decline" };
  const answer = await answerTo(gate, requestId);
  if (answer.type !== "question.answered") throw new Error(`request ${requestId} is a question`); // answers are checked when given
  return { action: answer.action, content: answer.content };
}

async function askPermission({ recorder, turnId }: GateOptions, request: PermissionRequest): Promise<string> {
  const requestId = recorder.nextRequestId();
  const { toolId, tool, title, kind, input } = request;
  recorder.record([{ type: "permission.requested", requestId, toolId, tool, title, kind, input }], turnId);
  await recorder.commit();
  return requestId;
}

/** The policy answers in a person's place, and the log says so. */
async function resolve({ recorder, turnId }: GateOptions, requestId: string, how: PermissionDecision): Promise<void> {
  const said = how.allowed ? {} : { message: how.message };
  const decision = how.allowed ? "allow" : "deny";
  recorder.record([{ type: "permission.resolved", requestId, decision, scope: "once", by: "policy", ...said }], turnId);
  await recorder.commit();
}

function byPolicy(state: SessionState, request: PermissionRequest): PermissionDecision | undefined {
  switch (state.permissions) {
    case "all":
      return ALLOWED;
    case "none":
      return refused(`${request.tool} was refused: this session's permissions are "none"`);
    case "read":
      return request.readOnly
        ? ALLOWED
        : refused(
            `${request.tool} was refused: this session may only read ("read"); --permissions ask or all allows more`,
          );
    case "ask":
      return request.readOnly || state.grants.includes(request.tool) ? ALLOWED : undefined;
  }
}

function decisionOf(answer: EventOf<"permission.resolved"> | EventOf<"question.answered">): PermissionDecision {
  if (answer.type === "question.answered") return ALLOWED; // no question has a tool's id
  if (answer.decision === "allow") return ALLOWED;
  const outcome = answer.decision === "cancelled" ? "cancelled" : "denied";
  return { allowed: false, outcome, message: answer.message ?? "the user refused it" };
}

function refused(message: string): PermissionDecision {
  return { allowed: false, outcome: "denied", message };
}

function askedFor(state: SessionState, turnId: string, toolId: string) {
  return state.requests.find((request) => request.turnId === turnId && request.toolId === toolId);
}

/** The answer may come from any process; the log is where it appears. */
async function answerTo({ recorder, store, signal }: GateOptions, requestId: string) {
  const { id: sessionId, head: after } = recorder.state;
  for await (const event of store.follow({ sessionId, after, signal })) {
    recorder.advance([event]);
    const answer = recorder.state.requests.find((request) => request.requestId === requestId)?.answer;
    if (answer !== undefined) return answer;
  }
  signal.throwIfAborted();
  throw new Error("the log ended while a permission was awaited"); // only a closed store does that
}
