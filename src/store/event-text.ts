/** Events as JSON text. Stored bodies omit the id of their log; it is added without parsing them. */
import type { LogKind } from "./admission.ts";

/** The ASCII record separator. It never occurs in JSON text, so it can separate bodies. */
export const BODY_SEPARATOR = "\u001e";

/** The text that completes the stored body of every event of a log. */
export function eventSuffix(kind: LogKind, logId: string): string {
  return `,"${kind}Id":${JSON.stringify(logId)}}`;
}

/** Whether the stored body ends with this sequence number, as it was written. Otherwise it is damaged. */
export function hasSeq(body: string, seq: number): boolean {
  return body.endsWith(`,"seq":${seq}}`);
}

/** Replaces the closing brace of a stored body with the suffix of its log. */
export function completeEventText(body: string, suffix: string): string {
  return body.slice(0, -1) + suffix;
}
