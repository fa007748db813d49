/**
 * Answers requests of an agent from any process: the answer is appended to the log, and the waiting agent finds it
 * there.
 */
import { z } from "zod";
import { findPrefixMismatch, normalizePrefix } from "../domain/command-prefix.ts";
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
import type { Answer } from "./method-types.ts";
import { checkText, parseAnswerArgument } from "./parameters.ts";

export interface AnswerOptions {
  readonly sessionId: string;
  readonly requestId: string;
  readonly answer: Answer;
  readonly clock: Clock;
}

/** A request that a person answers. */
export type RequestEvent = EventOf<"permission.requested"> | EventOf<"question.asked">;

/**
 * Rejects with `session_not_found`, `request_not_found`, `request_resolved`, `usage` if the answer is of the wrong
 * kind or its prefix does not fit the request, or `input_invalid` if its content does not match the form's schema.
 */
export async function answerRequest(store: SessionStore, options: AnswerOptions): Promise<void> {
  const { sessionId, requestId, clock } = options;
  checkText(sessionId, "the session ID");
  checkText(requestId, "the request ID");
  const answer = parseAnswerArgument(options.answer);
  const request = await findRequest(store, sessionId, requestId).catch((error: unknown) => {
    throw isRookeryError(error, "session_not_found") ? sessionNotFound(sessionId) : error;
  });
  const event = request && { body: toAnswerEvent(request, answer), turnId: request.turnId, agent: request.agent };
  await appendWithoutLease(store, sessionId, clock, (summary) => {
    if (event === undefined) {
      const what = `session ${sessionId} has no request ${requestId}`;
      throw new RookeryError("request_not_found", `${what}${describeWaiting(summary)}`);
    }
    if (summary.waitingFor.includes(requestId)) return event;
    throw new RookeryError(
      "request_resolved",
      `request ${requestId} does not need an answer anymore${describeWaiting(summary)}`,
    );
  });
}

export interface OutsideEvent {
  readonly body: EventBody;
  readonly turnId: string | undefined;
  /** The agent that the event is about. Default: the agent that drives the session. */
  readonly agent?: string;
}

/**
 * Appends one event without a lease, or nothing if `make` returns undefined. The append does not depend on the head,
 * so it never conflicts with a live writer. `make` gets the session's summary as of the commit, and may be called
 * more than once. Resolves with the head after the append. Rejects with the error that `make` throws, or with
 * `session_not_found`.
 */
export async function appendWithoutLease(
  store: SessionStore,
  sessionId: string,
  clock: Clock,
  make: (summary: SessionSummary) => OutsideEvent | undefined,
): Promise<number> {
  const id = newId("app", clock.now());
  const decide = (summary: SessionSummary): EventDraft[] => {
    const made = make(summary);
    if (made === undefined) return [];
    const { body, turnId, agent = summary.agent } = made;
    return [{ ...body, at: new Date(clock.now()).toISOString(), agent, ...(turnId !== undefined && { turnId }) }];
  };
  try {
    return (await store.appendAtHead({ sessionId, id, decide })).head;
  } catch (error) {
    throw isRookeryError(error, "session_not_found") ? sessionNotFound(sessionId) : error;
  }
}

export function sessionNotFound(sessionId: string): RookeryError {
  return new RookeryError(
    "session_not_found",
    `there is no session ${sessionId}: run \`rookery sessions\` to list the sessions`,
  );
}

function toAnswerEvent(request: RequestEvent, answer: Answer): EventBody {
  const { requestId } = request;
  if (request.type === "permission.requested" && "decision" in answer) {
    const { decision, scope = "once", message } = answer;
    const prefix = answer.prefix === undefined ? undefined : requireFittingPrefix(request, answer, answer.prefix);
    const optional = { ...(message && { message }), ...(prefix !== undefined && { prefix }) };
    return { type: "permission.resolved", requestId, decision, scope, by: "person", ...optional };
  }
  if (request.type === "question.asked" && "action" in answer) {
    const { action, content } = answer;
    if (action === "accept") requireMatchingContent(request, content);
    return { type: "question.answered", requestId, action, by: "person", ...(content !== undefined && { content }) };
  }
  const isPermission = request.type === "permission.requested";
  const kind = isPermission ? "a permission request" : "a question";
  const choices = isPermission ? "allow, always or deny" : "accept, decline or cancel";
  throw new RookeryError("usage", `request ${requestId} is ${kind}: answer it with ${choices}`);
}

/** Returns the prefix as it is stored. */
function requireFittingPrefix(
  request: EventOf<"permission.requested">,
  { decision, scope }: { readonly decision: string; readonly scope?: string },
  given: string,
): string {
  if (decision !== "allow" || scope !== "session")
    throw new RookeryError("usage", "a prefix is only valid for a permission that is given for the session");
  const prefix = normalizePrefix(given);
  const mismatch = findPrefixMismatch(request, prefix);
  if (mismatch === undefined) return prefix;
  throw new RookeryError(
    "usage",
    `request ${request.requestId} cannot be allowed by a prefix: ${mismatch}; allow it once, or leave out the prefix to allow every call of ${request.tool}`,
  );
}

/**
 * Checks the content here, because the asker cannot reject it later. A schema that cannot be parsed accepts
 * everything.
 */
function requireMatchingContent({ requestId, schema, url }: EventOf<"question.asked">, content: unknown): void {
  if (url !== undefined || typeof schema !== "object" || schema === null) return;
  const [issue] = findContentIssues(schema, content ?? {});
  if (issue === undefined) return;
  const path = issue.path.length === 0 ? "" : `${issue.path.map(String).join(".")}: `;
  const fix = `fill in the form with --content, or decline; \`rookery sessions show\` prints the form`;
  throw new RookeryError(
    "input_invalid",
    `the content does not match the form of request ${requestId}: ${path}${issue.message}; ${fix}`,
  );
}

/** Ignores each `pattern` of the schema, because a slow regular expression could block the process. */
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
  return waitingFor.length === 0
    ? "; no request is waiting for an answer"
    : `; requests that wait for an answer: ${waitingFor.join(", ")}`;
}

/** Searches from the newest page backward, because open requests are recent. */
async function findRequest(
  store: SessionStore,
  sessionId: string,
  requestId: string,
): Promise<RequestEvent | undefined> {
  const isRequest = (event: SessionEvent): event is RequestEvent =>
    (event.type === "permission.requested" || event.type === "question.asked") && event.requestId === requestId;
  for (let before: number | undefined; ;) {
    const { events } = await store.read({ sessionId, before, order: "newest_first" });
    const found = events.find(isRequest);
    before = events.at(-1)?.seq;
    if (found !== undefined || before === undefined) return found;
  }
}
