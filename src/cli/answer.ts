/** `rookery answer`: a decision for a session or a task that waits, whichever process drives it, or none does. */
import { RookeryError } from "../domain/errors.ts";
import type { Rookery } from "../rookery.ts";
import type { Answer } from "../session/answer.ts";
import type { Call, Options } from "./command.ts";
import { EXIT, type ExitCode, usage } from "./exit.ts";
import { isDriven } from "../session/lease.ts";
import { loadState } from "../session/open.ts";
import { systemClock } from "../stdx/clock.ts";
import { print, printJson, say } from "./io.ts";
import { openLog } from "./log.ts";
import { isSet, textOption } from "./options.ts";
import { oneLine } from "./printable.ts";
import { commandToGoOn, goesOnInside } from "./sessions/going-on.ts";
import { findSessionOrTask } from "./sessions/named.ts";

export async function answer({ io, args: [named = "", request = "", word = ""], options }: Call): Promise<ExitCode> {
  const given = answerOf(word, options);
  await using rookery = await openLog(io);
  const id = await askedSession(rookery, named, request);
  await rookery.answer(id, request, given);
  if (isSet(options, "json")) await printJson(io, { session: id, request, answer: word });
  else await print(io, `answered ${request} of ${id}: ${word}\n`);
  if (!(await isDriven(rookery.store, id, systemClock))) {
    const state = await loadState(rookery.store, id);
    const unheard = goesOnInside(state) ? "" : ", so that nobody hears the answer";
    say(io, `no process drives the session now${unheard}; go on with it: ${commandToGoOn(state)}`);
  }
  return EXIT.done;
}

/** The session that is named, or the one of a named task that asks this. */
async function askedSession(rookery: Rookery, named: string, request: string): Promise<string> {
  const found = await findSessionOrTask(rookery, named);
  if ("session" in found) return found.session.id;
  const { id, waitingFor } = found.task;
  const asking = waitingFor.find(({ requestId }) => requestId === request);
  if (asking !== undefined) return asking.sessionId;
  const message = `task ${id} does not ask ${oneLine(request, 60)}; see what it asks: rookery task show ${id}`;
  throw new RookeryError("request_not_found", message);
}

export function answerOf(word: string, options: Options): Answer {
  const message = textOption(options, "message");
  const content = textOption(options, "content");
  if (message !== undefined && word !== "deny") throw usage("--message goes with deny");
  if (content !== undefined && word !== "accept") throw usage("--content goes with accept");
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
      throw usage(`"${word}" is no answer: allow, always, deny, accept, decline or cancel`);
  }
}

function parseContent(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usage('--content takes JSON, e.g. --content \'{"name":"main"}\'');
  }
}
