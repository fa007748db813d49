// Formats the comparison as the table of docs/benchmarks.md.
import { format } from "../table.mjs";

/** The rows have the format of ../table.mjs. */
export function asMarkdown(title, rows) {
  const lines = rows.map(({ name, value, unit, ratio, target, ok }) => {
    const figure = `${format(value)} ${unit}`;
    const beside = ratio === undefined ? "" : ` (${ratio.toFixed(2)}× floor)`;
    return [name, figure + beside, target ?? "", target === undefined ? "" : ok ? "met" : "**missed**"];
  });
  const table = [["", "figure", "target", ""], ["---", "---:", "---", "---"], ...lines];
  return `${title}.\n\n${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}`;
}
