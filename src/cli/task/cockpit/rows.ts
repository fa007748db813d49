/** Formats one row per task: columns that do not fit are left out, the least important first. */
import type { Paint } from "../../paint.ts";
import { simplifyEmoji } from "../../display-width.ts";
import { stripHidden, toSingleLine } from "../../sanitize.ts";
import { clipStyled, fitStyled, styledWidth } from "../../tui/styled-text.ts";
import { isActive, type ListedTask } from "../interrupted.ts";
import { formatTaskCost, formatTaskElapsed } from "../table.ts";
import { GROUP_STYLES, groupOfTask } from "../task-group.ts";

export interface TaskRowOptions {
  readonly width: number;
  readonly paint: Paint;
  readonly selectedId: string | undefined;
  readonly changedFiles: ReadonlyMap<string, number>;
  /** How long ago the tasks were read, in milliseconds. */
  readonly since: number;
}

/** A column that may be left out. Those with the lowest priority are left out first. */
interface TaskColumn {
  readonly cells: readonly string[];
  readonly priority: number;
  readonly isNumber: boolean;
}

const GAP = "  ";
const MIN_TITLE_WIDTH = 14;
const MAX_AGENT_WIDTH = 16;

export function renderTaskRows(tasks: readonly ListedTask[], options: TaskRowOptions): string[] {
  const { width, paint, selectedId } = options;
  const groups = tasks.map(groupOfTask);
  const longest = Math.max(0, ...groups.map((group) => group.length));
  const columns = fitColumns(taskColumns(tasks, options), width - 4);
  const taken = columns.reduce((sum, column) => sum + columnWidth(column) + GAP.length, 0);
  const hasNames = width - 4 - taken - longest - GAP.length >= MIN_TITLE_WIDTH;
  const names = hasNames ? longest + GAP.length : 0;
  const room = Math.max(1, width - 4 - names - taken);
  return tasks.map((task, index) => {
    const group = groups[index] ?? "queued";
    const { mark, color } = GROUP_STYLES[group];
    const isSelected = task.id === selectedId;
    const name = hasNames ? paint(color, fitStyled(group, longest)) + GAP : "";
    const title = fitStyled(formatTaskTitle(task), room);
    const rest = columns.map((column) => GAP + paint("dim", formatCell(column, index))).join("");
    const text = `${paint(color, mark)} ${name}${isSelected ? paint("bold", title) : title}${rest}`;
    return clipStyled(`${isSelected ? paint("cyan", "❯") : " "} ${text}`.trimEnd(), width);
  });
}

/** The title in one line, without characters that move the cursor or cannot be seen. */
export function formatTaskTitle({ id, title }: Pick<ListedTask, "id" | "title">): string {
  return simplifyEmoji(toSingleLine(stripHidden(title))) || id;
}

function taskColumns(tasks: readonly ListedTask[], { changedFiles, since }: TaskRowOptions): TaskColumn[] {
  const column = (priority: number, isNumber: boolean, cell: (task: ListedTask) => string): TaskColumn => ({
    cells: tasks.map(cell),
    priority,
    isNumber,
  });
  const columns = [
    column(2, false, ({ agent }) => clipStyled(simplifyEmoji(toSingleLine(stripHidden(agent))), MAX_AGENT_WIDTH)),
    column(3, true, (task) => formatElapsedOf(task, since)),
    column(1, true, ({ id }) => formatFileCount(changedFiles.get(id))),
    column(0, true, formatTaskCost),
  ];
  return columns.filter(({ cells }) => cells.some((cell) => cell !== ""));
}

function formatElapsedOf(task: ListedTask, since: number): string {
  if (task.startedAt === undefined) return "";
  return formatTaskElapsed(task.ranMs + (isActive(task) && !task.interrupted ? since : 0));
}

function formatFileCount(count: number | undefined): string {
  return count === undefined ? "" : `${count} ${count === 1 ? "file" : "files"}`;
}

function fitColumns(columns: readonly TaskColumn[], width: number): readonly TaskColumn[] {
  let kept = columns;
  const needed = (): number =>
    kept.reduce((sum, column) => sum + columnWidth(column) + GAP.length, 0) + MIN_TITLE_WIDTH;
  while (kept.length > 0 && needed() > width) {
    const least = Math.min(...kept.map(({ priority }) => priority));
    kept = kept.filter(({ priority }) => priority !== least);
  }
  return kept;
}

function columnWidth({ cells }: TaskColumn): number {
  return Math.max(...cells.map(styledWidth));
}

function formatCell(column: TaskColumn, index: number): string {
  const cell = column.cells[index] ?? "";
  const width = columnWidth(column);
  return column.isNumber ? " ".repeat(width - styledWidth(cell)) + cell : fitStyled(cell, width);
}
