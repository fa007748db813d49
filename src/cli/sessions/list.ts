/** `rookery sessions list`: prints sessions, those with the newest activity first. */
import { resolve } from "node:path";
import { realFolder } from "../../config/root.ts";
import { shortId } from "../../domain/ids.ts";
import type { ListQuery, SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { isDriven } from "../../session/lease.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { CommandCall } from "../command.ts";
import { displayWidth, simplifyEmoji, truncateAtWord, truncateToWidth } from "../display-width.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatAge, formatColumns, formatLocalTime } from "../format.ts";
import { hasColor, print, printJson, printText, terminalWidth } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { ansiPaint, type Color, type Paint, plainPaint } from "../paint.ts";
import { choiceOption, countOption, isSet, textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import { listByActivity } from "./by-activity.ts";
import { SHOWN_SESSION_STATUSES, type ShownSessionStatus } from "./shown-status.ts";

const DEFAULT_LIMIT = 20;

interface ListedSession extends SessionSummary {
  /** True if its turn is not finished although no process drives it. */
  readonly interrupted: boolean;
}

export async function listSessionsCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const limit = countOption(options, "limit", 1) ?? DEFAULT_LIMIT;
  const folder = textOption(options, "cwd");
  const query = {
    agent: textOption(options, "agent"),
    cwd: folder === undefined ? undefined : await resolveIfExists(resolve(io.cwd(), folder)),
  };
  const status = choiceOption(options, "status", SHOWN_SESSION_STATUSES);
  await using rookery = await openRookeryAnywhere(io);
  const sessions = await findSessions(rookery.store, query, { status, limit });
  if (isSet(options, "json")) {
    for (const { interrupted: _, ...session } of sessions) await printJson(io, session);
    return EXIT.done;
  }
  if (sessions.length === 0) {
    const which = status !== undefined || Object.values(query).some((value) => value !== undefined) ? "such " : "";
    await printText(io, `no ${which}sessions; start one: rookery run "PROMPT", or try: rookery demo\n`);
    return EXIT.done;
  }
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  const width = terminalWidth(io.stdout);
  await print(io, formatSessionTable(sessions, { now: Date.now(), width, paint }));
  if (width !== undefined && sessions.length === limit) {
    await printText(io, `the last ${limit}; more: rookery sessions list --limit ${limit * 5}\n`);
  }
  return EXIT.done;
}

/** The status that a list shows can differ from the status in the log, so this filters what it has read. */
async function findSessions(
  store: SessionStore,
  query: ListQuery,
  { status, limit }: { status: ShownSessionStatus | undefined; limit: number },
): Promise<readonly ListedSession[]> {
  const recorded = status === "interrupted" ? undefined : status;
  const found: ListedSession[] = [];
  for (const session of await listByActivity(store, { ...query, status: recorded })) {
    const listed = { ...session, interrupted: await isInterrupted(store, session) };
    if (status === undefined || shownStatus(listed) === status) found.push(listed);
    if (found.length === limit) break;
  }
  return found;
}

function shownStatus({ interrupted, status }: ListedSession): string {
  return interrupted ? "interrupted" : status;
}

async function isInterrupted(store: SessionStore, { id, status }: SessionSummary): Promise<boolean> {
  const busy = status === "running" || status === "waiting";
  return busy && !(await isDriven(store, id, systemClock));
}

/** Columns that a narrow terminal does not show, in this order: turns, agent, age. */
const DROPPED_COLUMNS = [3, 2, 4];
const MIN_TITLE_WIDTH = 16;
const MAX_TITLE_WIDTH = 60;
const GAP = "  ";

const HEAD = ["id", "status", "agent", "turns", "active", "about"];

interface SessionTableFormat {
  readonly now: number;
  /** The columns of the terminal, or undefined for a pipe, which gets no heading. */
  readonly width: number | undefined;
  readonly paint: Paint;
}

export function formatSessionTable(
  sessions: readonly ListedSession[],
  { now, width, paint }: SessionTableFormat,
): string {
  const listed = sessions.map((session) => [
    shortId(session.id),
    session.interrupted ? "interrupted" : formatStatus(session),
    truncateToWidth(toSingleLine(session.agent), 20),
    `${session.turns} ${session.turns === 1 ? "turn" : "turns"}`,
    formatAge(session.updatedAt, now),
    `${session.depth === undefined ? "" : "↳ "}${formatTask(session)}${simplifyEmoji(toSingleLine(session.title ?? ""))}`,
  ]);
  const rows = width === undefined ? listed : [HEAD, ...listed];
  const columns = new Set([0, 1, 2, 3, 4]);
  const widthOf = (column: number) => Math.max(...rows.map((row) => displayWidth(row[column] ?? "")));
  const before = () => [...columns].reduce((sum, column) => sum + widthOf(column) + GAP.length, 0);
  for (const column of DROPPED_COLUMNS) {
    if (width === undefined || width - before() >= MIN_TITLE_WIDTH) break;
    columns.delete(column);
  }
  const room = Math.min(MAX_TITLE_WIDTH, width === undefined ? Infinity : Math.max(1, width - before()));
  const table = formatColumns(
    rows.map((row) => [...[...columns].map((column) => row[column] ?? ""), truncateAtWord(row.at(-1) ?? "", room)]),
  );
  const lines = table.trimEnd().split("\n");
  const start = widthOf(0) + GAP.length;
  return lines
    .map((line, index) =>
      rows[index] === HEAD ? paint("dim", line) : paintStatus(line, start, rows[index]?.[1], paint),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** Colors by the first word of a status. */
const STATUS_COLORS: Readonly<Record<string, Color>> = {
  running: "cyan",
  waiting: "yellow",
  parked: "yellow",
  interrupted: "yellow",
};

function paintStatus(line: string, start: number, status = "", paint: Paint): string {
  const color = Object.entries(STATUS_COLORS).find(([word]) => status.startsWith(word))?.[1];
  if (color === undefined) return line;
  return line.slice(0, start) + paint(color, status) + line.slice(start + status.length);
}

/** Sets the sessions of tasks apart from those that a person started. */
function formatTask({ task }: SessionSummary): string {
  return task === undefined ? "" : `task ${toSingleLine(task, 30)}: `;
}

function formatStatus({ status, parkedUntil }: SessionSummary): string {
  return status !== "parked" || parkedUntil === undefined ? status : `${status} until ${formatLocalTime(parkedUntil)}`;
}

/** Sessions of a deleted directory can still be listed. */
async function resolveIfExists(path: string): Promise<string> {
  return realFolder(path).catch(() => path);
}
