/** Formats numbers, times and columns for people. */
import { displayWidth } from "./display-width.ts";
import { wrapText } from "./wrap.ts";

export function formatCount(value: number): string {
  const groups: string[] = [];
  let digits = String(Math.abs(value));
  for (; digits.length > 3; digits = digits.slice(0, -3)) groups.unshift(digits.slice(-3));
  return (value < 0 ? "-" : "") + [digits, ...groups].join(",");
}

export function formatUsd(value: number): string {
  return `$${value.toFixed(value >= 1 ? 2 : 4)}`;
}

export function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const minutes = Math.floor(seconds / 60);
  const rest = `${Math.floor(seconds % 60)}s`;
  return minutes < 60 ? `${minutes}m ${rest}` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

export function formatAge(at: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000);
  const units = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "m"],
  ] as const;
  for (const [size, unit] of units) if (seconds >= size) return `${Math.floor(seconds / size)}${unit} ago`;
  return "just now";
}

export function formatBytes(size: number): string {
  if (size < 1_000) return `${size} B`;
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(size) / 3), units.length);
  return `${(size / 1000 ** power).toFixed(1)} ${units[power - 1] ?? ""}`;
}

/** Formats a time as `2026-01-31 12:00:00` in the local time zone. */
export function formatLocalTime(at: string): string {
  return new Date(at).toLocaleString("sv");
}

/** The narrowest last column beside the others. A narrower one goes below them. */
const MIN_LAST_COLUMN = 24;
const BELOW_INDENT = 6;

/**
 * Aligns rows in columns. The last column is not padded. `width`: the columns of the terminal, in which the last cell
 * is wrapped. Default: unlimited.
 */
export function formatColumns(rows: readonly (readonly string[])[], width?: number): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell))));
  const filled = (cell: string, columns = 0) => cell + " ".repeat(columns - displayWidth(cell));
  const lineOf = (row: readonly string[]) => row.map((cell, index) => filled(cell, widths[index])).join("  ");
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
  const isBelow = width !== undefined && width - before < MIN_LAST_COLUMN;
  const indent = " ".repeat(isBelow ? BELOW_INDENT : before);
  const text = rows.map((row) => {
    const last = row.at(-1) ?? "";
    const apart = isBelow && row.length > 1 && before + displayWidth(last) > width;
    const lines = apart ? [lineOf(row.slice(0, -1)), `${indent}${last}`] : [lineOf(row)];
    return lines.map((line) => `${wrapText(line.trimEnd(), { width, indent })}\n`).join("");
  });
  return text.join("");
}
