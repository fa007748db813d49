/** Prints a turn as text: a fold over its events that returns the next view and the text to print for each event. */
import { amountText } from "../../domain/budget.ts";
import { formatGrant } from "../../domain/command-prefix.ts";
import { shortId } from "../../domain/ids.ts";
import { formatConversationMessage } from "../../domain/conversation-text.ts";
import {
  formatInput,
  type ConversationMessage,
  type EventOf,
  type SessionEvent,
  type TurnOutcome,
} from "../../domain/events.ts";
import { addUsage, NO_USAGE } from "../../domain/usage.ts";
import { foldLines } from "../diff/fold.ts";
import { formatDiffs } from "../diff/format-diff.ts";
import { formatDuration, formatLocalTime } from "../format.ts";
import type { Paint } from "../paint.ts";
import { addLocation, relativeDiffs, shortenPaths } from "../relative-paths.ts";
import { toSingleLine, stripControls } from "../sanitize.ts";
import { addOutput } from "./output-tail.ts";
import { formatPlan } from "./plan.ts";
import { formatAnswerLine, formatInterruptedCall, formatToolLine } from "./tool-line.ts";
import { EMPTY_TURN_VIEW, type TurnTool, type TurnView } from "./turn-view.ts";
import { formatUsageFacts } from "./usage-facts.ts";

export interface RenderOptions {
  /** The width of the terminal, to wrap diffs. Default: they are not wrapped. */
  readonly columns?: number | undefined;
  /**
   * Shows with a tool how a person decided about it, and its changes even if the permission request showed them.
   * Default: false, because the request is printed above.
   */
  readonly repeatsDecisions?: boolean | undefined;
  /** Shows the answers to questions. Default: false. */
  readonly repeatsAnswers?: boolean | undefined;
  /** The working directory of the session. Paths in it are shown relative to it. Default: what the log says. */
  readonly folder?: string | undefined;
}

export function renderEvent(
  view: TurnView,
  event: SessionEvent,
  paint: Paint,
  options: RenderOptions = {},
): readonly [TurnView, string] {
  switch (event.type) {
    case "turn.started":
      return [
        {
          ...EMPTY_TURN_VIEW,
          atStart: view.atStart,
          last: view.last,
          questions: view.questions,
          folder: view.folder,
          serverWarnings: view.serverWarnings,
          startedAt: event.at,
        },
        "",
      ];
    case "turn.ended":
      return renderLine(view, formatTurnSummary(view, event, paint), { message: undefined, parkedUntil: undefined });
    case "message.delta":
      return renderDelta(view, event);
    case "message.completed": {
      const whole = view.message === event.messageId ? "" : stripControls(event.text).trimEnd();
      return renderLine(view, whole === "" ? undefined : whole, { message: undefined });
    }
    case "tool.started": {
      const title = toolTitle(event, options.folder ?? view.folder);
      return [setTool(view, event.toolId, { title, kind: event.kind, startedAt: event.at }), ""];
    }
    case "tool.updated":
      return [updateTool(view, event, options.folder ?? view.folder), ""];
    case "tool.ended":
      return renderToolEnd(view, event, paint, options);
    case "permission.requested":
      return [
        {
          ...view,
          requests: new Map(view.requests).set(event.requestId, {
            toolId: event.toolId,
            title: toolTitle({ ...event, name: event.tool }, options.folder ?? view.folder),
          }),
          previewed: event.diffs === undefined ? view.previewed : new Set(view.previewed).add(event.toolId),
        },
        "",
      ];
    case "permission.resolved":
      return renderDecided(view, event, paint);
    case "output.text":
      if (event.from !== undefined) return [view, ""]; // output of MCP servers is only logged
      return renderLine(view, stripControls(event.text).trimEnd());
    case "notice":
      if (event.level === "info") return renderLine(view, paint("dim", toSingleLine(event.message)));
      return renderLine(
        view,
        `${paint(event.level === "error" ? "red" : "yellow", "!")} ${toSingleLine(event.message)}`,
      );
    case "agent.switched":
      return renderLine(view, paint("dim", `agent: ${toSingleLine(event.to)}`));
    case "plan.updated":
      return renderLine(view, formatPlan(event.entries, paint).join("\n"));
    case "mcp.status":
      if (event.status === "connecting" || event.status === "ready") return [view, ""]; // the normal case
      return renderServerWarning(view, toSingleLine(formatServerStatus(event)), paint);
    case "context.compacted":
      return renderLine(view, paint("dim", "the conversation was summarized to save context"));
    case "conversation.replaced":
      return renderLine(
        view,
        formatConversation(event.messages)
          .map((line) => paint("dim", line))
          .join("\n"),
      );
    case "budget.raised":
      return renderLine(view, paint("dim", `budget raised: ${formatRaisedBudget(event)}`));
    case "turn.cancel_requested":
      return renderLine(view, paint("dim", "somebody interrupted the turn from another process"));
    case "permission.revoked":
      return renderLine(view, paint("dim", toSingleLine(`permissions: ${formatGrant(event)} asks again`)));
    case "input.delivered":
      return renderLine(view, paint("dim", toSingleLine(`message delivered: ${formatInput(event.input)}`)));
    case "subagent.started":
      return renderLine(view, paint("dim", toSingleLine(`started ${event.title} (${shortId(event.childSessionId)})`)));
    case "subagent.ended":
      return renderLine(view, paint("dim", toSingleLine(`${shortId(event.childSessionId)}: ${event.outcome.status}`)));
    case "turn.parked":
      return renderLine(
        view,
        `${paint("yellow", "!")} ${toSingleLine(`${event.message}; the turn waits until ${formatLocalTime(event.until)}`)}`,
        { parkedUntil: event.until },
      );
    case "turn.continued":
      return renderLine(view, paint("dim", toSingleLine(event.message ?? "the turn continues")), {
        parkedUntil: undefined,
      });
    case "usage.reported":
      return [{ ...view, usage: addUsage(view.usage ?? NO_USAGE, event) }, ""];
    case "question.asked":
      return [{ ...view, questions: new Map(view.questions).set(event.requestId, event.message) }, ""];
    case "question.answered":
      return renderAnswer(view, event, paint, options);
    case "session.opened":
      return [{ ...view, folder: event.cwd }, ""];
    case "session.closed":
    case "input.queued":
    case "input.withdrawn":
    case "thought.delta":
    case "limit.reached": // turn.parked and turn.ended report it
    case "agent.connected":
    case "agent.defined":
    case "process.started":
    case "process.exited":
    case "agent.raw":
    case "tool.chosen":
    case "plugin.saved":
    case "budget.set":
      return [view, ""];
  }
}

