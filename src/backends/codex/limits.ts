/** Determines when a Codex usage limit resets, from the account's rate limits or from the message. */
import type { LimitReached } from "../../domain/index.ts";
import type { RateLimits } from "./wire.ts";

/** Older versions and `exec` report a limit only in the message. */
export function isLimitMessage(message: string): boolean {
  return /hit your usage limit|usage limit (has been )?reached|usage_limit_reached/i.test(message);
}

export function toCodexLimit(message: string, limits: RateLimits | undefined, now: Date): LimitReached {
  const at = findWindowReset(limits, now) ?? parseReset(message, now);
  return { status: "limited", message, ...(at !== undefined && { resetsAt: at.toISOString() }) };
}

/** Returns when the last exhausted window resets. */
function findWindowReset(limits: RateLimits | undefined, now: Date): Date | undefined {
  if (limits === undefined) return undefined;
  const { primary, secondary, individualLimit } = limits;
  const full = [primary, secondary].flatMap((window) =>
    (window?.usedPercent ?? 0) >= 100 ? (window?.resetsAt ?? []) : [],
  );
  const spent = (individualLimit?.remainingPercent ?? 1) <= 0 ? [individualLimit?.resetsAt ?? 0] : [];
  const seconds = Math.max(0, ...full, ...spent);
  return seconds * 1_000 > now.getTime() ? new Date(seconds * 1_000) : undefined;
}

const UNITS: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };

/**
 * Parses `try again at 5:12 AM` and `try again at Nov 18th, 2026 11:46 AM` in the local time zone, and
 * `try again in 2 days 3 hours 5 minutes` of older versions.
 */
function parseReset(message: string, now: Date): Date | undefined {
  const wait =
    /try again in ((?:\d+ ?(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[dhms])\b[ ,]*(?:and )?)+)/i.exec(
      message,
    );
  if (wait?.[1] !== undefined) {
    const parts = [...wait[1].matchAll(/(?<!\d)(\d+) ?([dhms])/gi)];
    const seconds = parts.reduce(
      (sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit.toLowerCase()] ?? 0),
      0,
    );
    return new Date(now.getTime() + seconds * 1_000);
  }
  const at = /try again at (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th)?, (\d{4}) )?(\d{1,2}):(\d{2}) ?([AP])M/i.exec(
    message,
  );
  if (at === null) return undefined;
  const [, month, day, year, hour, minute, half] = at;
  const hours = (Number(hour) % 12) + (half?.toUpperCase() === "P" ? 12 : 0);
  if (month !== undefined) {
    const date = new Date(`${month} ${day} ${year} ${hours}:${minute}`);
    return Number.isNaN(date.getTime()) ? undefined : date;
  }
  const date = new Date(now);
  date.setHours(hours, Number(minute) + 1, 0, 0); // the message omits the seconds
  if (date.getTime() <= now.getTime()) date.setDate(date.getDate() + 1);
  return date;
}
