/** `rookery answer`: answers a request of a session or a task, whether or not a process drives it. */
import { RookeryError } from "../domain/errors.ts";
import type { Rookery } from "../rookery.ts";
import type { Answer } from "../session/method-types.ts";
import type { CommandCall, OptionValues } from "./command.ts";
import { EXIT, type ExitCode, usageError } from "./exit.ts";
import { isDriven } from "../session/lease.ts";
import { loadState } from "../session/open.ts";
import { systemClock } from "../stdx/clock.ts";
import { type Io, print, printJson, printNotice } from "./io.ts";
import { openLog } from "./log.ts";
import { isSet, textOption } from "./options.ts";
import { toSingleLine } from "./sanitize.ts";
import { resumeSessionCommand, canContinueTurn } from "./sessions/resume-command.ts";
import { findSessionOrTask } from "./sessions/find-session-or-task.ts";

export async function answerCommand({
  io,
  args: [named = "", request = "", word = ""],
  options,
}: CommandCall): Promise<ExitCode> {
  const given = parseAnswerWord(word, options);
  await using rookery = await openLog(io);
  const id = await findAskingSession(rookery, { named, request, io });
  await rookery.answer(id, request, given);
  if (isSet(options, "json")) await printJson(io, { session: id, request, answer: word });
  else await print(io, `answered ${request} of ${id}: ${word}\n`);
  if (!(await isDriven(rookery.store, id, systemClock))) {
    const state = await loadState(rookery.store, id);
    const unheard = canContinueTurn(state) ? "" : ", so the answer has no effect";
    printNotice(io, `no process drives the session now${unheard}; continue it with: ${resumeSessionCommand(state)}`);
  }
  return EXIT.done;
}

/** Returns the named session, or the session of the named task that has the request. */
async function findAskingSession(
  rookery: Rookery,
  { named, request, io }: { named: string; request: string; io: Io },
): Promise<string> {
  const found = await findSessionOrTask(rookery, named, io);
  if ("session" in found) return found.session.id;
  const { id, waitingFor } = found.task;
  const asking = waitingFor.find(({ requestId }) => requestId === request);
  if (asking !== undefined) return asking.sessionId;
  const message = `task ${id} has no request ${toSingleLine(request, 60)}; list its requests: rookery task show ${id}`;
  throw new RookeryError("request_not_found", message);
}

export function parseAnswerWord(word: string, options: OptionValues): Answer {
  const message = textOption(options, "message");
  const content = textOption(options, "content");
  if (message !== undefined && word !== "deny") throw usageError("--message is only valid with deny");
  if (content !== undefined && word !== "accept") throw usageError("--content is only valid with accept");
  switch (word) {
    case "allow":
      return { decision: "allow", scope: "once" };
    case "always":
      return { decision: "allow", scope: "session" };
    case "deny":
      return { decision: "deny", ...(message !== undefined && { message }) };
    case "accept":
      return { action: "accept", ...(content !== undefined && { content: parseContent(content) }) };
    case "decline":
    case "cancel":
      return { action: word };
    default:
      throw usageError(`unknown answer "${word}"; use allow, always, deny, accept, decline or cancel`);
  }
}

function parseContent(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usageError('--content must be JSON, for example --content \'{"name":"main"}\'');
  }
}
