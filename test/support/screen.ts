/** For tests: runs a program on a pseudo-terminal and renders what it prints, so that tests assert on the screen. */
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { drawScreen } from "./screen-svg.ts";

export interface ScreenOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: 80. */
  readonly columns?: number;
  /** Default: 24. */
  readonly rows?: number;
  /** How long `waitFor` waits. Default: 20 s. */
  readonly waitMs?: number;
}

/** Names of keys that are not characters. */
const KEYS = {
  enter: "\r",
  escape: "\x1b",
  tab: "\t",
  backspace: "\x7f",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  "ctrl-c": "\x03",
  "ctrl-d": "\x04",
  "ctrl-z": "\x1a",
  "shift-tab": "\x1b[Z",
  "alt-enter": "\x1b\r",
} as const;
export type Key = keyof typeof KEYS;

export interface ProgramScreen extends AsyncDisposable {
  readonly pid: number;
  /** Resolves with the exit code, or with the number of the signal plus 128. */
  readonly exited: Promise<number>;
  /** The visible lines, without trailing spaces and without empty lines at the end. */
  visible(): string;
  /** The scrollback and the visible lines. */
  all(): string;
  /** The visible lines as an SVG picture. */
  svg(title: string): string;
  /** Everything that the program wrote, for tests of single bytes. */
  readonly bytes: string;
  /** The style of the first visible cell that starts `text`. Undefined if the text is not visible. */
  style(text: string): CellStyle | undefined;
  readonly cursor: { readonly row: number; readonly column: number };
  /** Types text as a person does: not as a paste. */
  type(text: string): void;
  press(...keys: Key[]): void;
  /** Sends a bracketed paste. */
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  kill(signal?: string): void;
  /**
   * Resolves with the visible lines when they match. Matches the scrollback too with `{ scrollback: true }`. Rejects after
   * `waitMs`, or if the program exits first; the message shows the screen.
   */
  waitFor(pattern: RegExp | string, options?: { readonly scrollback?: boolean }): Promise<string>;
}

export interface CellStyle {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  /** Index in the palette of 256 colors. Undefined for the default color. */
  readonly color: number | undefined;
}

const SCROLLBACK_LINES = 10_000;

export function startOnScreen([program = "", ...args]: readonly string[], options: ScreenOptions): ProgramScreen {
  const { cwd, columns: cols = 80, rows = 24, waitMs = 20_000 } = options;
  const env = { TERM: "xterm-256color", ...options.env };
  const terminal = new headless.Terminal({ cols, rows, scrollback: SCROLLBACK_LINES, allowProposedApi: true });
  const child = spawn(program, args, { name: env.TERM ?? "dumb", cols, rows, cwd, env });
  const changes = new Set<() => void>();
  let bytes = "";
  let hasExited = false;
  child.onData((data) => {
    bytes += data;
    terminal.write(data, () => changes.forEach((changed) => changed()));
  });
  terminal.onData((answer) => {
    if (!hasExited) child.write(answer); // answers to queries, such as the position of the cursor
  });
  const exited = new Promise<number>((resolve) => {
    child.onExit(({ exitCode, signal = 0 }) => {
      hasExited = true;
      terminal.write("", () => {
        changes.forEach((changed) => changed());
        resolve(signal === 0 ? exitCode : 128 + signal);
      });
    });
  });
  const lines = (from: number, to: number): string => {
    const buffer = terminal.buffer.active;
    const found: string[] = [];
    for (let at = from; at < to; at++) found.push(buffer.getLine(at)?.translateToString(true) ?? "");
    return found.join("\n").trimEnd();
  };
  const top = (): number => terminal.buffer.active.baseY;
  const screen: ProgramScreen = {
    pid: child.pid,
    exited,
    visible: () => lines(top(), top() + terminal.rows),
    all: () => lines(0, terminal.buffer.active.length),
    svg: (title) => drawScreen(terminal, title),
    get bytes() {
      return bytes;
    },
    style(text) {
      const buffer = terminal.buffer.active;
      for (let row = top(); row < top() + terminal.rows; row++) {
        const line = buffer.getLine(row);
        const column = line?.translateToString(true).indexOf(text) ?? -1;
        const cell = column === -1 ? undefined : line?.getCell(column);
        if (cell === undefined) continue;
        return {
          bold: cell.isBold() !== 0,
          dim: cell.isDim() !== 0,
          italic: cell.isItalic() !== 0,
          underline: cell.isUnderline() !== 0,
          inverse: cell.isInverse() !== 0,
          color: cell.isFgDefault() ? undefined : cell.getFgColor(),
        };
      }
      return undefined;
    },
    get cursor() {
      return { row: terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX };
    },
    type: (text) => child.write(text),
    press: (...keys) => keys.forEach((key) => child.write(KEYS[key])),
    paste: (text) => child.write(`\x1b[200~${text}\x1b[201~`),
    resize(columns, height) {
      terminal.resize(columns, height);
      child.resize(columns, height);
    },
    kill: (signal = "SIGKILL") => {
      if (!hasExited) child.kill(signal);
    },
    async waitFor(pattern, { scrollback = false } = {}) {
      const text = (): string => (scrollback ? screen.all() : screen.visible());
      const matches = (): boolean =>
        typeof pattern === "string" ? text().includes(pattern) : new RegExp(pattern).test(text());
      const deadline = Date.now() + waitMs;
      while (!matches()) {
        const left = deadline - Date.now();
        if (hasExited || left <= 0) {
          const why = hasExited ? "the program exited" : `${waitMs / 1_000} s passed`;
          throw new Error(`${why} before the screen showed ${String(pattern)}:\n${screen.all()}`);
        }
        await nextChange(changes, left);
      }
      return text();
    },
    async [Symbol.asyncDispose]() {
      screen.kill();
      await exited;
      terminal.dispose();
    },
  };
  return screen;
}

/** Resolves when the screen changes, at the latest after `ms`. */
function nextChange(changes: Set<() => void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      changes.delete(done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    changes.add(done);
  });
}
