/** Answers to what an agent asked, given from any process: they are appended to the log, and whoever waits finds them. */
import { z } from "zod";
import {
  RookeryError,
  isRookeryError,
  newId,
  type EventBody,
  type EventDraft,
  type EventOf,
  type SessionEvent,
  type SessionStore,
  type SessionSummary,
} from "../domain/index.ts";
import { boundedSchema, type Clock } from "../stdx/index.ts";
import { checkText, parseAnswer } from "./parameters.ts";

export type Answer =
  | { readonly decision: "allow" | "deny"; readonly scope?: "once" | "session"; readonly message?: string }
  | { readonly action: "accept" | "decline" | "cancel"; readonly content?: unknown };

export interface AnswerOptions {
  readonly sessionId: string;
  readonly requestId: string;
  readonly answer: Answer;
  readonly clock: Clock;
}

type RequestEvent = EventOf<"permission.requested"> | EventOf<"question.asked">;

/** Rejects with `session_not_found`, `request_not_found`, `request_resolved`, `usage` where it is the wrong kind of answer, or `input_invalid` where it is not what a form asks for. */
export async function answerRequest(store: SessionStore, options: AnswerOptions): Promise<void> {
  const { sessionId, requestId, clock } = options;
  checkText(sessionId, "the session's id");
  checkText(requestId, "the request's id");
  const answer = parseAnswer(options.answer);
  const asked = await findRequest(store, sessionId, requestId).catch((error: unknown) => {
    throw isRookeryError(error, "session_not_found") ? sessionNotFound(sessionId) : error;
  });
  const event = asked && { body: toAnswerEvent(asked, answer), turnId: asked.turnId, agent: asked.agent };
  await appendWithoutLease(store, sessionId, clock, (summary) => {
    if (event === undefined) {
      const what = `session ${sessionId} has no request ${requestId}`;
      throw new RookeryError("request_not_found", `${what}${describeWaiting(summary)}`);
    }
    if (summary.waitingFor.includes(requestId)) return event;
    throw new RookeryError("request_resolved", `request ${requestId} needs no answer any more${describeWaiting(summary)}`);
  });
}

export interface OutsideEvent {
  readonly body: EventBody;
  readonly turnId: string | undefined;
  /** Whom it is about, if not the agent that drives the session. */
  readonly agent?: string;
}

/**
 * Appends one event without a lease, or nothing if `make` returns undefined. It does not depend on the head, so a live
 * writer cannot get ahead of it however fast it writes. `make` sees the session as it is in the commit, and may be
 * called more than once. Rejects with what it throws, or with `session_not_found`.
 */
export async function appendWithoutLease(
  store: SessionStore,
  sessionId: string,
  clock: Clock,
  make: (summary: SessionSummary) => OutsideEvent | undefined,
): Promise<void> {
  const id = newId("app", clock.now());
  const decide = (summary: SessionSummary): EventDraft[] => {
    const made = make(summary);
    if (made === undefined) return [];
    const { body, turnId, agent = summary.agent } = made;
    return [{ ...body, at: new Date(clock.now()).toISOString(), agent, ...(turnId !== undefined && { turnId }) }];
  };
  try {
    await store.appendAtHead({ sessionId, id, decide });
  } catch (error) {
    throw isRookeryError(error, "session_not_found") ? sessionNotFound(sessionId) : error;
  }
}

export function sessionNotFound(sessionId: string): RookeryError {
  return new RookeryError("session_not_found", `there is no session ${sessionId}: \`rookery sessions\` lists them`);
}

function toAnswerEvent(asked: RequestEvent, answer: Answer): EventBody {
  const { requestId } = asked;
  if (asked.type === "permission.requested" && "decision" in answer) {
    const { decision, scope = "once", message } = answer;
    return { type: "permission.resolved", requestId, decision, scope, by: "person", ...(message && { message }) };
  }
  if (asked.type === "question.asked" && "action" in answer) {
    const { action, content } = answer;
    if (action === "accept") requireMatchingContent(asked, content);
    return { type: "question.answered", requestId, action, by: "person", ...(content !== undefined && { content }) };
  }
  const wanted = asked.type === "permission.requested" ? "allow, always or deny" : "accept, decline or cancel";
  throw new RookeryError("usage", `request ${requestId} is answered with ${wanted}`);
}

/** Whoever asked for a form cannot say any more that it was filled in wrongly. A schema that nobody can read asks for nothing. */
function requireMatchingContent({ requestId, schema, url }: EventOf<"question.asked">, content: unknown): void {
  if (url !== undefined || typeof schema !== "object" || schema === null) return;
  const [issue] = findContentIssues(schema, content ?? {});
  if (issue === undefined) return;
  const where = issue.path.length === 0 ? "" : `${issue.path.map(String).join(".")}: `;
  const fix = `give what it asks for with --content, or decline; \`rookery sessions show\` has the form`;
  throw new RookeryError(
    "input_invalid",
    `request ${requestId} is not answered by this: ${where}${issue.message}; ${fix}`,
  );
}

/** Ignores the `pattern`s of the schema: its author could block the process with one. */
function findContentIssues(schema: object, content: unknown): readonly z.core.$ZodIssue[] {
  try {
    return (
      z.fromJSONSchema(boundedSchema(schema) as Parameters<typeof z.fromJSONSchema>[0]).safeParse(content).error
        ?.issues ?? []
    );
  } catch {
    return [];
  }
}

function describeWaiting({ waitingFor }: SessionSummary): string {
  return waitingFor.length === 0 ? "; nothing is waiting" : `; waiting: ${waitingFor.join(", ")}`;
}

/** From the newest page back, since what is asked was asked lately. */
async function findRequest(store: SessionStore, sessionId: string, requestId: string): Promise<RequestEvent | undefined> {
  const asks = (event: SessionEvent): event is RequestEvent =>
    (event.type === "permission.requested" || event.type === "question.asked") && event.requestId === requestId;
  for (let before: number | undefined; ;) {
    const { events } = await store.read({ sessionId, before, order: "newest_first" });
    const found = events.find(asks);
    before = events.at(-1)?.seq;
    if (found !== undefined || before === undefined) return found;
  }
}
