/** `rookery sessions list`. */
import { resolve } from "node:path";
import { realFolder } from "../../config/root.ts";
import type { SessionStatus } from "../../domain/state.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { age, columns } from "../format.ts";
import { print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { choiceOption, countOption, isSet, textOption } from "../options.ts";
import { oneLine } from "../printable.ts";

const STATUSES: readonly SessionStatus[] = ["idle", "running", "waiting", "closed"];
const DEFAULT_LIMIT = 20;

export async function listSessions({ io, options }: Call): Promise<ExitCode> {
  const limit = countOption(options, "limit", 1) ?? DEFAULT_LIMIT;
  const folder = textOption(options, "cwd");
  await using rookery = await openLog(io);
  const sessions = await rookery.sessions({
    agent: textOption(options, "agent"),
    cwd: folder === undefined ? undefined : await folderOrGone(resolve(io.cwd(), folder)),
    status: choiceOption(options, "status", STATUSES),
    limit,
  });
  if (isSet(options, "json")) {
    for (const session of sessions) await printJson(io, session);
    return EXIT.done;
  }
  if (sessions.length === 0) {
    await print(io, 'no sessions; start one: rookery run "PROMPT", or see one: rookery demo\n');
    return EXIT.done;
  }
  const now = Date.now();
  const rows = sessions.map((session) => [
    session.id,
    session.status,
    oneLine(session.agent),
    `${session.turns} ${session.turns === 1 ? "turn" : "turns"}`,
    age(session.updatedAt, now),
    oneLine(session.title ?? "", 60),
  ]);
  await print(io, columns(rows));
  return EXIT.done;
}

/** Sessions of a folder that is gone can still be listed. */
async function folderOrGone(path: string): Promise<string> {
  return realFolder(path).catch(() => path);
}
