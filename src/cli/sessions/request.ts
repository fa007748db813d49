/** What a session waits for, and how it is answered, for a person to read. */
import { type Asked, detailsOf, subjectOf } from "../run/asked.ts";

export function requestText(sessionId: string, asked: Asked): string {
  const [first = "", ...others] = answersTo(asked).map(
    (word) => `rookery answer ${sessionId} ${asked.requestId} ${word}`,
  );
  const answers = [`answer with: ${first}`, ...others.map((other) => `         or: ${other}`)];
  return `\n${[`waiting for ${subjectOf(asked)}:`, ...detailsOf(asked), ...answers].join("\n")}\n`;
}

function answersTo({ question }: Asked): string[] {
  if (question === undefined) return ["allow", "always", "deny"];
  return [question.url === undefined ? "accept --content '{…}'" : "accept", "decline", "cancel"];
}
