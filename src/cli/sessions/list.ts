/** `rookery sessions list`: prints sessions, newest first. */
import { resolve } from "node:path";
import { realFolder } from "../../config/root.ts";
import { SESSION_STATUSES } from "../../domain/enums.ts";
import type { SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { isDriven } from "../../session/lease.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatAge, formatColumns, formatLocalTime } from "../format.ts";
import { withCommandPrefix, print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { choiceOption, countOption, isSet, textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";

const DEFAULT_LIMIT = 20;

export async function listSessionsCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const limit = countOption(options, "limit", 1) ?? DEFAULT_LIMIT;
  const folder = textOption(options, "cwd");
  await using rookery = await openLog(io);
  const sessions = await rookery.sessions({
    agent: textOption(options, "agent"),
    cwd: folder === undefined ? undefined : await resolveIfExists(resolve(io.cwd(), folder)),
    status: choiceOption(options, "status", SESSION_STATUSES),
    limit,
  });
  if (isSet(options, "json")) {
    for (const session of sessions) await printJson(io, session);
    return EXIT.done;
  }
  if (sessions.length === 0) {
    await print(io, withCommandPrefix(io, 'no sessions; start one: rookery run "PROMPT", or try: rookery demo\n'));
    return EXIT.done;
  }
  const now = Date.now();
  const left = await findInterrupted(rookery.store, sessions);
  const rows = sessions.map((session) => [
    session.id,
    left.has(session.id) ? "interrupted" : formatStatus(session),
    toSingleLine(session.agent),
    `${session.turns} ${session.turns === 1 ? "turn" : "turns"}`,
    formatAge(session.updatedAt, now),
    `${session.depth === undefined ? "" : "↳ "}${toSingleLine(session.title ?? "", 60)}`,
  ]);
  await print(io, formatColumns(rows));
  return EXIT.done;
}

function formatStatus({ status, parkedUntil }: SessionSummary): string {
  return status !== "parked" || parkedUntil === undefined ? status : `${status} until ${formatLocalTime(parkedUntil)}`;
}

/** Returns the sessions whose turn is not finished although no process drives them. */
async function findInterrupted(store: SessionStore, sessions: readonly SessionSummary[]): Promise<Set<string>> {
  const left = new Set<string>();
  for (const { id, status } of sessions) {
    const busy = status === "running" || status === "waiting";
    if (busy && !(await isDriven(store, id, systemClock))) left.add(id);
  }
  return left;
}

/** Sessions of a deleted directory can still be listed. */
async function resolveIfExists(path: string): Promise<string> {
  return realFolder(path).catch(() => path);
}
