/**
 * The terminal of an interactive command: an inline screen, an editor and the keys. It is cheap to open, so that the
 * prompt appears before the rest of the program is loaded; input that arrives meanwhile is kept.
 */
import type { TerminalStream } from "../io.ts";
import type { Paint } from "../paint.ts";
import { FrameTimer } from "./frame-timer.ts";
import { InlineScreen, type LiveRegion, type ScreenDimensions } from "./inline-screen.ts";
import type { PromptEditor, PromptMark } from "./prompt-editor.ts";
import { RawTerminal } from "./raw-terminal.ts";
import type { TerminalInput } from "./terminal-input.ts";

export interface PromptSurfaceOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: TerminalStream;
  readonly paint: Paint;
  /** The first owner. Default: none; the prompt is shown, and input is kept until there is an owner. */
  readonly owner?: SurfaceOwner;
}

/** The callbacks of the owner of the surface. */
export interface SurfaceOwner {
  handleInput(input: TerminalInput): void;
  handleSubmit(text: string): void;
  /** Returns the live region for the current size. */
  compose(): LiveRegion;
}

/** Input that arrives before the owner is loaded. */
const MAX_KEPT_INPUTS = 10_000;

export class PromptSurface implements Disposable {
  readonly paint: Paint;
  #editor: PromptEditor | undefined;
  /** Text that was typed before the editor was loaded. */
  #early = "";
  readonly #screen: InlineScreen;
  readonly #terminal: RawTerminal;
  readonly #frames: FrameTimer;
  readonly #kept: TerminalInput[] = [];
  #owner: SurfaceOwner | undefined;
  #isClosed = false;

  constructor({ input, output, paint, owner }: PromptSurfaceOptions) {
    this.paint = paint;
    this.#owner = owner;
    this.#frames = new FrameTimer(() => this.#draw());
    this.#terminal = new RawTerminal({
      input,
      output,
      onInput: (one) => this.#handleInput(one),
      onResize: () => this.#frames.now(),
      onSuspend: () => this.#screen.clear(),
      onContinue: () => {
        this.#screen.forget();
        this.#frames.now();
      },
    });
    this.#screen = new InlineScreen({
      write: (text) => this.#terminal.write(text),
      size: () => this.size,
    });
    this.#frames.now();
  }

  /** Loads the editor, which takes longer than a first paint may. */
  async load(): Promise<void> {
    const { PromptEditor } = await import("./prompt-editor.ts");
    this.#screen.measure = (await import("./styled-text.ts")).styledWidth;
    this.#editor = new PromptEditor({
      paint: this.paint,
      rows: () => this.size.rows,
      onChange: () => this.#frames.request(),
      onSubmit: (text) => this.#owner?.handleSubmit(text),
    });
    this.#editor.insert(this.#early);
    this.#frames.now();
  }

  /** Available after `load`. */
  get editor(): PromptEditor {
    if (this.#editor === undefined) throw new Error("the editor is not loaded");
    return this.#editor;
  }

  get size(): ScreenDimensions {
    return this.#terminal.size;
  }

  /** Gives the kept input to the owner. */
  setOwner(owner: SurfaceOwner): void {
    this.#owner = owner;
    for (const input of this.#kept.splice(0)) owner.handleInput(input);
    this.#frames.now();
  }

  /** Writes finished lines above the live region. */
  print(lines: readonly string[]): void {
    this.#screen.print(lines);
    this.#frames.request();
  }

  /** Draws soon. */
  refresh(): void {
    this.#frames.request();
  }

  /** Draws at once. */
  refreshNow(): void {
    this.#frames.now();
  }

  /** Draws on an empty screen, for example after another program has written over it. The scrollback stays. */
  redraw(): void {
    this.#screen.clearScreen();
    this.#frames.now();
  }

  suspend(): void {
    this.#terminal.suspend();
  }

  /** Runs another program on the terminal, such as a pager. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#screen.clear();
    this.#terminal.pause();
    try {
      return await work();
    } finally {
      this.#terminal.start();
      this.#screen.forget();
      this.#frames.now();
    }
  }

  /** Removes the live region and restores the terminal. Finished lines stay. */
  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#frames[Symbol.dispose]();
    this.#screen.clear();
    this.#terminal[Symbol.dispose]();
  }

  /** Before the owner is loaded, text is echoed up to the first Enter. */
  #handleInput(input: TerminalInput): void {
    if (this.#owner !== undefined) {
      this.#owner.handleInput(input);
      if (!this.#isClosed) this.#frames.now();
      return;
    }
    if (input.type === "key" && input.data === CTRL_C) {
      this[Symbol.dispose]();
      process.exit(130); // nothing is open yet
    }
    const isText = input.type === "key" && !/[\p{Cc}]/u.test(input.data);
    if (isText && this.#kept.length === 0) {
      if (this.#editor === undefined) this.#early += input.data;
      else this.#editor.handleKey(input.data);
    } else if (this.#kept.length < MAX_KEPT_INPUTS) this.#kept.push(input);
    this.#frames.now();
  }

  /** The prompt before the owner is loaded. */
  #firstRegion(): LiveRegion {
    const mark = promptMark(this.paint);
    if (this.#editor !== undefined) return this.#editor.render(this.size.columns, mark);
    const text = this.#early.slice(-Math.max(0, this.size.columns - mark.width - 1));
    return { lines: [mark.text + text], cursor: { row: 0, column: mark.width + text.length } };
  }

  #draw(): void {
    if (this.#isClosed || !this.#terminal.isActive) return; // it is drawn when the terminal is back
    this.#screen.draw(this.#owner?.compose() ?? this.#firstRegion());
  }
}

const CTRL_C = "\u0003";

export function promptMark(paint: Paint): PromptMark {
  return { text: `${paint("cyan", "❯")} `, width: 2 };
}
