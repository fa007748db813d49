// Prints the results of a benchmark: one line per result, with its target and its ratio to the baseline of the same run.
import { pathToFileURL } from "node:url";

/** A row is { name, value, unit, ratio?, target?, ok? }: `ratio` is relative to the baseline, `target` is text. One without a value is a note. */
export function print(title, rows) {
  console.log(`\n${title}`);
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, value, unit, target, ratio, ok } of rows) {
    const figure = (value === undefined ? "" : `${format(value)} ${unit}`).padStart(18);
    const beside = ratio === undefined ? "" : `${ratio.toFixed(2)}× floor`;
    console.log(
      `  ${name.padEnd(width)} ${figure}  ${beside.padStart(14)}  ${target === undefined ? "" : `${target}: ${ok ? "yes" : "MISSED"}`}`,
    );
  }
}

/** Returns a row. `target` is a number; it is a maximum if `less` is true. `floor` is in the same unit as the value. */
export function row(name, value, unit, { target, floor, less = false } = {}) {
  const ratio = floor === undefined ? undefined : value / floor;
  if (target === undefined) return { name, value, unit, ratio };
  const words = `${less ? "≤" : "≥"} ${target.toLocaleString("en")} ${unit}`;
  return { name, value, unit, ratio, target: words, ok: less ? value <= target : value >= target };
}

export function median(values) {
  return quantile(values, 0.5);
}

export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Runs a benchmark if Node was started with its file. */
export async function printAlone(url, title, run) {
  if (url !== pathToFileURL(process.argv[1] ?? "").href) return;
  print(title, await run({ quick: process.argv.includes("--quick") }));
}

export function format(value) {
  return value >= 1000 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
