/** What a person sees of a turn: a fold over its events that gives the text to print for each. */
import { amountText } from "../../domain/budget.ts";
import {
  formatInput,
  type EventOf,
  type SessionEvent,
  type ToolOutcome,
  type TurnOutcome,
} from "../../domain/events.ts";
import { addUsage, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { formatCount, formatDuration, formatLocalTime, formatUsd } from "../format.ts";
import type { Color, Paint } from "../paint.ts";
import { toSingleLine, stripControls } from "../sanitize.ts";

export interface TurnView {
  /** Is the cursor at the start of a line? */
  readonly atStart: boolean;
  /** The message whose text is being shown as it comes. */
  readonly message: string | undefined;
  /** Titles of the tools that run, by id. */
  readonly tools: ReadonlyMap<string, string>;
  /** Titles of the tools that were refused in this turn. */
  readonly refused: readonly string[];
  /** Of this turn; undefined until something is reported. */
  readonly usage: Usage | undefined;
  readonly startedAt: string;
  /** Until when the turn waits for a limit to pass. */
  readonly parkedUntil: string | undefined;
}

export const EMPTY_TURN_VIEW: TurnView = {
  atStart: true,
  message: undefined,
  tools: new Map(),
  refused: [],
  usage: undefined,
  startedAt: "",
  parkedUntil: undefined,
};

export function renderEvent(view: TurnView, event: SessionEvent, paint: Paint): readonly [TurnView, string] {
  switch (event.type) {
    case "turn.started":
      return [{ ...EMPTY_TURN_VIEW, atStart: view.atStart, startedAt: event.at }, ""];
    case "turn.ended":
      return renderLine(view, formatTurnSummary(view, event, paint), { message: undefined, parkedUntil: undefined });
    case "message.delta":
      return renderDelta(view, event);
    case "message.completed": {
      const whole = view.message === event.messageId ? "" : stripControls(event.text).trimEnd();
      return renderLine(view, whole === "" ? undefined : whole, { message: undefined });
    }
    case "tool.started":
      return [{ ...view, tools: new Map(view.tools).set(event.toolId, toolTitle(event)) }, ""];
    case "tool.updated":
      if (event.title === undefined) return [view, ""];
      return [{ ...view, tools: new Map(view.tools).set(event.toolId, toSingleLine(event.title)) }, ""];
    case "tool.ended":
      return renderToolEnd(view, event, paint);
    case "output.text":
      if (event.from !== undefined) return [view, ""]; // what a server mutters is for the log
      return renderLine(view, stripControls(event.text).trimEnd());
    case "notice":
      if (event.level === "info") return renderLine(view, paint("dim", toSingleLine(event.message)));
      return renderLine(
        view,
        `${paint(event.level === "error" ? "red" : "yellow", "!")} ${toSingleLine(event.message)}`,
      );
    case "agent.switched":
      return renderLine(view, paint("dim", `agent: ${toSingleLine(event.to)}`));
    case "plan.updated": {
      const done = event.entries.filter((entry) => entry.status === "completed").length;
      return renderLine(view, paint("dim", `plan: ${done} of ${event.entries.length} done`));
    }
    case "mcp.status":
      if (event.status === "connecting" || event.status === "ready") return [view, ""]; // as it should be
      return renderLine(view, `${paint("yellow", "!")} ${toSingleLine(formatServerStatus(event))}`);
    case "context.compacted":
      return renderLine(view, paint("dim", "the conversation so far was summarized"));
    case "conversation.replaced":
      return renderLine(view, paint("dim", "the conversation so far was replaced"));
    case "budget.raised":
      return renderLine(view, paint("dim", `more is allowed: ${formatRaisedBudget(event)}`));
    case "input.delivered":
      return renderLine(view, paint("dim", toSingleLine(`told meanwhile: ${formatInput(event.input)}`)));
    case "subagent.started":
      return renderLine(view, paint("dim", toSingleLine(`started ${event.title} (${event.childSessionId})`)));
    case "subagent.ended":
      return renderLine(view, paint("dim", toSingleLine(`${event.childSessionId}: ${event.outcome.status}`)));
    case "turn.parked":
      return renderLine(
        view,
        `${paint("yellow", "!")} ${toSingleLine(`${event.message}; the turn waits until ${formatLocalTime(event.until)}`)}`,
        { parkedUntil: event.until },
      );
    case "turn.continued":
      return renderLine(view, paint("dim", toSingleLine(event.message ?? "the turn goes on")), {
        parkedUntil: undefined,
      });
    case "usage.reported":
      return [{ ...view, usage: addUsage(view.usage ?? NO_USAGE, event) }, ""];
    case "session.opened":
    case "session.closed":
    case "input.queued":
    case "thought.delta":
    case "permission.requested":
    case "permission.resolved":
    case "question.asked":
    case "question.answered":
    case "limit.reached": // how the turn goes on is said by itself
    case "agent.connected":
    case "process.started":
    case "process.exited":
    case "agent.raw":
    case "tool.chosen":
    case "plugin.saved":
    case "budget.set":
      return [view, ""];
  }
}

/** What is being waited for, to be shown while nothing comes. */
export function formatActivity(view: TurnView): string {
  if (view.parkedUntil !== undefined) return `waiting for a limit to pass, until ${formatLocalTime(view.parkedUntil)}`;
  return view.tools.size === 0 ? "thinking" : [...view.tools.values()].join(", ");
}

const TOOL_OUTCOMES: Record<ToolOutcome, { mark: string; colour: Color; word: string }> = {
  ok: { mark: "✓", colour: "green", word: "" },
  failed: { mark: "✗", colour: "red", word: "failed" },
  denied: { mark: "⊘", colour: "yellow", word: "refused" },
  cancelled: { mark: "⊘", colour: "yellow", word: "cancelled" },
  timed_out: { mark: "✗", colour: "red", word: "timed out" },
  unknown: { mark: "?", colour: "yellow", word: "may or may not have happened" },
};
const DETAIL_LENGTH = 120;

/** Deltas of another message mean that the one before was abandoned. */
function renderDelta(view: TurnView, event: EventOf<"message.delta">): readonly [TurnView, string] {
  const text = stripControls(event.text);
  const before = view.message === undefined || view.message === event.messageId || view.atStart ? "" : "…\n";
  if (text === "") return [view, ""];
  return [{ ...view, message: event.messageId, atStart: text.endsWith("\n") }, before + text];
}

function renderToolEnd(view: TurnView, event: EventOf<"tool.ended">, paint: Paint): readonly [TurnView, string] {
  const title = view.tools.get(event.toolId) ?? toSingleLine(event.toolId);
  const tools = new Map(view.tools);
  tools.delete(event.toolId);
  const { mark, colour, word } = TOOL_OUTCOMES[event.outcome];
  const detail = event.outcome === "failed" ? toSingleLine(lastLine(event.text), DETAIL_LENGTH) : "";
  const how = [word, detail].filter((part) => part !== "").join(": ");
  const refused = event.outcome === "denied" ? [...view.refused, title] : view.refused;
  const text = `${paint(colour, mark)} ${title}${how === "" ? "" : paint("dim", ` — ${how}`)}`;
  return renderLine(view, text, { tools, refused });
}

function formatTurnSummary(view: TurnView, event: EventOf<"turn.ended">, paint: Paint): string {
  const colour = event.outcome.status === "done" ? "green" : "red";
  const time = formatDuration(Date.parse(event.at) - Date.parse(view.startedAt || event.at));
  const facts = [...formatUsage(view.usage), time].join(" · ");
  return `${paint(colour, OUTCOMES[event.outcome.status])} ${paint("dim", `· ${facts}`)}`;
}

const OUTCOMES: Record<TurnOutcome["status"], string> = {
  done: "done",
  cancelled: "cancelled",
  failed: "failed",
  stalled: "stalled",
};

export function formatUsage(usage: Usage | undefined): string[] {
  if (usage === undefined) return [];
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  const cached = cacheReadTokens === 0 ? "" : ` (${formatCount(cacheReadTokens)} from cache)`;
  return [
    `${formatCount(inputTokens)} tokens in${cached}`,
    `${formatCount(outputTokens)} out`,
    formatUsageCost(usage, "cost unknown"),
  ];
}

/** What we computed ourselves is no bill. */
export function formatUsageCost({ costUsd, costBy }: Usage, unknown: string): string {
  if (costUsd === undefined) return unknown;
  if (costBy === "computed") return `${formatUsd(costUsd)} (computed)`;
  return costBy === "mixed" ? `${formatUsd(costUsd)} (partly computed)` : formatUsd(costUsd);
}

function formatRaisedBudget({ of, unit, to }: EventOf<"budget.raised">): string {
  return to === null ? `the ${of} goes on without a limit in ${unit}` : `the ${of} may use ${amountText(unit, to)}`;
}

function formatServerStatus({ server, status, reason, fix }: EventOf<"mcp.status">): string {
  const words = [`MCP server ${server}: ${status.replace("_", " ")}`, reason, fix && `try ${fix}`];
  return words.filter((part) => part !== undefined && part !== "").join("; ");
}

/** A whole line of its own, after whatever is on the line now. */
function renderLine(
  view: TurnView,
  text: string | undefined,
  change: Partial<TurnView> = {},
): readonly [TurnView, string] {
  const before = view.atStart ? "" : "\n";
  return [{ ...view, ...change, atStart: true }, text === undefined ? before : `${before}${text}\n`];
}

function toolTitle({ name, title }: EventOf<"tool.started">): string {
  return toSingleLine(title === "" ? name : title);
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
