/**
 * Draws a live region at the bottom of a terminal, below finished lines that are written once and scroll away as the
 * output of any other command does. It never uses the alternate screen and never clears the scrollback.
 */
export interface LiveRegion {
  readonly lines: readonly string[];
  /** Where the person types. Undefined hides the cursor. */
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

export interface ScreenDimensions {
  readonly columns: number;
  readonly rows: number;
}

export interface InlineScreenOptions {
  readonly write: (text: string) => void;
  readonly size: () => ScreenDimensions;
}

const BEGIN_SYNCHRONIZED = "\u001b[?2026h";
const END_SYNCHRONIZED = "\u001b[?2026l";
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const ERASE_BELOW = "\u001b[J";
const ERASE_LINE = "\u001b[2K";

const STYLE = /\u001b\[[\d;]*m/g;

const EMPTY_REGION: LiveRegion = { lines: [], cursor: undefined };

export class InlineScreen {
  readonly #options: InlineScreenOptions;
  #drawn: LiveRegion = EMPTY_REGION;
  /** The row of the region in which the terminal's cursor is. */
  #row = 0;
  #column = 0;
  #columns = 0;
  #finished: string[] = [];
  /** Measures styled text. Replaced by an exact one later, whose module takes too long to load before the first paint. */
  measure: (text: string) => number = (text) => text.replaceAll(STYLE, "").length;

  constructor(options: InlineScreenOptions) {
    this.#options = options;
  }

  /** Writes finished lines above the live region with the next `draw`. Each must fit the width. */
  print(lines: readonly string[]): void {
    this.#finished.push(...lines);
  }

  /** Replaces the live region. Shows its last lines if it is higher than the screen. */
  draw(region: LiveRegion): void {
    const { columns, rows } = this.#options.size();
    const next = fitRegion(region, Math.max(1, rows - 1));
    const isRedrawn =
      this.#finished.length > 0 || next.lines.length < this.#drawn.lines.length || columns !== this.#columns;
    const up = this.#rowsToTop(columns, rows);
    const body = isRedrawn ? ERASE_BELOW + this.#takeFinished() + next.lines.join("\r\n") : this.#changes(next);
    const last = next.lines.length - 1;
    const to = next.cursor ?? { row: Math.max(0, last), column: 0 };
    const back = last > to.row ? `\u001b[${last - to.row}A` : "";
    const cursor = `${back}\r${to.column > 0 ? `\u001b[${to.column}C` : ""}${next.cursor === undefined ? "" : SHOW_CURSOR}`;
    this.#options.write(`${BEGIN_SYNCHRONIZED}${HIDE_CURSOR}${moveUp(up)}${body}${cursor}${END_SYNCHRONIZED}`);
    this.#drawn = next;
    this.#row = to.row;
    this.#column = to.column;
    this.#columns = columns;
  }

  /** Removes the live region, so that the cursor is where the next finished line would start. */
  clear(): void {
    const { columns, rows } = this.#options.size();
    this.#options.write(
      `${HIDE_CURSOR}${moveUp(this.#rowsToTop(columns, rows))}${ERASE_BELOW}${this.#takeFinished()}${SHOW_CURSOR}`,
    );
    this.forget();
  }

  /** Moves everything into the scrollback, so that the next `draw` starts on an empty screen. */
  clearScreen(): void {
    this.clear();
    const { rows } = this.#options.size();
    this.#options.write(`\u001b[${rows};1H${"\n".repeat(rows)}\u001b[H`);
  }

  /** Call it if another program has written to the terminal: the region starts at the cursor. */
  forget(): void {
    this.#drawn = EMPTY_REGION;
    this.#row = 0;
    this.#column = 0;
  }

  #takeFinished(): string {
    const text = this.#finished.map((line) => `${line}\r\n`).join("");
    this.#finished = [];
    return text;
  }

  /** Rewrites only the lines that differ. */
  #changes({ lines }: LiveRegion): string {
    return lines.map((line, index) => (line === this.#drawn.lines[index] ? "" : `${ERASE_LINE}${line}`)).join("\r\n");
  }

  /** After a resize, the terminal has wrapped lines that no longer fit. */
  #rowsToTop(columns: number, rows: number): number {
    if (columns === this.#columns || this.#columns === 0) return Math.min(this.#row, rows - 1);
    const above = this.#drawn.lines.slice(0, this.#row);
    const wrapped = above.reduce((sum, line) => sum + Math.max(1, Math.ceil(this.measure(line) / columns)), 0);
    return Math.min(wrapped + Math.floor(this.#column / columns), rows - 1);
  }
}

function moveUp(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A\r` : "\r";
}

/** Keeps the end of the region, where the person types. */
function fitRegion({ lines, cursor }: LiveRegion, rows: number): LiveRegion {
  const excess = Math.max(0, lines.length - rows);
  if (excess === 0) return { lines, cursor };
  const row = cursor === undefined ? undefined : cursor.row - excess;
  return {
    lines: lines.slice(excess),
    cursor: row === undefined || row < 0 || cursor === undefined ? undefined : { row, column: cursor.column },
  };
}
