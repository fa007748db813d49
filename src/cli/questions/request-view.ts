/** Renders a permission request: completely for the scrollback, and as a question with its keys for the live region. */
import type { Paint } from "../paint.ts";
import { formatRequestDetails, formatRequester, type PendingRequest } from "../run/pending-request.ts";
import { escapeInvisible, toSingleLine } from "../sanitize.ts";
import type { LiveRegion } from "../tui/inline-screen.ts";
import { clipStyled, styledWidth, wrapStyled } from "../tui/styled-text.ts";
import { commandOf } from "./permission-keys.ts";

/**
 * The request completely, for the scrollback. `rows`: the height of the terminal, which a long diff is folded to.
 * Default: 49.
 */
export function renderRequest(
  request: PendingRequest,
  { width, rows = 49, paint }: { readonly width: number; readonly rows?: number; readonly paint: Paint },
): string[] {
  const tool = toSingleLine(request.tool ?? "", 100);
  const heading = `${paint("yellow", "?")} ${paint("bold", tool)}${formatRequester(request.from)}`;
  const maxLines = Math.max(MIN_DIFF_ROWS, rows - OTHER_ROWS);
  const details = formatRequestDetails(request, { paint, columns: width, hint: "d opens all of them", maxLines });
  return [heading, ...details].flatMap((line) => wrapStyled(line, width, "    "));
}

const MIN_DIFF_ROWS = 5;
/** Rows that the heading, the question and the status line take. */
const OTHER_ROWS = 9;

export interface DecisionStyle {
  readonly width: number;
  readonly paint: Paint;
  /** What Esc does. Default: it interrupts. */
  readonly escapeHint?: string;
  /** Whether the person has pressed `a` once. */
  readonly isAlwaysAsked?: boolean | undefined;
  /** The question with what the request is about. Default: one line, because the scrollback has the request. */
  readonly question?: readonly string[] | undefined;
}

/** The question and its keys, for the live region. */
export function renderDecision(request: PendingRequest, style: DecisionStyle): string[] {
  const { width, paint, escapeHint = "Esc interrupts", isAlwaysAsked = false } = style;
  const { question = [renderQuestionLine(request, style)] } = style;
  const { prefix } = request;
  const key = (name: string, text: string): string => `${paint("bold", name)} ${text}`;
  if (isAlwaysAsked) {
    const every = `every ${toSingleLine(request.tool ?? "", 60)}`;
    const subject = prefix === undefined ? every : `"${prefix} …"`;
    const warning = `press ${paint("bold", "a")} again to allow ${subject} in this session without asking`;
    const whole = prefix === undefined ? "" : ` · ${key("A", every)}`;
    return [...question, ...wrapStyled(`  ${warning}${whole} · ${key("y", "once")} · Esc goes back`, width, "  ")];
  }
  const edit = commandOf(request) === undefined ? "deny with a reason" : "edit the command";
  const always = prefix === undefined ? "always" : `always ${toSingleLine(prefix, 40)} …`;
  const keys = [key("y", "yes"), key("n", "no"), key("a", always), key("e", edit)];
  if ((request.diffs ?? []).length > 0) keys.push(key("d", "whole diff"));
  return [...question, ...joinParts([...keys, escapeHint], width)];
}

/** The question with the files or the command, in one line. */
export function renderQuestionLine(
  request: PendingRequest,
  { width, paint }: Pick<DecisionStyle, "width" | "paint">,
): string {
  const tool = toSingleLine(request.tool ?? "", 60);
  return clipStyled(`${paint("yellow", "?")} Allow ${tool}? ${paint("dim", formatSubject(request))}`, width);
}

/** What the agent asks, in one line: "run npm test", "edit a.ts and 2 more", or the first line of its question. */
export function formatAskedSubject(request: PendingRequest): string {
  const { question, diffs = [], title = "" } = request;
  if (question !== undefined) return formatSubject({ ...request, title: question.message.trimStart() });
  const tool = toSingleLine(request.tool ?? "", 60);
  const subject = formatSubject(request);
  if (diffs.length > 0) return `${tool} ${subject}`;
  if (commandOf(request) !== undefined) return `run ${subject}`;
  return title.startsWith(tool) || subject === "" ? subject || tool : `${tool}: ${subject}`;
}

/** What the request is about: the files or the command. */
function formatSubject(request: PendingRequest): string {
  const { diffs = [], title = "" } = request;
  const [first] = diffs;
  const more = diffs.length > 1 ? ` and ${diffs.length - 1} more` : "";
  const subject = first === undefined ? (commandOf(request) ?? title) : `${first.path}${more}`;
  const [line = "", ...others] = subject.trimEnd().split("\n");
  const left = others.length === 0 ? "" : ` … (+${others.length} ${others.length === 1 ? "line" : "lines"})`;
  return `${toSingleLine(escapeInvisible(line), 200)}${left}`;
}

/** Breaks lines only between the parts. */
function joinParts(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const joined = `${last ?? ""} · ${part}`;
    if (last !== undefined && styledWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(`  ${part}`);
  }
  return lines.map((line) => clipStyled(line, width));
}

export interface ReasonStyle extends Pick<DecisionStyle, "width" | "paint"> {
  /** The line editor after a label. */
  readonly renderInput: (label: string) => LiveRegion;
}

/** The line in which a person says why not, or which command instead, and what Enter does. */
export function renderReason(isCommand: boolean, { width, paint, renderInput }: ReasonStyle): LiveRegion {
  const { lines, cursor } = renderInput(paint("yellow", isCommand ? "run instead: " : "reason: "));
  const hint = isCommand
    ? "Enter tells the agent to run this · Ctrl-U: a reason instead · Esc goes back"
    : "Enter denies it and tells the agent this; yes allows it · Esc goes back";
  return { lines: [...lines, clipStyled(paint("dim", hint), width)], cursor };
}
