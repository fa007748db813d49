/** Tasks as a table that fits the room there is. */
import type { TaskStatus } from "../../domain/enums.ts";
import type { TaskView } from "../../domain/task/view.ts";
import { duration, usd } from "../format.ts";
import { type Colour, type Paint, plain } from "../paint.ts";
import { oneLine } from "../printable.ts";
import { fitted, shortened, widthOf } from "../cells.ts";
import { isHeld, type ShownTask } from "./left.ts";
import { lastWords } from "./words.ts";

const HEAD = ["task", "state", "agent", "stage", "time", "tokens", "cost", "last"];
/** What a column may take, the last left out; ids and numbers are never cut. */
const MOST = [64, Infinity, 16, 14, Infinity, Infinity, Infinity];
const LAST = HEAD.length - 1;
/** For pipes. */
const LAST_WIDTH = 80;

export interface TableOptions {
  /** Of the terminal; undefined where nothing has to fit. */
  readonly width?: number | undefined;
  readonly paint?: Paint;
  /** How long ago the tasks were read, in milliseconds. */
  readonly since?: number;
}

/** A line for each, and one above them. */
export function tableOf(tasks: readonly ShownTask[], options: TableOptions = {}): string[] {
  const { width, paint = plain, since = 0 } = options;
  const rows = [HEAD, ...tasks.map((task) => cellsOf(task, since))];
  const widths = MOST.map((most, column) => {
    const isEmpty = column > 0 && rows.slice(1).every((row) => row[column] === "");
    return isEmpty ? 0 : Math.min(most, Math.max(...rows.map((row) => widthOf(row[column] ?? ""))));
  });
  const before = widths.reduce((sum, each) => sum + (each === 0 ? 0 : each + GAP.length), 0);
  const rest = width === undefined ? LAST_WIDTH : width - before;
  return rows.map((row, index) => {
    const cells = [...widths.map((each, column) => fitted(row[column] ?? "", each)), shortened(row[LAST] ?? "", rest)];
    const task = tasks[index - 1];
    return painted(cells, width, (cell, column) => {
      if (task === undefined) return paint("dim", cell);
      return column === 1 ? paint(task.left ? "red" : COLOURS[task.status], cell) : cell;
    });
  });
}

const GAP = "  ";

/** Colours are put on after the cut: they take no room. */
function painted(
  cells: readonly string[],
  width: number | undefined,
  paint: (cell: string, column: number) => string,
): string {
  let left = width ?? Infinity;
  const shown: string[] = [];
  for (const [column, cell] of cells.entries()) {
    if (cell === "") continue;
    const text = shortened(column === LAST ? cell : cell + GAP, left);
    left -= widthOf(text);
    shown.push(text.trimEnd() === "" ? text : paint(text, column));
    if (left <= 0) break;
  }
  return shown.join("").trimEnd();
}

function cellsOf(task: ShownTask, since: number): string[] {
  return [
    task.id,
    task.left ? "interrupted" : task.status,
    oneLine(task.agent),
    task.stages.length < 2 ? "" : oneLine(task.stage ?? ""),
    task.startedAt === undefined ? "" : timeOf(task.ranMs + (isHeld(task) && !task.left ? since : 0)),
    tokensOf(task),
    costOf(task),
    oneLine(lastWords(task)),
  ];
}

const COLOURS: Record<TaskStatus, Colour> = {
  queued: "dim",
  preparing: "dim",
  running: "bold",
  waiting: "yellow",
  parked: "yellow",
  done: "green",
  failed: "red",
  stopped: "red",
};

function timeOf(ms: number): string {
  return ms < 60_000 ? `${Math.floor(Math.max(0, ms) / 1000)}s` : duration(ms);
}

export function tokensOf({ usage }: Pick<TaskView, "usage">): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  if (tokens === 0) return "";
  if (tokens < 1_000) return String(tokens);
  return tokens < 1e6 ? `${(tokens / 1e3).toFixed(1)}k` : `${(tokens / 1e6).toFixed(2)}M`;
}

/** What we computed ourselves is no bill, and is marked. */
function costOf({ usage }: TaskView): string {
  if (usage.inputTokens + usage.outputTokens === 0) return "";
  if (usage.costUsd === undefined) return "unknown";
  return `${usage.costBy === "computed" || usage.costBy === "mixed" ? "~" : ""}${usd(usage.costUsd)}`;
}
