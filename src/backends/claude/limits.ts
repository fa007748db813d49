/** Detects a usage limit in a message of Claude Code, and when it resets. */
import type { LimitReached } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import { numberAt, textAt } from "./record-fields.ts";

const LIMIT = [
  /usage limits?\b/i,
  /\b(?:hit|reached|exceeded) your (?:[\w-]+ ){0,4}limits?\b/i,
  /\b(?:hour|daily|weekly|monthly|session|opus|sonnet|usage) limit (?:reached|exceeded|hit)\b/i,
];

export function mentionsLimit(words: string): boolean {
  return LIMIT.some((form) => form.test(words));
}

/** `info` is the program's rate limit record; its reset time takes precedence over the text. */
export function toClaudeLimit(words: string, info: JsonRecord | undefined, now: number): LimitReached {
  const recorded = textAt(info, "status") === "rejected" ? numberAt(info, "resetsAt") : undefined;
  const at = recorded === undefined ? parseResetTime(words, now) : toEpochMs(recorded);
  const message = words.replace(/\|\d+\s*$/, "").trim() || "the usage limit was reached";
  return { status: "limited", message, ...(at !== undefined && { resetsAt: new Date(at).toISOString() }) };
}

/** Returns epoch milliseconds, or undefined if the text names no valid time. */
export function parseResetTime(words: string, now: number): number | undefined {
  return parseEpoch(words) ?? parseIsoTime(words) ?? parseClockTime(words, now);
}

/** Parses `usage limit reached|1760000000` of versions before 2. */
function parseEpoch(words: string): number | undefined {
  const found = /\|(\d{10,13})\s*$/.exec(words)?.[1];
  return found === undefined ? undefined : toEpochMs(Number(found));
}

/** Accepts seconds, or milliseconds if the number is too large for seconds. */
function toEpochMs(value: number): number | undefined {
  const ms = value < 1e11 ? value * 1_000 : value;
  return Number.isNaN(new Date(ms).getTime()) ? undefined : ms;
}

function parseIsoTime(words: string): number | undefined {
  const found = /\b(\d{4}-\d{2}-\d{2})(?:T| at | )(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|UTC|[+-]\d{2}:?\d{2})?/.exec(
    words,
  );
  if (found === null) return undefined;
  const [, day = "", time = "", zone = ""] = found;
  const at = Date.parse(`${day}T${time}${zone === "UTC" ? "Z" : zone}`);
  return Number.isNaN(at) ? undefined : at;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const CLOCK =
  /\bresets?(?: at| on)? (?:(?<month>[a-z]{3})[a-z]* (?<day>\d{1,2})(?:, (?<year>\d{4}))?(?:,| at)? (?:at )?)?(?<hour>\d{1,2})(?::(?<minute>\d{2}))?(?: ?(?<half>[ap]m))?(?: \((?<zone>[\w/+-]+)\))?/i;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Parses `resets 3pm (Europe/Berlin)` or `resets Mar 3, 3:30pm` as the next such time. Default zone: local. */
function parseClockTime(words: string, now: number): number | undefined {
  const groups = CLOCK.exec(words)?.groups;
  if (groups === undefined) return undefined;
  const { month, day, year, minute, half, zone } = groups;
  const hour = to24Hour(Number(groups["hour"]), half?.toLowerCase());
  if (hour === undefined || Number(minute ?? 0) > 59) return undefined;
  try {
    const at = (date: CalendarDay) => toZonedTime({ ...date, hour, minute: Number(minute ?? 0) }, zone);
    const today = toCalendarDay(now, zone);
    if (month === undefined || day === undefined) {
      const first = at(today);
      return first > now ? first : at(toCalendarDay(now + DAY_MS, zone));
    }
    const monthIndex = MONTHS.indexOf(month.toLowerCase());
    if (monthIndex === -1) return undefined;
    const date = { month: monthIndex, day: Number(day) };
    if (year !== undefined) return at({ ...date, year: Number(year) });
    const first = at({ ...date, year: today.year });
    return first > now - DAY_MS ? first : at({ ...date, year: today.year + 1 });
  } catch {
    return undefined; // an unknown time zone
  }
}

function to24Hour(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour < 24 ? hour : undefined;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === "pm" ? 12 : 0);
}

interface CalendarDay {
  readonly year: number;
  /** January is 0. */
  readonly month: number;
  readonly day: number;
}

function toCalendarDay(at: number, zone: string | undefined): CalendarDay {
  const { year, month, day } = toDateParts(at, zone);
  return { year, month, day };
}

/** Returns the time at which clocks of the zone show this. Two steps, because the offset depends on the time. */
function toZonedTime(time: CalendarDay & { hour: number; minute: number }, zone: string | undefined): number {
  const shown = Date.UTC(time.year, time.month, time.day, time.hour, time.minute);
  return shown - zoneOffset(shown - zoneOffset(shown, zone), zone);
}

function zoneOffset(at: number, zone: string | undefined): number {
  const { year, month, day, hour, minute } = toDateParts(at, zone);
  return Date.UTC(year, month, day, hour, minute) - Math.floor(at / 60_000) * 60_000;
}

function toDateParts(at: number, timeZone: string | undefined) {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23",
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return {
    year: part("year"),
    month: part("month") - 1,
    day: part("day"),
    hour: part("hour"),
    minute: part("minute"),
  };
}
