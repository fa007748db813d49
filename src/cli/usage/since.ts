/** Parses a point in time: a duration before now, or a date. */
import { usageError } from "../exit.ts";

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 7 * 86_400 };

/** Returns milliseconds since the epoch. A date without a time means its local midnight. Throws `usage`. */
export function parseSince(text: string, now: number): number {
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) return now - Number(amount) * (UNITS[unit] ?? 0) * 1000;
  const isDate = /^\d{4}-\d\d-\d\d/.test(text);
  const at = isDate ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : NaN;
  if (Number.isNaN(at))
    throw usageError(`--since must be 30m, 12h, 7d, 4w or a date such as 2026-01-31, not "${text}"`);
  return at;
}
