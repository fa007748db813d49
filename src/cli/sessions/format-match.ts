/** Formats the matches of a search: a heading per session, and a line per match that says who wrote the text. */
import { shortId } from "../../domain/ids.ts";
import type { SearchMatch } from "../../session/search.ts";
import { displayWidth, simplifyEmoji, truncateAtWord, truncateToWidth } from "../display-width.ts";
import { formatAge } from "../format.ts";
import type { Paint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";

export interface MatchFormat {
  /** The words that were searched for. */
  readonly words: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The columns of the terminal. Undefined for a pipe, which gets each excerpt in full. */
  readonly width: number | undefined;
  readonly paint: Paint;
}

const MAX_TITLE_WIDTH = 80;
const MAX_SOURCE_WIDTH = 20;
/** The narrowest excerpt beside the other columns. */
const MIN_EXCERPT_WIDTH = 20;
const GAP = "  ";

/** `above`: the session of the match above, whose heading is not repeated. */
export function formatMatches(matches: readonly SearchMatch[], above: string | undefined, format: MatchFormat): string {
  const { now, paint } = format;
  const rows = matches.map((match) => {
    const { source, text } = splitSource(match);
    return { match, cells: [String(match.seq), source, formatAge(match.at, now)] as const, text };
  });
  const widthOf = (column: 0 | 1 | 2): number => Math.max(...rows.map(({ cells }) => displayWidth(cells[column])));
  const widths = [widthOf(0), widthOf(1), widthOf(2)] as const;
  let session = above;
  const lines = rows.flatMap(({ match, cells: [seq, source, age], text }) => {
    const heading = match.sessionId === session ? [] : formatHeading(match, session !== undefined, format);
    session = match.sessionId;
    const place = paint("dim", seq.padStart(widths[0]));
    const columns = [place, paint("cyan", pad(source, widths[1])), paint("dim", pad(age, widths[2]))];
    const before = widths.reduce((sum, width) => sum + GAP.length + width, GAP.length);
    return [...heading, GAP + [...columns, formatFoundText(text, before, format)].join(GAP)];
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** The short id and the title of the session. */
function formatHeading(match: SearchMatch, isLater: boolean, { width, paint }: MatchFormat): string[] {
  const { sessionId, title = "", task } = match;
  const id = shortId(sessionId);
  const name = `${task === undefined ? "" : `task ${toSingleLine(task, 30)}: `}${simplifyEmoji(toSingleLine(title))}`;
  const room = Math.min(MAX_TITLE_WIDTH, (width ?? Infinity) - id.length - GAP.length);
  const heading = `${paint("bold", id)}${GAP}${truncateAtWord(name, Math.max(1, room))}`.trimEnd();
  return [...(isLater ? [""] : []), heading];
}

/** Who or what the text is from, and the text. The text of a call starts with the name of its tool. */
function splitSource({ type, excerpt }: SearchMatch): { readonly source: string; readonly text: string } {
  const text = simplifyEmoji(toSingleLine(excerpt));
  const source = SOURCES[type] ?? type;
  if (type !== "tool.started" && type !== "permission.requested") return { source, text };
  const [, tool, call] = /^([^\s…]+) (.+)$/.exec(text) ?? [];
  if (tool === undefined || call === undefined) return { source, text };
  const rest = call.startsWith(`${tool}: `) ? call.slice(tool.length + 2) : call;
  return { source: truncateToWidth(`${source} ${tool}`, MAX_SOURCE_WIDTH), text: rest };
}

const SOURCES: Partial<Record<SearchMatch["type"], string>> = {
  "turn.started": "you",
  "input.delivered": "you",
  "message.completed": "agent",
  "tool.started": "tool",
  "tool.ended": "result",
  "permission.requested": "asks",
  "question.asked": "question",
  notice: "notice",
  "turn.ended": "ended",
};

/** The text around the first word in one line of a terminal, with all words highlighted. */
function formatFoundText(text: string, before: number, { words, width, paint }: MatchFormat): string {
  const shown = width === undefined ? text : cutAround(text, words, Math.max(MIN_EXCERPT_WIDTH, width - before));
  return highlightWords(shown, words, paint);
}

/** Leaves out the start of the text if the first word would be cut off at the end. */
function cutAround(text: string, words: readonly string[], room: number): string {
  const at = text.toLowerCase().indexOf(words[0] ?? "");
  const end = displayWidth(text.slice(0, at + (words[0] ?? "").length));
  if (at <= 0 || end < room) return truncateToWidth(text, room);
  const from = text.lastIndexOf(" ", Math.max(0, at - Math.floor(room / 3))) + 1;
  return truncateToWidth(`…${text.slice(Math.min(from, at))}`, room);
}

function highlightWords(text: string, words: readonly string[], paint: Paint): string {
  const escaped = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  if (escaped.length === 0) return text;
  const longest = escaped.toSorted((one, other) => other.length - one.length);
  return text.replaceAll(new RegExp(longest.join("|"), "giu"), (found) => paint("bold", paint("yellow", found)));
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}