function setTool(view: TurnView, toolId: string, change: Partial<TurnTool>): TurnView {
  const { title = toSingleLine(toolId), kind = "other", startedAt = "", tail = "" } = view.tools.get(toolId) ?? {};
  const tools = new Map(view.tools);
  if (change.tail !== undefined) tools.delete(toolId); // moves it to the end
  return { ...view, tools: tools.set(toolId, { title, kind, startedAt, tail, ...change }) };
}

function updateTool(view: TurnView, event: EventOf<"tool.updated">, folder?: string): TurnView {
  const { toolId, title, text, locations } = event;
  const tool = view.tools.get(toolId);
  if (tool === undefined) return view;
  const shown = title === undefined ? tool.title : shortenPaths(toSingleLine(title), folder);
  return setTool(view, toolId, {
    title: toSingleLine(addLocation(shown, locations?.[0]?.path, folder)),
    ...(text !== undefined && { tail: addOutput(tool.tail, text) }),
  });
}

/** A delta of another message means that the previous message was abandoned. */
function renderDelta(view: TurnView, event: EventOf<"message.delta">): readonly [TurnView, string] {
  const text = stripControls(event.text);
  const before = view.message === undefined || view.message === event.messageId || view.atStart ? "" : "…\n";
  if (text === "") return [view, ""];
  return [{ ...view, message: event.messageId, atStart: text.endsWith("\n") }, before + text];
}

function renderToolEnd(
  view: TurnView,
  event: EventOf<"tool.ended">,
  paint: Paint,
  { columns, repeatsDecisions = false, folder = view.folder }: RenderOptions,
): readonly [TurnView, string] {
  const tool = view.tools.get(event.toolId);
  const title = tool?.title ?? toSingleLine(event.toolId);
  const tools = new Map(view.tools);
  tools.delete(event.toolId);
  const refused = event.outcome === "denied" ? [...view.refused, title] : view.refused;
  const reason = view.reasons.get(event.toolId);
  const allowed = repeatsDecisions ? view.allowed.get(event.toolId) : undefined; // who just allowed it has seen it
  const requests = new Map([...view.requests].filter(([, { toolId }]) => toolId !== event.toolId));
  // Claude Code 2.1 and opencode 1.18 end an interrupted call before its question is withdrawn.
  const isInterrupted = view.interrupted.has(event.toolId) || requests.size < view.requests.size;
  const text = formatToolLine({ title, tool, event, reason, allowed, isInterrupted }, paint);
  const isShown = repeatsDecisions || !view.previewed.has(event.toolId);
  const diffs = isShown ? relativeDiffs(event.diffs ?? [], folder) : [];
  const diff = foldLines(formatDiffs(diffs, { paint, columns }));
  return renderLine(view, [text, ...diff].join("\n"), { tools, refused, requests });
}

