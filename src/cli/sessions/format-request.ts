/** Formats an open request and the commands that answer it. */
import { shortId } from "../../domain/ids.ts";
import { type PendingRequest, formatRequestDetails, formatRequestSubject } from "../run/pending-request.ts";

export function formatPendingRequest(sessionId: string, asked: PendingRequest): string {
  const [first = "", ...others] = possibleAnswers(asked).map(
    (word) => `rookery answer ${shortId(sessionId)} ${asked.requestId} ${word}`,
  );
  const answers = [`answer with: ${first}`, ...others.map((other) => `         or: ${other}`)];
  return `\n${[`waiting for ${formatRequestSubject(asked)}:`, ...formatRequestDetails(asked), ...answers].join("\n")}\n`;
}

function possibleAnswers({ question }: PendingRequest): string[] {
  if (question === undefined) return ["allow", "always", "deny"];
  return [question.url === undefined ? "accept --content '{…}'" : "accept", "decline", "cancel"];
}
