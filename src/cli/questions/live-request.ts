/** A permission request in the live region: what it is about, completely, until the log shows its outcome. */
import { formatRequestDetails, formatRequester, type PendingRequest } from "../run/pending-request.ts";
import { foldLines } from "../diff/fold.ts";
import type { Paint } from "../paint.ts";
import { DIRECTORY_FIELDS, readCommandInput } from "../../domain/shell-command.ts";
import { escapeInvisible, toSingleLine } from "../sanitize.ts";
import { styledWidth, wrapStyled } from "../tui/styled-text.ts";
import { renderQuestionLine } from "./request-view.ts";

export interface LiveRequestStyle {
  readonly width: number;
  /** The height of the terminal. */
  readonly rows: number;
  readonly paint: Paint;
}

/** Rows that the keys, the status line and the lines around them take. */
const OTHER_ROWS = 6;
const MIN_DETAIL_ROWS = 1;

/** False if the request must be printed to the scrollback, so that the person can read all of it. */
export function fitsLiveRegion(request: PendingRequest, style: LiveRequestStyle): boolean {
  return renderDetails(request, style).length <= detailRows(style);
}

/** The question and, unless the scrollback has them, all details. */
export function renderLiveRequest(
  { request, isPrinted }: { readonly request: PendingRequest; readonly isPrinted: boolean },
  style: LiveRequestStyle,
): string[] {
  const { width, paint } = style;
  if (isPrinted) return [renderQuestionLine(request, style)];
  const tool = toSingleLine(request.tool ?? "", 60);
  const question = `${paint("yellow", "?")} Allow ${paint("bold", tool)}${formatRequester(request.from)}?`;
  const command = plainCommand(request) ?? plainTitle(request);
  const short = command === undefined ? undefined : `${question} ${command}`;
  if (short !== undefined && styledWidth(short) <= width) return [short, ...renderOtherInput(request, style)];
  const details = renderDetails(request, style);
  const shown = foldLines(details, { max: detailRows(style), hint: "make the terminal higher to see them" });
  return [...wrapStyled(question, width, "  "), ...shown];
}

/** The command, if it is a line for a shell that can be shown as it is. */
function plainCommand({ input, diffs = [] }: PendingRequest): string | undefined {
  const command = readCommandInput(input);
  if (typeof command !== "string" || diffs.length > 0) return undefined;
  return toSingleLine(escapeInvisible(command)) === command ? command : undefined;
}

/** The title, if it is in the input, because the agent says no more about the call. Gemini CLI 0.61 does that. */
function plainTitle({ title, input, diffs = [] }: PendingRequest): string | undefined {
  if (title === undefined || title === "" || diffs.length > 0 || readCommandInput(input) !== undefined)
    return undefined;
  if ((input as { title?: unknown } | null | undefined)?.title !== title) return undefined;
  return toSingleLine(escapeInvisible(title)) === title ? title : undefined;
}

/** Everything in the input besides the command or the title. The directory is left out if it is that of the session. */
function renderOtherInput(request: PendingRequest, style: LiveRequestStyle): string[] {
  const shownField = plainCommand(request) === undefined ? "title" : "command";
  const { description, ...input } = Object.fromEntries(
    Object.entries(request.input ?? {}).filter(
      ([name, value]) => name !== shownField && !(DIRECTORY_FIELDS.includes(name) && value === "."),
    ),
  ) as Record<string, unknown>;
  const render = (fields: Record<string, unknown>): string[] =>
    Object.keys(fields).length === 0 ? [] : renderDetails({ ...request, input: fields }, style);
  const dimmed = description === undefined ? [] : render({ description }).map((line) => style.paint("dim", line));
  return [...dimmed, ...render(input)];
}

function renderDetails(request: PendingRequest, { width, rows, paint }: LiveRequestStyle): string[] {
  const maxLines = detailRows({ rows }) - 3; // its title, a note about more lines, and a line of reserve
  const details = formatRequestDetails(request, {
    paint,
    columns: width,
    hint: "d opens all of them",
    maxLines: Math.max(MIN_DETAIL_ROWS, maxLines),
  });
  return details.flatMap((line) => wrapStyled(line, width, "    "));
}

function detailRows({ rows }: Pick<LiveRequestStyle, "rows">): number {
  return Math.max(MIN_DETAIL_ROWS, rows - OTHER_ROWS);
}
