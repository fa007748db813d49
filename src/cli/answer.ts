/** `rookery answer`: answers a request of a session or a task, whether or not a process drives it. */
import { RookeryError } from "../domain/errors.ts";
import { shortId } from "../domain/ids.ts";
import type { WaitingRequest } from "../session/waiting-requests.ts";
import type { CommandCall } from "./command.ts";
import { EXIT, type ExitCode, usageError } from "./exit.ts";
import { checkContentOption, parseAnswerText } from "./inbox/answer-text.ts";
import { formatWaitingPlace, formatWaitingTitle } from "./inbox/format-waiting.ts";
import { openWaitingSource } from "./inbox/waiting-source.ts";
import { print, printJson, printNotice } from "./io.ts";
import { isSet, textOption } from "./options.ts";
import { toSingleLine } from "./sanitize.ts";

/** The session and the request may be omitted if only one request waits. */
export async function answerCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const words = args.filter((arg) => arg !== undefined);
  const text = words.at(-1);
  const [named, requestId] = words.slice(0, -1);
  checkContentOption(options);
  await using source = await openWaitingSource(io, options);
  const waiting = await source.list();
  if (text === undefined) throw missingAnswer(waiting);
  const { requests, sessionId: namedId } =
    named === undefined ? { requests: waiting, sessionId: undefined } : await source.select(waiting, named);
  const known = requests.find((one) => one.requestId === requestId);
  if (requestId !== undefined && known === undefined) {
    if (namedId === undefined) throw unknownRequest(named ?? "", requestId);
    await source.answer(namedId, requestId, parseAnswerText(text, options, undefined)); // rejects, and says why
  }
  const request = known ?? findOnly(requests, named);
  const answer = parseAnswerText(text, options, request);
  if (requestId === undefined) {
    const title = formatWaitingTitle(await source.shorten(request));
    printNotice(io, `${title} (${formatWaitingPlace(request)})`);
  }
  const { sessionId } = request;
  await source.answer(sessionId, request.requestId, answer);
  const prefix = textOption(options, "prefix");
  if (isSet(options, "json")) {
    const limit = prefix !== undefined && { prefix };
    await printJson(io, { session: sessionId, request: request.requestId, answer: text, ...limit });
  } else {
    const shown = toSingleLine(prefix === undefined ? text : `${text} ${prefix} …`, 200);
    await print(io, `answered ${request.requestId} of ${formatConversation(request)}: ${shown}\n`);
  }
  const hint = await source.resumeHint(sessionId);
  if (hint !== undefined) printNotice(io, hint);
  return EXIT.done;
}

function missingAnswer(waiting: readonly WaitingRequest[]): Error {
  return waiting.length === 0
    ? new RookeryError("request_not_found", "nothing is waiting for an answer")
    : usageError("the answer is missing; see the open requests: rookery inbox");
}

/** The only request that waits, in all sessions or in the named session or task. */
function findOnly(waiting: readonly WaitingRequest[], named: string | undefined): WaitingRequest {
  const [only, ...others] = waiting;
  const where = named === undefined ? "" : ` in ${toSingleLine(named, 60)}`;
  if (only === undefined) throw new RookeryError("request_not_found", `nothing is waiting for an answer${where}`);
  if (others.length === 0) return only;
  throw usageError(`${waiting.length} requests are waiting for an answer${where}; name one of them: rookery inbox`);
}

function unknownRequest(named: string, requestId: string): Error {
  const what = `${toSingleLine(named, 60)} has no open request ${toSingleLine(requestId, 60)}`;
  return new RookeryError("request_not_found", `${what}; list the open requests: rookery inbox`);
}

function formatConversation({ task, sessionId }: WaitingRequest): string {
  return task === undefined ? shortId(sessionId) : toSingleLine(task);
}
