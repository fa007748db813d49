/** The summary of a session in listings. The store updates it with each append, so that listing reads no log. */
import type { SessionEvent, TurnOutcome } from "./events.ts";
import type { SessionStatus } from "./enums.ts";
import { addUsage, NO_USAGE, type Usage } from "./usage.ts";

export interface SessionSummary {
  readonly id: string;
  readonly head: number;
  readonly agent: string;
  readonly backend: string;
  readonly model?: string | undefined;
  readonly cwd: string;
  readonly title?: string | undefined;
  readonly parent?: string | undefined;
  /** The depth below the session that a person started; missing for that session and for a fork. */
  readonly depth?: number | undefined;
  /** The task that the session belongs to. */
  readonly task?: string | undefined;
  /** The host that has the working directory, if several hosts share the store. */
  readonly host?: string | undefined;
  /** The program's own ID of the session. Missing before its first turn, and in sessions from before this field. */
  readonly nativeId?: string | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly status: SessionStatus;
  readonly turns: number;
  /** Until when the turn is parked. */
  readonly parkedUntil?: string | undefined;
  /** Open requests. */
  readonly waitingFor: readonly string[];
  /** Open requests from between turns, which outlast the turn. */
  readonly ofNoTurn?: readonly string[] | undefined;
  readonly lastOutcome?: TurnOutcome["status"] | undefined;
  /** Undefined if no usage was reported, and in sessions from before this field existed. */
  readonly usage?: Usage | undefined;
  /** The last line of the latest message, request, tool or output. */
  readonly lastLine?: string | undefined;
  /** The first line of the latest prompt. Undefined before the first turn, and in sessions from before this field. */
  readonly lastPrompt?: string | undefined;
}

export function emptySummary(id: string): SessionSummary {
  return {
    id,
    head: 0,
    agent: "",
    backend: "",
    cwd: "",
    createdAt: "",
    updatedAt: "",
    status: "idle",
    turns: 0,
    waitingFor: [],
  };
}

const TITLE_LENGTH = 80;
const LINE_LENGTH = 120;

/** Applies events to a summary. Only a few event types change more than the head, so many deltas cost one copy. */
export function summarize(before: SessionSummary, events: readonly SessionEvent[]): SessionSummary {
  const last = events.at(-1);
  if (last === undefined) return before;
  const summary = { ...before, head: last.seq, updatedAt: last.at };
  for (const event of events) Object.assign(summary, changeFor(summary, event));
  return summary;
}

function changeFor(summary: SessionSummary, event: SessionEvent): Partial<SessionSummary> | undefined {
  switch (event.type) {
    case "session.opened":
      return {
        agent: event.agent,
        backend: event.backend,
        model: event.model,
        cwd: event.cwd,
        title: event.title ?? summary.title,
        parent: event.parent ?? summary.parent,
        ...(event.depth !== undefined && { depth: event.depth }),
        ...(event.task !== undefined && { task: event.task }),
        ...(event.host !== undefined && { host: event.host }),
        ...(event.backend !== summary.backend && withoutNativeId(summary)),
        createdAt: summary.createdAt || event.at,
        status: event.copying === true ? "copying" : summary.status === "copying" ? "idle" : summary.status,
      };
    case "session.closed":
      return { status: "closed", waitingFor: requestsOfTurn(summary), ...(summary.ofNoTurn && { ofNoTurn: [] }) };
    case "agent.switched":
      return { agent: event.to, ...withoutNativeId(summary) };
    case "agent.connected":
      return event.nativeId === undefined ? undefined : { nativeId: event.nativeId };
    case "conversation.replaced":
      return withoutNativeId(summary);
    case "turn.started": {
      const text = event.input
        .find((part) => part.type === "text")
        ?.text.trim()
        .split("\n")[0];
      const title = summary.title ?? text?.slice(0, TITLE_LENGTH).toWellFormed();
      const lastPrompt = text?.slice(0, LINE_LENGTH).toWellFormed() ?? summary.lastPrompt;
      return { turns: summary.turns + 1, title, lastPrompt, status: unlessFixed(summary, "running") };
    }
    case "turn.parked":
      return {
        status: unlessFixed(summary, "parked"),
        parkedUntil: event.until,
        waitingFor: summary.ofNoTurn ?? [],
      };
    case "turn.continued":
      return {
        status: unlessFixed(summary, requestsOfTurn(summary).length > 0 ? "waiting" : "running"),
        parkedUntil: undefined,
      };
    case "turn.ended":
      return {
        lastOutcome: event.outcome.status,
        parkedUntil: undefined,
        waitingFor: summary.ofNoTurn ?? [],
        status: unlessFixed(summary, "idle"),
      };
    case "permission.requested":
      return { ...toLastLine(event.title), ...addRequest(summary, event) };
    case "question.asked":
      return { ...toLastLine(event.message), ...addRequest(summary, event) };
    case "permission.resolved":
    case "question.answered": {
      const others = (requestId: string) => requestId !== event.requestId;
      const waitingFor = summary.waitingFor.filter(others);
      const ofNoTurn = summary.ofNoTurn?.filter(others);
      const outlasting = new Set(ofNoTurn);
      const resumes = summary.status === "waiting" && waitingFor.every((requestId) => outlasting.has(requestId));
      return { waitingFor, ...(ofNoTurn !== undefined && { ofNoTurn }), status: resumes ? "running" : summary.status };
    }
    case "usage.reported":
      return { usage: addUsage(summary.usage ?? NO_USAGE, event) };
    case "message.completed":
      return toLastLine(event.text);
    case "tool.started":
      return toLastLine(event.title);
    case "output.text":
      return event.from === undefined ? toLastLine(event.text) : undefined;
    default: // listings do not show other events
      return undefined;
  }
}

/** The program's session no longer belongs to this one. */
function withoutNativeId({ nativeId }: SessionSummary): Partial<SessionSummary> | undefined {
  return nativeId === undefined ? undefined : { nativeId: undefined };
}

/** Looks only at the end of a long text. */
function toLastLine(text: string): Partial<SessionSummary> | undefined {
  const end = text.slice(-4 * LINE_LENGTH).trimEnd();
  const line = end.slice(end.lastIndexOf("\n") + 1).trim();
  return line === "" ? undefined : { lastLine: line.slice(0, LINE_LENGTH).toWellFormed() };
}

function requestsOfTurn({ waitingFor, ofNoTurn = [] }: SessionSummary): readonly string[] {
  const outlasting = new Set(ofNoTurn);
  return waitingFor.filter((requestId) => !outlasting.has(requestId));
}

function addRequest(
  summary: SessionSummary,
  { requestId, turnId }: { readonly requestId: string; readonly turnId?: string | undefined },
): Partial<SessionSummary> {
  const waitingFor = [...summary.waitingFor, requestId];
  if (turnId === undefined) return { waitingFor, ofNoTurn: [...(summary.ofNoTurn ?? []), requestId] };
  return { waitingFor, status: unlessFixed(summary, summary.parkedUntil === undefined ? "waiting" : "parked") };
}

/** Keeps the status of a closed or copying session, in which turns may still end. */
function unlessFixed(summary: SessionSummary, next: SessionStatus): SessionStatus {
  return isFixed(summary) ? summary.status : next;
}

function isFixed({ status }: SessionSummary): boolean {
  return status === "closed" || status === "copying";
}
