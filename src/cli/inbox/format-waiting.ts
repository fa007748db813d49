/** Formats requests that wait for an answer. */
import type { WaitingRequest } from "../../session/waiting-requests.ts";
import { suggestCommandPrefix } from "../../domain/command-prefix.ts";
import { shortId } from "../../domain/ids.ts";
import { formatAge } from "../format.ts";
import type { Paint } from "../paint.ts";
import { parseFormFields } from "../../domain/form-fields.ts";
import { formatChoices } from "../run/form/format-form.ts";
import { toSingleLine, escapeInvisible } from "../sanitize.ts";
import { suggestAnswers } from "./answer-text.ts";

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

export interface WaitingFormat {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly paint: Paint;
  /** All requests that wait, which decide how much of a name is needed. */
  readonly all: readonly WaitingRequest[];
}

/** The title, its choices, where and since when, and the command that answers it. */
export function formatWaiting(request: WaitingRequest, { now, paint, all }: WaitingFormat): string {
  const prefix = suggestCommandPrefix({ kind: request.toolKind ?? "other", input: request.input });
  const [first = "", ...others] = suggestAnswers({ ...request, prefix });
  const or = paint("dim", `or: ${others.join(", ")}`);
  return [
    `${paint("yellow", "?")} ${paint("bold", formatWaitingTitle(request))}`,
    ...formatChoiceList(request),
    paint("dim", `  ${formatWaitingPlace(request)}, ${formatAge(request.at, now)}`),
    `  rookery answer ${shortestName(request, all)}${first}   ${or}`,
    "",
  ].join("\n");
}

/** The shortest arguments that identify the request, with a space after them. Empty if there is only one. */
function shortestName(request: WaitingRequest, all: readonly WaitingRequest[]): string {
  if (all.length === 1) return "";
  const { task, sessionId, requestId } = request;
  const others = all.filter((one) => (task === undefined ? one.sessionId === sessionId : one.task === task));
  return `${task ?? shortId(sessionId)} ${others.length === 1 ? "" : `${requestId} `}`;
}

/** The numbered choices of a question with one field. */
export function formatChoiceList({ schema, url }: Pick<WaitingRequest, "schema" | "url">): string[] {
  const fields = url === undefined && schema !== undefined ? parseFormFields(schema) : undefined;
  const [field] = fields ?? [];
  return field === undefined || fields?.length !== 1 ? [] : formatChoices(field.kind);
}
