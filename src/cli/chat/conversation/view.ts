/** Renders a chat: finished blocks for the scrollback, and what is in progress for the live region. */
import { formatInput } from "../../../domain/events.ts";
import { formatCount, formatDuration, formatLocalTime, formatUsd } from "../../format.ts";
import { renderMarkdown } from "../../markdown/render.ts";
import { openBlocks } from "../../markdown/stream.ts";
import type { Highlighter } from "../../markdown/style.ts";
import type { Paint } from "../../paint.ts";
import { stripHidden, toSingleLine } from "../../sanitize.ts";
import { formatTail } from "../../transcript/output-tail.ts";
import { clipStyled, styledWidth, wrapStyled } from "../../tui/styled-text.ts";
import type { StatusFact } from "../../tui/status-line.ts";
import type { ChatBlock, ChatState } from "./fold.ts";

export interface ChatStyle {
  readonly width: number;
  readonly paint: Paint;
  readonly highlight?: Highlighter | undefined;
  /** What Esc does while the agent works. Default: it interrupts. */
  readonly escapeHint?: string;
  /** How to see the lines of a failed command's output that are not shown. Default: no hint. */
  readonly outputHint?: string;
}

/** Longer prompts are shown in part. */
const MAX_PROMPT_LINES = 20;
const BRIEF_MS = 500;
const MIN_TITLE_WIDTH = 10;
/** Queued inputs that are listed in the live region. */
const MAX_QUEUED_SHOWN = 3;

/** `previous`: the block above it, which decides about an empty line between them. */
export function renderChatBlock(block: ChatBlock, previous: ChatBlock["type"] | undefined, style: ChatStyle): string[] {
  const { width, paint } = style;
  const isJoined =
    block.type === "output" ||
    (block.type === "lines" && (previous === "lines" || previous === "command" || previous === "output"));
  const gap = previous === undefined || isJoined ? [] : [""];
  switch (block.type) {
    case "prompt":
      return [...gap, ...renderPrompt(block.text, style)];
    case "command":
      return [...gap, paint("dim", clipStyled(`${block.mark} ${toSingleLine(block.text)}`, width))];
    case "markdown":
      return [...gap, ...renderMarkdown(block.blocks, style)];
    case "thought":
      return [
        ...gap,
        paint(
          "dim",
          clipStyled(block.ms < BRIEF_MS ? "thought briefly" : `thought for ${formatDuration(block.ms)}`, width),
        ),
      ];
    case "output":
      return renderOutputEnd(block.text, style);
    case "lines":
      return [...gap, ...block.text.split("\n").flatMap((line) => wrapStyled(line, width, "  "))];
  }
}

/** The last lines of a command's output. */
function renderOutputEnd(text: string, { width, paint, outputHint }: ChatStyle): string[] {
  const lines = formatTail(text, Math.max(1, width - 2));
  const hidden = text.split("\n").filter((line) => line.trim() !== "").length - lines.length;
  const hint = outputHint === undefined ? "" : ` · ${outputHint}`;
  const more = hidden > 0 ? [clipStyled(`… ${formatCount(hidden)} earlier lines${hint}`, Math.max(1, width - 2))] : [];
  return [...more, ...lines].map((line) => paint("dim", `  ${line}`));
}

function renderPrompt(text: string, { width, paint }: ChatStyle): string[] {
  const lines = wrapStyled(stripHidden(text).replaceAll("\t", "    "), Math.max(1, width - 2));
  const shown = lines.slice(0, MAX_PROMPT_LINES);
  const more = lines.length - shown.length;
  return [
    ...shown.map((line, index) => `${index === 0 ? paint("cyan", "❯") : " "} ${paint("bold", line)}`.trimEnd()),
    ...(more === 0 ? [] : [paint("dim", `  … ${formatCount(more)} more lines`)]),
  ];
}

