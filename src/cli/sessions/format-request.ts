/** Formats an open request and the commands that answer it. */
import { shortId } from "../../domain/ids.ts";
import { suggestAnswers } from "../inbox/answer-text.ts";
import { parseFormFields } from "../../domain/form-fields.ts";
import { formatField, quoteText } from "../run/form/format-form.ts";
import { plainPaint } from "../paint.ts";
import {
  type PendingRequest,
  type RequestFormat,
  formatRequestDetails,
  formatRequestSubject,
} from "../run/pending-request.ts";

/** `name`: what names the session in a command. Default: its short id. */
export function formatPendingRequest(
  sessionId: string,
  asked: PendingRequest,
  name = shortId(sessionId),
  format: RequestFormat = {},
): string {
  const { question, prefix } = asked;
  const kind = question === undefined ? "permission" : "question";
  const { schema, url } = question ?? {};
  const [first = "", ...others] = suggestAnswers({ kind, schema, url, prefix }).map(
    (word) => `rookery answer ${name} ${asked.requestId} ${word}`,
  );
  const answers = [`answer with: ${first}`, ...others.map((other) => `         or: ${other}`)];
  const { paint = plainPaint } = format;
  const heading = paint("yellow", `waiting for ${formatRequestSubject(asked)}:`);
  return `\n${[heading, ...formatAsked(asked, format), ...answers].join("\n")}\n`;
}

/** A form is shown as its fields, everything else completely. */
function formatAsked(asked: PendingRequest, format: RequestFormat): string[] {
  const { question } = asked;
  const fields = question?.url === undefined && question?.schema !== undefined ? parseFormFields(question.schema) : [];
  if (question === undefined || fields === undefined || fields.length === 0) return formatRequestDetails(asked, format);
  return [...quoteText(question.message), ...fields.flatMap(formatField).map((line) => `  ${line}`)];
}
