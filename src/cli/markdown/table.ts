/** Renders a Markdown table with columns that fit the width. Cells that are too long are wrapped. */
import type { Tokens } from "marked";
import { simplifyEmoji } from "../display-width.ts";
import { fitStyled, styledWidth, wrapStyled } from "../tui/styled-text.ts";
import { renderInline } from "./inline.ts";
import type { MarkdownStyle } from "./style.ts";

const GAP = " │ ";
const MIN_COLUMN_WIDTH = 6;

type Alignment = Tokens.Table["align"][number];

export function renderTable({ header, rows, align }: Tokens.Table, { width, paint }: MarkdownStyle): string[] {
  const cells = (row: readonly Tokens.TableCell[]): string[] =>
    row.map(({ tokens }) => simplifyEmoji(renderInline(tokens, paint))); // so that the columns stay aligned
  const titles = cells(header);
  const body = rows.map(cells);
  const widths = columnWidths([titles, ...body], width);
  if (widths === undefined) return renderRecords(titles, body, width);
  const rule = widths.map((size) => "─".repeat(size)).join("─┼─");
  return [
    ...renderRow(
      titles.map((title) => paint("bold", title)),
      widths,
      align,
    ),
    paint("dim", rule),
    ...body.flatMap((row) => renderRow(row, widths, align)),
  ];
}

/** Returns undefined if the columns would be too narrow to read. */
function columnWidths(rows: readonly (readonly string[])[], width: number): number[] | undefined {
  const count = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => styledWidth(row[column] ?? ""))),
  );
  const room = width - GAP.length * (count - 1);
  const total = (): number => widths.reduce((sum, size) => sum + size, 0);
  while (total() > room) {
    const widest = Math.max(...widths);
    if (widest <= MIN_COLUMN_WIDTH) return undefined;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function renderRow(row: readonly string[], widths: readonly number[], align: readonly Alignment[]): string[] {
  const columns = widths.map((size, column) => wrapStyled(row[column] ?? "", size));
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    columns
      .map((lines, column) => alignCell(lines[line] ?? "", widths[column] ?? 1, align[column] ?? null))
      .join(GAP)
      .trimEnd(),
  );
}

function alignCell(cell: string, width: number, alignment: Alignment): string {
  const room = Math.max(0, width - styledWidth(cell));
  const before = alignment === "right" ? room : alignment === "center" ? Math.floor(room / 2) : 0;
  return fitStyled(" ".repeat(before) + cell, width);
}

/** For narrow screens: each cell on its own line, after the title of its column. */
function renderRecords(titles: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [""]),
    ...row.flatMap((cell, column) => wrapStyled(`${titles[column] ?? ""}: ${cell}`, width, "  ")),
  ]);
}
