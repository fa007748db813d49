/** `rookery answer`: answers a request of a session or a task, whether or not a process drives it. */
import { RookeryError } from "../domain/errors.ts";
import { shortId } from "../domain/ids.ts";
import type { Rookery } from "../rookery.ts";
import type { Answer } from "../session/method-types.ts";
import type { CommandCall, OptionValues } from "./command.ts";
import { EXIT, type ExitCode, usageError } from "./exit.ts";
import { isDriven } from "../session/lease.ts";
import { loadState } from "../session/open.ts";
import { systemClock } from "../stdx/clock.ts";
import { type Io, print, printJson, printNotice } from "./io.ts";
import { listWaitingRequests, type WaitingRequest } from "../session/waiting-requests.ts";
import { formatWaitingPlace, formatWaitingTitle } from "./inbox/format-waiting.ts";
import { openLog } from "./log.ts";
import { isSet, textOption } from "./options.ts";
import { toSingleLine } from "./sanitize.ts";
import { resumeSessionCommand, canContinueTurn } from "./sessions/resume-command.ts";
import { findSessionOrTask } from "./sessions/find-session-or-task.ts";

/** The session and the request may be omitted if only one request waits. */
export async function answerCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const words = args.filter((arg) => arg !== undefined);
  const word = words.at(-1);
  if (word === undefined) throw usageError("the answer is missing; see what waits: rookery inbox");
  const given = parseAnswerWord(word, options);
  const [named, request] = words.slice(0, -1);
  await using rookery = await openLog(io);
  const call = { io, rookery, word, given, options };
  if (named === undefined || request === undefined) return await answerOnly(call, named);
  return await recordAnswer(call, await findAskingSession(rookery, { named, request, io }), request);
}

interface AnswerCall extends Pick<CommandCall, "io" | "options"> {
  readonly rookery: Rookery;
  readonly word: string;
  readonly given: Answer;
}

/** Answers the only request that waits, in all sessions or in the named session or task, and shows which it is. */
async function answerOnly(call: AnswerCall, named: string | undefined): Promise<ExitCode> {
  const { io, rookery } = call;
  const all = await listWaitingRequests(rookery.store);
  const waiting = named === undefined ? all : await ofConversation(call, all, named);
  const [only, ...others] = waiting;
  const where = named === undefined ? "" : ` in ${toSingleLine(named, 60)}`;
  if (only === undefined) throw new RookeryError("request_not_found", `nothing waits for an answer${where}`);
  if (others.length > 0) {
    throw usageError(`${waiting.length} requests wait for an answer${where}; name one of them: rookery inbox`);
  }
  printNotice(io, `${formatWaitingTitle(only)} (${formatWaitingPlace(only)})`);
  return recordAnswer(call, only.sessionId, only.requestId);
}

async function ofConversation({ rookery, io }: AnswerCall, all: readonly WaitingRequest[], named: string) {
  const found = await findSessionOrTask(rookery, named, io);
  return all.filter(({ sessionId, task }) =>
    "session" in found ? sessionId === found.session.id : task === found.task.id,
  );
}

async function recordAnswer(
  { io, rookery, word, given, options }: AnswerCall,
  id: string,
  request: string,
): Promise<ExitCode> {
  await rookery.answer(id, request, given);
  if (isSet(options, "json")) await printJson(io, { session: id, request, answer: word });
  else await print(io, `answered ${request} of ${shortId(id)}: ${word}\n`);
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
