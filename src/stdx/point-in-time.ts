/** Parses a point in time that a person wrote: a duration before now, or a date. */

const UNIT_SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 7 * 86_400 };

/**
 * Returns milliseconds since the epoch, or undefined for any other text. Accepts `30m`, `12h`, `7d`, `4w`, and ISO dates
 * with or without a time. A date without a time means its local midnight.
 */
export function parsePointInTime(text: string, now: number): number | undefined {
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) return now - Number(amount) * (UNIT_SECONDS[unit] ?? 0) * 1000;
  const isDate = /^\d{4}-\d\d-\d\d/.test(text);
  const at = isDate ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : NaN;
  return Number.isNaN(at) ? undefined : at;
}
