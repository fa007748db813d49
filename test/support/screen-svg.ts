/** Draws the visible part of a terminal as SVG, for the pictures in docs/. */
import type { IBufferCell, Terminal } from "@xterm/headless";

/** Size of one cell, in pixels. */
const CELL = { width: 8.4, height: 18 };
const PADDING = 12;
const BACKGROUND = "#1c1e26";
const FOREGROUND = "#d5d8da";
/** The 16 base colors. */
const PALETTE = [
  ...["#16161c", "#e95678", "#29d398", "#fab795", "#26bbd9", "#ee64ae", "#59e3e3", "#d5d8da"],
  ...["#6c6f93", "#ec6a88", "#3fdaa4", "#fbc3a7", "#3fc4de", "#f075b5", "#6be6e6", "#fdf0ed"],
] as const;

/** `title` is the text that screen readers read instead of the picture. */
export function drawScreen(terminal: Terminal, title: string): string {
  const width = Math.ceil(terminal.cols * CELL.width + 2 * PADDING);
  const rows = usedRows(terminal);
  const height = rows * CELL.height + 2 * PADDING;
  const lines: string[] = [];
  for (let row = 0; row < rows; row++) lines.push(...drawLine(terminal, row));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    `<g font-family="ui-monospace, 'SF Mono', 'DejaVu Sans Mono', monospace" font-size="14" fill="${FOREGROUND}">`,
    ...lines,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function usedRows(terminal: Terminal): number {
  const { active } = terminal.buffer;
  for (let row = terminal.rows; row > 1; row--) {
    if (active.getLine(active.baseY + row - 1)?.translateToString(true) !== "") return row;
  }
  return 1;
}

interface Run {
  readonly column: number;
  columns: number;
  text: string;
  readonly style: string;
  readonly background: string | undefined;
}

function drawLine(terminal: Terminal, row: number): string[] {
  const { active } = terminal.buffer;
  const line = active.getLine(active.baseY + row);
  const runs: Run[] = [];
  for (let column = 0; column < terminal.cols; column++) {
    const cell = line?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const { style, background } = cellStyle(cell);
    const last = runs.at(-1);
    if (last?.style === style && last.background === background) {
      last.text += cell.getChars() || " ";
      last.columns += cell.getWidth();
    } else {
      runs.push({ column, columns: cell.getWidth(), text: cell.getChars() || " ", style, background });
    }
  }
  return runs.flatMap((run) => drawRun(run, row));
}

function drawRun({ column, columns, text, style, background }: Run, row: number): string[] {
  const x = round(PADDING + column * CELL.width);
  const top = PADDING + row * CELL.height;
  const width = round(columns * CELL.width);
  const drawn: string[] = [];
  if (background !== undefined) {
    drawn.push(`<rect x="${x}" y="${top}" width="${width}" height="${CELL.height}" fill="${background}"/>`);
  }
  if (text.trim() !== "") {
    const place = `x="${x}" y="${top + 13}" textLength="${width}" xml:space="preserve"`;
    drawn.push(`<text ${place}${style}>${escapeXml(text)}</text>`);
  }
  return drawn;
}

function cellStyle(cell: IBufferCell): { style: string; background: string | undefined } {
  let color = cell.isFgDefault() ? undefined : colorOf(cell.getFgColor(), cell.isFgRGB());
  let background = cell.isBgDefault() ? undefined : colorOf(cell.getBgColor(), cell.isBgRGB());
  if (cell.isInverse() !== 0) [color, background] = [background ?? BACKGROUND, color ?? FOREGROUND];
  const style = [
    color === undefined ? "" : ` fill="${color}"`,
    cell.isBold() === 0 ? "" : ' font-weight="bold"',
    cell.isItalic() === 0 ? "" : ' font-style="italic"',
    cell.isDim() === 0 ? "" : ' opacity="0.6"',
    cell.isUnderline() === 0 ? "" : ' text-decoration="underline"',
  ].join("");
  return { style, background };
}

function colorOf(value: number, isRgb: boolean): string {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  if (value < 16) return PALETTE[value] ?? FOREGROUND;
  if (value >= 232) return grey(8 + (value - 232) * 10);
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  const index = value - 16;
  const [red, green, blue] = [Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6].map(level);
  return `#${[red, green, blue].map((part = 0) => part.toString(16).padStart(2, "0")).join("")}`;
}

function grey(level: number): string {
  return `#${level.toString(16).padStart(2, "0").repeat(3)}`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
