/** The text view of a turn: a fold over its events that returns the text to print for each. */
import { amountText } from "../../domain/budget.ts";
import { shortId } from "../../domain/ids.ts";
import {
  formatInput,
  type EventOf,
  type SessionEvent,
  type ToolKind,
  type ToolOutcome,
  type TurnOutcome,
} from "../../domain/events.ts";
import { addUsage, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { foldLines } from "../diff/fold.ts";
import { formatDiffs } from "../diff/format-diff.ts";
import { formatCount, formatDuration, formatLocalTime, formatUsd } from "../format.ts";
import type { Color, Paint } from "../paint.ts";
import { toSingleLine, stripControls } from "../sanitize.ts";
import { addOutput, formatTail } from "./output-tail.ts";
import { formatPlan } from "./plan.ts";

export interface TurnView {
  /** True if the cursor is at the start of a line. */
  readonly atStart: boolean;
  /** Id of the message that is streaming. */
  readonly message: string | undefined;
  /** The source of the message that is not printed yet, because its block is not complete. Only for Markdown. */
  readonly open: string;
  /** What was printed last. Only for Markdown, which needs empty lines around messages. */
  readonly last: ShownPart | undefined;
  /** Running tools by id, the one that printed last at the end. */
  readonly tools: ReadonlyMap<string, TurnTool>;
  /** Ids of the tools that open permission requests are about, by request id. */
  readonly requests: ReadonlyMap<string, string>;
  /** Ids of the tools whose changes a person saw before deciding about them. */
  readonly previewed: ReadonlySet<string>;
  /** Titles of the tools that were denied in this turn. */
  readonly refused: readonly string[];
  /** Usage of this turn. Undefined until the first report. */
  readonly usage: Usage | undefined;
  readonly startedAt: string;
  /** Warnings about MCP servers that were shown, in this turn or an earlier one. At most 100. */
  readonly serverWarnings: ReadonlySet<string>;
  /** When the limit that the turn waits for resets. */
  readonly parkedUntil: string | undefined;
}

export type ShownPart = "prompt" | "message" | "lines";

export interface TurnTool {
  readonly title: string;
  readonly kind: ToolKind;
  /** When it started, without the time that a person needed to allow it. */
  readonly startedAt: string;
  /** The end of its output so far. */
  readonly tail: string;
}

export const EMPTY_TURN_VIEW: TurnView = {
  atStart: true,
  message: undefined,
  open: "",
  last: undefined,
  tools: new Map(),
  requests: new Map(),
  previewed: new Set(),
  refused: [],
  usage: undefined,
  startedAt: "",
  serverWarnings: new Set(),
  parkedUntil: undefined,
};

export interface RenderOptions {
  /** The width of the terminal, to wrap diffs. Default: they are not wrapped. */
  readonly columns?: number | undefined;
  /** Shows the changes of a tool even if its permission request showed them. Default: false. */
  readonly repeatsDiffs?: boolean | undefined;
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
    case "tool.started":
      return [setTool(view, event.toolId, { title: toolTitle(event), kind: event.kind, startedAt: event.at }), ""];
    case "tool.updated":
      return [updateTool(view, event), ""];
    case "tool.ended":
      return renderToolEnd(view, event, paint, options);
    case "permission.requested":
      return [
        {
          ...view,
          requests: new Map(view.requests).set(event.requestId, event.toolId),
          previewed: event.diffs === undefined ? view.previewed : new Set(view.previewed).add(event.toolId),
        },
        "",
      ];
    case "permission.resolved": {
      const toolId = view.requests.get(event.requestId);
      return [
        toolId === undefined || !view.tools.has(toolId) ? view : setTool(view, toolId, { startedAt: event.at }),
        "",
      ];
    }
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
      return renderLine(view, paint("dim", "the agent continues from here; the log keeps the earlier conversation"));
    case "budget.raised":
      return renderLine(view, paint("dim", `budget raised: ${formatRaisedBudget(event)}`));
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
    case "session.opened":
    case "session.closed":
    case "input.queued":
    case "thought.delta":
    case "question.asked":
    case "question.answered":
    case "limit.reached": // turn.parked and turn.ended report it
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

function setTool(view: TurnView, toolId: string, change: Partial<TurnTool>): TurnView {
  const { title = toSingleLine(toolId), kind = "other", startedAt = "", tail = "" } = view.tools.get(toolId) ?? {};
  const tools = new Map(view.tools);
  if (change.tail !== undefined) tools.delete(toolId); // moves it to the end
  return { ...view, tools: tools.set(toolId, { title, kind, startedAt, tail, ...change }) };
}

function updateTool(view: TurnView, { toolId, title, text }: EventOf<"tool.updated">): TurnView {
  const tool = view.tools.get(toolId);
  if (tool === undefined) return view;
  return setTool(view, toolId, {
    ...(title !== undefined && { title: toSingleLine(title) }),
    ...(text !== undefined && { tail: addOutput(tool.tail, text) }),
  });
}

/** Returns the last lines of the running tool that printed last. */
export function formatRunningOutput(
  view: TurnView,
  size: { readonly width: number; readonly lines: number },
): string[] {
  const last = [...view.tools.values()].filter(({ tail }) => tail !== "").at(-1);
  return last === undefined ? [] : formatTail(last.tail, size.width, size.lines);
}

/** Returns the label of the spinner. */
export function formatActivity(view: TurnView): string {
  if (view.parkedUntil !== undefined) return `waiting for a limit to reset, until ${formatLocalTime(view.parkedUntil)}`;
  return view.tools.size === 0 ? "thinking" : Array.from(view.tools.values(), ({ title }) => title).join(", ");
}

const TOOL_OUTCOMES: Record<ToolOutcome, { mark: string; colour: Color; word: string }> = {
  ok: { mark: "✓", colour: "green", word: "" },
  failed: { mark: "✗", colour: "red", word: "failed" },
  denied: { mark: "⊘", colour: "yellow", word: "denied" },
  cancelled: { mark: "⊘", colour: "yellow", word: "cancelled" },
  timed_out: { mark: "✗", colour: "red", word: "timed out" },
  unknown: { mark: "?", colour: "yellow", word: "may or may not have run" },
};
const DETAIL_LENGTH = 120;

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
  { columns, repeatsDiffs = false }: RenderOptions,
): readonly [TurnView, string] {
  const tool = view.tools.get(event.toolId);
  const title = tool?.title ?? toSingleLine(event.toolId);
  const tools = new Map(view.tools);
  tools.delete(event.toolId);
  const { mark, colour, word } = TOOL_OUTCOMES[event.outcome];
  const exitCode = event.outcome === "failed" ? findExitCode(event.text) : undefined;
  const detail = event.outcome === "failed" ? toSingleLine(lastLine(event.text), DETAIL_LENGTH) : "";
  const result =
    exitCode === undefined ? [word, detail].filter((part) => part !== "").join(": ") : `exit code ${exitCode}`;
  const how = `${result === "" ? "" : ` — ${result}`}${formatToolTime(tool, event)}`;
  const refused = event.outcome === "denied" ? [...view.refused, title] : view.refused;
  const text = `${paint(colour, mark)} ${title}${how === "" ? "" : paint("dim", how)}`;
  const isShown = repeatsDiffs || !view.previewed.has(event.toolId);
  const diff = isShown ? foldLines(formatDiffs(event.diffs ?? [], { paint, columns })) : [];
  return renderLine(view, [text, ...diff].join("\n"), { tools, refused });
}

/** The time of a command, unless it rounds to nothing. Other tools are fast, or their time says nothing. */
function formatToolTime(tool: TurnTool | undefined, { at, outcome }: EventOf<"tool.ended">): string {
  if (tool?.kind !== "execute" || outcome === "denied" || outcome === "unknown") return "";
  const time = formatDuration(Date.parse(at) - Date.parse(tool.startedAt));
  return time === "0.0s" ? "" : ` · ${time}`;
}

/** Agents report it in the last line of the output (the built-in agent, Codex) or in the first (Claude Code). */
function findExitCode(text: string): string | undefined {
  const lines = text.trim().split("\n");
  for (const line of [lines.at(-1), lines[0]]) {
    const code = /^\[?exit code:? (\d+)\]?$/i.exec(line?.trim() ?? "")?.[1];
    if (code !== undefined && code !== "0") return code;
  }
  return undefined;
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

/** Marks computed costs, because they are estimates. */
export function formatUsageCost({ costUsd, costBy }: Usage, unknown: string): string {
  if (costUsd === undefined) return unknown;
  if (costBy === "computed") return `${formatUsd(costUsd)} (computed)`;
  return costBy === "mixed" ? `${formatUsd(costUsd)} (partly computed)` : formatUsd(costUsd);
}

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

function toolTitle({ name, title }: EventOf<"tool.started">): string {
  return toSingleLine(title === "" ? name : title);
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
