/** Formats usage by agent and model as a table for people. Pure: sums in, lines out. */
import { displayWidth, truncateToWidth } from "../display-width.ts";
import { formatCount, formatUsd } from "../format.ts";
import { type Paint, plainPaint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";
import { totalUsage, unpricedTokens, type PricedUsage } from "../../session/usage.ts";
import type { AgentUsage } from "./by-agent.ts";

export interface UsageTableFormat {
  /** The columns of the terminal. Default: unlimited. */
  readonly width?: number | undefined;
  /** Default: no colors. */
  readonly paint?: Paint;
}

const HEAD = ["agent and model", "tokens in", "cached", "tokens out", "cost"];
/** The column that a narrow terminal does not show. */
const CACHED = 2;
const MIN_NAME_WIDTH = 16;
const GAP = "  ";

/** Numbers are aligned to the right. Names are cut if they do not fit. */
export function formatUsageTable(
  sums: readonly AgentUsage[],
  { width = Infinity, paint = plainPaint }: UsageTableFormat = {},
): string {
  const total = sums.length < 2 ? [] : [["all", ...usageCells(totalUsage(sums))]];
  let rows = [HEAD, ...sums.flatMap(agentRows), ...total];
  if (numbersWidth(rows) + nameWidth(rows) > width) rows = rows.map((row) => row.filter((_, at) => at !== CACHED));
  const first = Math.min(nameWidth(rows), Math.max(MIN_NAME_WIDTH, width - numbersWidth(rows)));
  const widths = columnWidths(rows);
  const lines = rows.map(([name = "", ...numbers]) =>
    [pad(truncateToWidth(name, first), first), ...numbers.map((text, at) => text.padStart(widths[at + 1] ?? 0))].join(
      GAP,
    ),
  );
  return lines
    .map((line, at) =>
      at === 0 ? paint("dim", line) : total.length > 0 && at === lines.length - 1 ? paint("bold", line) : line,
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** Explains the marks of the table, and says for which models the cost is unknown and how to change that. */
export function formatUsageNotes(sums: readonly AgentUsage[]): string {
  const { all, priced } = totalUsage(sums);
  const isComputed = priced.costBy === "computed" || priced.costBy === "mixed";
  const models = sums.flatMap(({ agent, models: own }) => own.map((usage) => ({ agent, ...usage })));
  const unpriced = models.flatMap(({ agent, model, ...usage }) => {
    const what = `${toSingleLine(agent)}${model === undefined ? "" : `, ${toSingleLine(model)}`}`;
    return usage.all.costUsd === undefined ? [`  ${what}: ${formatCount(unpricedTokens(usage))} tokens`] : [];
  });
  const lines = [
    ...(isComputed ? ["~ computed from prices, not reported by the agent's program"] : []),
    ...(all.costUsd === undefined
      ? ['? The cost of these tokens is unknown; set a price in rookery.toml: [prices."provider/model"]', ...unpriced]
      : []),
  ];
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}

/** Returns one row for an agent with one model, or a total row and one row per model. */
function agentRows({ agent, models, ...usage }: AgentUsage): string[][] {
  const name = toSingleLine(agent);
  const [only] = models;
  if (models.length < 2) return [[[name, toSingleLine(only?.model ?? "")].join(" ").trim(), ...usageCells(usage)]];
  const rows = models.map(({ model, ...used }) => [`  ${toSingleLine(model ?? "unknown")}`, ...usageCells(used)]);
  return [[name, ...usageCells(usage)], ...rows];
}

function usageCells(usage: PricedUsage): string[] {
  const { inputTokens, cacheReadTokens, outputTokens } = usage.all;
  return [formatCount(inputTokens), formatCount(cacheReadTokens), formatCount(outputTokens), formatKnownCost(usage)];
}

/** The known part of the cost. `~` marks a computed one, `+?` an unknown part. */
function formatKnownCost({ all, priced }: PricedUsage): string {
  if (priced.inputTokens + priced.outputTokens === 0 || priced.costUsd === undefined) return "?";
  const mark = priced.costBy === "computed" || priced.costBy === "mixed" ? "~" : "";
  return `${mark}${formatUsd(priced.costUsd)}${all.costUsd === undefined ? "+?" : ""}`;
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  return (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => displayWidth(row[at] ?? ""))));
}

function nameWidth(rows: readonly (readonly string[])[]): number {
  return columnWidths(rows)[0] ?? 0;
}

/** The width of all columns except the first one, with the gaps before them. */
function numbersWidth(rows: readonly (readonly string[])[]): number {
  return columnWidths(rows)
    .slice(1)
    .reduce((sum, each) => sum + each + GAP.length, 0);
}

function pad(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - displayWidth(text)));
}
