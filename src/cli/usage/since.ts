/** Parses the value of `--since`. */
import { parsePointInTime } from "../../stdx/point-in-time.ts";
import { usageError } from "../exit.ts";

/** Returns milliseconds since the epoch. Throws `usage`. */
export function parseSince(text: string, now: number): number {
  const at = parsePointInTime(text, now);
  if (at === undefined)
    throw usageError(`--since must be 30m, 12h, 7d, 4w or a date such as 2026-01-31, not "${text}"`);
  return at;
}
