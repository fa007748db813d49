/** Formats tasks as a table that fits the terminal. */
import type { TaskStatus } from "../../domain/enums.ts";
import type { TaskView } from "../../domain/task/view.ts";
import { formatDuration, formatUsd } from "../format.ts";
import { type Color, type Paint, plainPaint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";
import { fitToWidth, simplifyEmoji, truncateAtWord, truncateToWidth, displayWidth } from "../display-width.ts";
import { isActive, type ListedTask } from "./interrupted.ts";
import { formatLastActivity } from "./messages.ts";

const HEAD = ["task", "state", "agent", "stage", "time", "tokens", "cost", "last"];
/** Maximum widths of all columns except the last. Ids and numbers are never truncated. */
const MAX_COLUMN_WIDTHS = [64, Infinity, 16, 14, Infinity, Infinity, Infinity];
const LAST_COLUMN = HEAD.length - 1;
/** Columns that a narrow terminal does not show, in this order: tokens, stage, agent, time, cost. */
const DROPPED_COLUMNS = [5, 3, 2, 4, 6];
const MIN_LAST_WIDTH = 16;
/** Maximum width of the last column in a pipe. */
const LAST_WIDTH = 80;

export interface TableOptions {
  /** Width of the terminal. Default: unlimited. */
  readonly width?: number | undefined;
  readonly paint?: Paint;
  /** How long ago the tasks were read, in milliseconds. Default: 0. */
  readonly since?: number;
}

/** Returns a header line and one line per task. */
export function formatTaskTable(tasks: readonly ListedTask[], options: TableOptions = {}): string[] {
  const { width, paint = plainPaint, since = 0 } = options;
  const rows = [HEAD, ...tasks.map((task) => taskCells(task, since))];
  const widths = MAX_COLUMN_WIDTHS.map((most, column) => {
    const isEmpty = column > 0 && rows.slice(1).every((row) => row[column] === "");
    return isEmpty ? 0 : Math.min(most, Math.max(...rows.map((row) => displayWidth(row[column] ?? ""))));
  });
  const sumWidths = () => widths.reduce((sum, each) => sum + (each === 0 ? 0 : each + GAP.length), 0);
  for (const column of DROPPED_COLUMNS) {
    if (width !== undefined && width - sumWidths() < MIN_LAST_WIDTH) widths[column] = 0;
  }
  const before = sumWidths();
  const rest = width === undefined ? LAST_WIDTH : width - before;
  return rows.map((row, index) => {
    const cells = [
      ...widths.map((each, column) => fitToWidth(row[column] ?? "", each)),
      truncateAtWord(row[LAST_COLUMN] ?? "", rest),
    ];
    const task = tasks[index - 1];
    return paintRow(cells, width, (cell, column) => {
      if (task === undefined) return paint("dim", cell);
      return column === 1 ? paint(task.interrupted ? "red" : STATUS_COLORS[task.status], cell) : cell;
    });
  });
}

const GAP = "  ";

/** Colors cells after truncating them, because color codes have no width. */
function paintRow(
  cells: readonly string[],
  width: number | undefined,
  paint: (cell: string, column: number) => string,
): string {
  let left = width ?? Infinity;
  const shown: string[] = [];
  for (const [column, cell] of cells.entries()) {
    if (cell === "") continue;
    const text = truncateToWidth(column === LAST_COLUMN ? cell : cell + GAP, left);
    left -= displayWidth(text);
    shown.push(text.trimEnd() === "" ? text : paint(text, column));
    if (left <= 0) break;
  }
  return shown.join("").trimEnd();
}

function taskCells(task: ListedTask, since: number): string[] {
  return [
    task.id,
    task.interrupted ? "interrupted" : task.status,
    toSingleLine(task.agent),
    task.stages.length < 2 ? "" : toSingleLine(task.stage ?? ""),
    task.startedAt === undefined
      ? ""
      : formatTaskElapsed(task.ranMs + (isActive(task) && !task.interrupted ? since : 0)),
    formatTokens(task),
    formatTaskCost(task),
    simplifyEmoji(toSingleLine(formatLastActivity(task))),
  ];
}

const STATUS_COLORS: Record<TaskStatus, Color> = {
  queued: "dim",
  preparing: "dim",
  running: "bold",
  waiting: "yellow",
  parked: "yellow",
  done: "green",
  failed: "red",
  stopped: "red",
};

export function formatTaskElapsed(ms: number): string {
  return ms < 60_000 ? `${Math.floor(Math.max(0, ms) / 1000)}s` : formatDuration(ms);
}

export function formatTokens({ usage }: Pick<TaskView, "usage">): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  if (tokens === 0) return "";
  if (tokens < 1_000) return String(tokens);
  return tokens < 1e6 ? `${(tokens / 1e3).toFixed(1)}k` : `${(tokens / 1e6).toFixed(2)}M`;
}

/** Marks computed costs with `~`, because they are estimates. */
export function formatTaskCost({ usage }: TaskView): string {
  if (usage.inputTokens + usage.outputTokens === 0) return "";
  if (usage.costUsd === undefined) return "unknown";
  return `${usage.costBy === "computed" || usage.costBy === "mixed" ? "~" : ""}${formatUsd(usage.costUsd)}`;
}
