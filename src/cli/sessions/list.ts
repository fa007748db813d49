/** `rookery sessions list`: prints sessions, newest first. */
import { resolve } from "node:path";
import { realFolder } from "../../config/root.ts";
import { shortId } from "../../domain/ids.ts";
import type { ListQuery, SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { isDriven } from "../../session/lease.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { CommandCall } from "../command.ts";
import { displayWidth, truncateAtWord, truncateToWidth } from "../display-width.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatAge, formatColumns, formatLocalTime } from "../format.ts";
import { print, printJson, printText, terminalWidth } from "../io.ts";
import { openLog } from "../log.ts";
import { choiceOption, countOption, isSet, textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import { SHOWN_SESSION_STATUSES, type ShownSessionStatus } from "./shown-status.ts";

const DEFAULT_LIMIT = 20;
const PAGE_SIZE = 100;

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
  await using rookery = await openLog(io);
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
  await print(io, formatSessionTable(sessions, { now: Date.now(), width: terminalWidth(io.stdout) }));
  return EXIT.done;
}

/** The status that a list shows can differ from the status in the log, so this filters what it has read. */
async function findSessions(
  store: SessionStore,
  query: ListQuery,
  { status, limit }: { status: ShownSessionStatus | undefined; limit: number },
): Promise<readonly ListedSession[]> {
  const found: ListedSession[] = [];
  for (let before: string | undefined; ;) {
    const recorded = status === "interrupted" ? undefined : status;
    const page = await store.list({
      ...query,
      status: recorded,
      before,
      limit: status === undefined ? limit : PAGE_SIZE,
    });
    for (const session of page) {
      const listed = { ...session, interrupted: await isInterrupted(store, session) };
      if (status === undefined || shownStatus(listed) === status) found.push(listed);
      if (found.length === limit) return found;
    }
    before = page.at(-1)?.id;
    if (before === undefined || status === undefined) return found;
  }
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

/** `width`: the columns of the terminal, or undefined for a pipe. */
export function formatSessionTable(
  sessions: readonly ListedSession[],
  { now, width }: { readonly now: number; readonly width: number | undefined },
): string {
  const rows = sessions.map((session) => [
    shortId(session.id),
    session.interrupted ? "interrupted" : formatStatus(session),
    truncateToWidth(toSingleLine(session.agent), 20),
    `${session.turns} ${session.turns === 1 ? "turn" : "turns"}`,
    formatAge(session.updatedAt, now),
    `${session.depth === undefined ? "" : "↳ "}${toSingleLine(session.title ?? "")}`,
  ]);
  const columns = new Set([0, 1, 2, 3, 4]);
  const widthOf = (column: number) => Math.max(...rows.map((row) => displayWidth(row[column] ?? "")));
  const before = () => [...columns].reduce((sum, column) => sum + widthOf(column) + GAP.length, 0);
  for (const column of DROPPED_COLUMNS) {
    if (width === undefined || width - before() >= MIN_TITLE_WIDTH) break;
    columns.delete(column);
  }
  const room = Math.min(MAX_TITLE_WIDTH, width === undefined ? Infinity : Math.max(1, width - before()));
  return formatColumns(
    rows.map((row) => [...[...columns].map((column) => row[column] ?? ""), truncateAtWord(row.at(-1) ?? "", room)]),
  );
}

function formatStatus({ status, parkedUntil }: SessionSummary): string {
  return status !== "parked" || parkedUntil === undefined ? status : `${status} until ${formatLocalTime(parkedUntil)}`;
}

/** Sessions of a deleted directory can still be listed. */
async function resolveIfExists(path: string): Promise<string> {
  return realFolder(path).catch(() => path);
}
