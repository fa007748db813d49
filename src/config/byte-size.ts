/** Sizes in bytes with a unit, such as `1MB`. */

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20 };

export const BYTE_SIZE_RULE = 'expected a size such as "500KB", "1MB" or "1MiB"';

/** Returns undefined for anything that is not a size. */
export function parseByteSize(text: string): number | undefined {
  const [, number, unit = "b"] = /^(\d{1,9}(?:\.\d{1,3})?) ?([a-z]{1,3})?$/i.exec(text.trim()) ?? [];
  const factor = UNITS[unit.toLowerCase()];
  return number === undefined || factor === undefined ? undefined : Math.round(Number(number) * factor);
}
