/** Formats requests that wait for an answer. */
import type { WaitingRequest } from "../../session/waiting-requests.ts";
import { shortId } from "../../domain/ids.ts";
import { formatAge } from "../format.ts";
import { toSingleLine, escapeInvisible } from "../sanitize.ts";

const TITLE_LENGTH = 200;

/** What is asked, on one line. */
export function formatWaitingTitle({ kind, tool, title, from }: WaitingRequest): string {
  const text = toSingleLine(escapeInvisible(title), TITLE_LENGTH);
  if (kind === "question") return `${from === undefined ? "question" : toSingleLine(from, 60)}: ${text}`;
  const name = toSingleLine(tool ?? "", 60);
  return text === "" || text.startsWith(name) ? text || name : `${name}: ${text}`;
}

export function formatWaitingPlace({ task, sessionId, agent }: WaitingRequest): string {
  const where = task === undefined ? shortId(sessionId) : `task ${toSingleLine(task)}`;
  return `${where}, ${toSingleLine(agent, 60)}`;
}

/** The title, where and since when, and the command that answers it. `isOnly`: nothing else waits. */
export function formatWaiting(request: WaitingRequest, now: number, isOnly: boolean): string {
  const { sessionId, task, requestId, kind, url } = request;
  const name = isOnly ? "" : `${task ?? shortId(sessionId)} ${requestId} `;
  const words =
    kind === "permission" ? "allow|always|deny" : `${url === undefined ? "accept --content '{…}'" : "accept"}|decline`;
  return [
    formatWaitingTitle(request),
    `  ${formatWaitingPlace(request)}, ${formatAge(request.at, now)}`,
    `  rookery answer ${name}${words}`,
    "",
  ].join("\n");
}