function renderDecided(
  view: TurnView,
  event: SessionEvent & EventOf<"permission.resolved">,
  paint: Paint,
): readonly [TurnView, string] {
  const call = view.requests.get(event.requestId);
  if (call === undefined) return [view, ""];
  const { toolId, title } = call;
  const requests = new Map(view.requests);
  requests.delete(event.requestId);
  const isStarted = view.tools.has(toolId);
  const next = { ...(isStarted ? setTool(view, toolId, { startedAt: event.at }) : view), requests };
  if (event.decision === "cancelled" && event.message === undefined) {
    if (isStarted) return [{ ...next, interrupted: new Set(next.interrupted).add(toolId) }, ""]; // its end follows
    return renderLine(next, formatInterruptedCall(title, paint));
  }
  if (event.by !== "person") return [next, ""];
  if (event.decision === "allow") return [{ ...next, allowed: new Map(next.allowed).set(toolId, event.scope) }, ""];
  if (event.message === undefined) return [next, ""];
  return [{ ...next, reasons: new Map(next.reasons).set(toolId, event.message) }, ""];
}

function renderAnswer(
  view: TurnView,
  event: EventOf<"question.answered">,
  paint: Paint,
  { repeatsAnswers = false }: RenderOptions,
): readonly [TurnView, string] {
  const question = view.questions.get(event.requestId);
  const questions = new Map(view.questions);
  questions.delete(event.requestId);
  if (question === undefined || !repeatsAnswers) return [{ ...view, questions }, ""]; // the person gave the answer here
  return renderLine(view, formatAnswerLine(question, event, paint), { questions });
}

function formatTurnSummary(view: TurnView, event: EventOf<"turn.ended">, paint: Paint): string {
  const colour = event.outcome.status === "done" ? "green" : "red";
  const time = formatDuration(Date.parse(event.at) - Date.parse(view.startedAt || event.at));
  const facts = [...formatUsageFacts(view.usage), time].join(" · ");
  return `${paint(colour, OUTCOMES[event.outcome.status])} ${paint("dim", `· ${facts}`)}`;
}

const OUTCOMES: Record<TurnOutcome["status"], string> = {
  done: "done",
  cancelled: "cancelled",
  failed: "failed",
  stalled: "stalled",
};

function formatRaisedBudget({ of, unit, to }: EventOf<"budget.raised">): string {
  return to === null ? `the ${of} has no limit in ${unit}` : `the ${of} may use ${amountText(unit, to)}`;
}

function formatServerStatus({ server, status, reason, fix }: EventOf<"mcp.status">): string {
  const words = [`MCP server ${server}: ${status.replace("_", " ")}`, reason, fix && `try: ${fix}`];
  return words.filter((part) => part !== undefined && part !== "").join("; ");
}

const MAX_SERVER_WARNINGS = 100;

/** Shows the same warning once: a server that is down reports it at each turn and each attempt to connect. */
function renderServerWarning(view: TurnView, warning: string, paint: Paint): readonly [TurnView, string] {
  if (view.serverWarnings.has(warning)) return [view, ""];
  const serverWarnings = new Set([...view.serverWarnings, warning].slice(-MAX_SERVER_WARNINGS));
  return renderLine(view, `${paint("yellow", "!")} ${warning}`, { serverWarnings });
}

/** Prints a full line, on a new line if needed. */
function renderLine(
  view: TurnView,
  text: string | undefined,
  change: Partial<TurnView> = {},
): readonly [TurnView, string] {
  const before = view.atStart ? "" : "\n";
  return [{ ...view, ...change, atStart: true }, text === undefined ? before : `${before}${text}\n`];
}

function toolTitle(
  { name, title, locations }: Pick<EventOf<"tool.started">, "name" | "title" | "locations">,
  folder: string | undefined,
): string {
  const shown = shortenPaths(toSingleLine(title === "" ? name : title), folder);
  return toSingleLine(addLocation(shown, locations?.[0]?.path, folder));
}

const MAX_SHOWN_MESSAGES = 20;
const MAX_MESSAGE_LENGTH = 300;

function formatConversation(messages: readonly ConversationMessage[]): string[] {
  if (messages.length === 0) return ["the agent continues from here; the log keeps the earlier conversation"];
  const lines = messages.flatMap(formatConversationMessage).map((text) => toSingleLine(text, MAX_MESSAGE_LENGTH));
  const shown = lines.slice(-MAX_SHOWN_MESSAGES);
  const hidden = lines.length - shown.length;
  const count = messages.length === 1 ? "1 message" : `${messages.length} messages`;
  return [
    `the conversation continues from ${count}; the log keeps the rest:`,
    ...(hidden > 0 ? [`… ${hidden} more`] : []),
    ...shown,
  ];
}