/** What is in progress, above the input. `now`: milliseconds since the epoch. */
export function renderProgress(state: ChatState, now: number, frame: string, style: ChatStyle): string[] {
  const { width, paint } = style;
  const open = state.message === undefined ? [] : renderMarkdown(openBlocks(state.message.stream), style);
  const { escapeHint = "Esc interrupts" } = style;
  const tools = [...state.view.tools.values()].flatMap(({ title, startedAt, tail }) => {
    const output = formatTail(tail, Math.max(1, width - 2)).map((line) => paint("dim", `  ${line}`));
    if (state.requests.length > 0 && output.length === 0) return []; // it waits for the person
    const facts = `${formatElapsed(startedAt, now)} · ${escapeHint}`;
    return [renderRunningTool(`${paint("cyan", frame)} ${title}`, facts, style), ...output];
  });
  const queued = state.queue.slice(0, MAX_QUEUED_SHOWN).map(({ input, deliver }) => {
    const label = deliver === "steer" ? "for the next step" : "after this turn";
    return clipStyled(paint("dim", `⋯ ${label}: ${toSingleLine(formatInput(input), width)}`), width);
  });
  const hidden = state.queue.length - queued.length;
  const parts = [
    open,
    tools.length === 0 ? renderActivity(state, now, frame, style) : tools,
    [...queued, ...(hidden > 0 ? [paint("dim", `⋯ ${hidden} more`)] : [])],
  ];
  return parts.filter((lines) => lines.length > 0).flatMap((lines) => ["", ...lines]);
}

/** Truncates the title, so that the time stays visible. */
function renderRunningTool(title: string, facts: string, { width, paint }: ChatStyle): string {
  const room = Math.max(MIN_TITLE_WIDTH, width - styledWidth(facts) - 1);
  return clipStyled(`${clipStyled(title, room)} ${paint("dim", facts)}`, width);
}

function renderActivity(state: ChatState, now: number, frame: string, style: ChatStyle): string[] {
  const { width, paint, escapeHint = "Esc interrupts" } = style;
  if (state.runningSince === undefined || state.requests.length > 0) return []; // it waits for the person
  const { parkedUntil } = state.view;
  const label =
    parkedUntil !== undefined
      ? `waiting for a limit to reset, until ${formatLocalTime(parkedUntil)}`
      : `${state.message === undefined ? "thinking" : "writing"} ${formatElapsed(state.runningSince, now)}`;
  return [clipStyled(`${paint("cyan", frame)} ${paint("dim", `${label} · ${escapeHint}`)}`, width)];
}

function formatElapsed(since: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}

export interface StatusContext {
  readonly directory: string;
  /** Shown as `~`. */
  readonly home?: string | undefined;
  readonly branch: string | undefined;
  /** Shown in place of the agent until it is known. */
  readonly note?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The facts of the status line. */
export function chatFacts(state: ChatState, { directory, home, branch, note, now }: StatusContext): StatusFact[] {
  const { agent, model = "", permissions, usage, contextUsed, contextSize } = state;
  const context =
    contextUsed === undefined || contextSize === undefined || contextSize === 0
      ? ""
      : `${Math.round((100 * contextUsed) / contextSize)}% context`;
  const tokens = usage.inputTokens + usage.outputTokens;
  return [
    { text: note ?? agent, priority: 9 },
    { text: formatModel(model, agent), priority: 6 },
    { text: permissions === undefined || permissions === "ask" ? "" : `permissions: ${permissions}`, priority: 8 },
    { text: shortenHome(directory, home), short: shortenDirectory(shortenHome(directory, home)), priority: 4 },
    { text: branch ?? "", short: shortenName(branch ?? ""), priority: 3 },
    { text: context, priority: 7 },
    { text: tokens === 0 ? "" : `${formatCount(tokens)} tokens`, priority: 1 },
    { text: usage.costUsd === undefined || usage.costUsd === 0 ? "" : formatUsd(usage.costUsd), priority: 5 },
    { text: formatTurnTime(state, now), priority: 2 },
  ];
}

/** The model without its provider, if the agent has the same name. */
function formatModel(model: string, agent: string): string {
  return model.startsWith(`${agent}/`) ? model.slice(agent.length + 1) : model;
}

/** The last folder of the path, such as `…/project`. */
function shortenDirectory(path: string): string {
  const short = `…/${shortenName(path.slice(path.lastIndexOf("/") + 1))}`;
  return styledWidth(short) < styledWidth(path) ? short : path;
}

const MAX_SHORT_NAME = 24;

/** Cuts a long name between two of its words. */
function shortenName(name: string): string {
  if (name.length <= MAX_SHORT_NAME) return name;
  const [words = ""] = /^.*[-_/. ]/u.exec(name.slice(0, MAX_SHORT_NAME)) ?? [];
  return words.length < MAX_SHORT_NAME / 3 ? clipStyled(name, MAX_SHORT_NAME) : `${words}…`;
}

function formatTurnTime({ runningSince, lastTurnMs }: ChatState, now: number): string {
  if (runningSince !== undefined) return `running ${formatElapsed(runningSince, now)}`;
  return lastTurnMs === undefined ? "" : `took ${formatDuration(lastTurnMs)}`;
}

function shortenHome(path: string, home: string | undefined): string {
  return home !== undefined && home !== "" && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
