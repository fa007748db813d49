/** Events that are passed on as text: what is kept is completed with the id of its log, and not parsed. */
import type { LogKind } from "./admission.ts";

/** JSON text has no such character: it can stand between texts. */
export const SEPARATOR = "\u001e";

/** What completes every event of a log. */
export function endingOf(kind: LogKind, logId: string): string {
  return `,"${kind}Id":${JSON.stringify(logId)}}`;
}

export function completed(body: string, ending: string): string {
  return body.slice(0, -1) + ending;
}
