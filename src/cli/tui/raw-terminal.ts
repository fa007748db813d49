/** A terminal in raw mode: delivers keys and pastes, and restores the terminal when the process ends or stops. */
import type { ReadStream } from "node:tty";
import type { TerminalStream } from "../io.ts";
import { type TerminalInput, TerminalInputParser } from "./terminal-input.ts";
import type { ScreenDimensions } from "./inline-screen.ts";

export interface RawTerminalOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: TerminalStream;
  readonly onInput: (input: TerminalInput) => void;
  readonly onResize: () => void;
  /** Called before the process stops (Ctrl-Z), or ends with an error. */
  readonly onSuspend: () => void;
  /** Called after the process continues. */
  readonly onContinue: () => void;
}

const ENABLE_PASTE = "\u001b[?2004h";
const DISABLE_PASTE = "\u001b[?2004l";
const KEEP_ALIVE_MS = 60_000;
const SHOW_CURSOR = "\u001b[?25h";

/** The size of a terminal that reports none, or 0. */
const DEFAULT_SIZE: ScreenDimensions = { columns: 80, rows: 24 };

export class RawTerminal implements Disposable {
  readonly #options: RawTerminalOptions;
  readonly #parser: TerminalInputParser;
  readonly #onData = (chunk: string | Buffer): void => this.#parser.feed(chunk.toString());
  readonly #restore = (): void => this.pause();
  #isActive = false;
  /**
   * Set while the process is stopped. Without it, nothing may keep the process alive between the end of the stop and the
   * SIGCONT handler, and Node exits.
   */
  #keptAlive: NodeJS.Timeout | undefined;

  constructor(options: RawTerminalOptions) {
    this.#options = options;
    this.#parser = new TerminalInputParser({ onInput: options.onInput });
    process.once("exit", this.#restore);
    process.on("uncaughtExceptionMonitor", this.#giveUp);
    process.on("SIGCONT", this.#resume);
    options.output.on("resize", options.onResize);
    this.start();
  }

  /** False while another program has the terminal, or while the process is being stopped. */
  get isActive(): boolean {
    return this.#isActive;
  }

  get size(): ScreenDimensions {
    const { columns = 0, rows = 0 } = this.#options.output;
    return {
      columns: columns > 0 ? columns : DEFAULT_SIZE.columns,
      rows: rows > 0 ? Math.max(2, rows) : DEFAULT_SIZE.rows,
    };
  }

  write(text: string): void {
    const { output } = this.#options;
    if (!output.destroyed && output.errored === null) output.write(text);
  }

  start(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    const input = this.#options.input as Partial<ReadStream> & NodeJS.ReadableStream;
    input.setRawMode?.(true);
    input.setEncoding("utf8");
    input.on("data", this.#onData);
    input.resume();
    this.write(ENABLE_PASTE);
  }

  /** Gives the terminal back, for example to another program. `start` takes it again. */
  pause(): void {
    if (!this.#isActive) return;
    this.#isActive = false;
    const input = this.#options.input as Partial<ReadStream> & NodeJS.ReadableStream;
    this.write(DISABLE_PASTE + SHOW_CURSOR);
    input.off("data", this.#onData);
    input.pause();
    try {
      input.setRawMode?.(false);
    } catch {
      // the terminal is gone
    }
  }

  /** Stops the process, as Ctrl-Z does outside of raw mode. */
  suspend(): void {
    this.#options.onSuspend();
    this.pause();
    this.#keptAlive ??= setInterval(() => undefined, KEEP_ALIVE_MS);
    process.kill(0, "SIGTSTP"); // the whole job, which may include npx
  }

  [Symbol.dispose](): void {
    clearInterval(this.#keptAlive);
    this.#parser[Symbol.dispose]();
    this.pause();
    process.off("exit", this.#restore);
    process.off("uncaughtExceptionMonitor", this.#giveUp);
    process.off("SIGCONT", this.#resume);
    this.#options.output.off("resize", this.#options.onResize);
  }

  /** Node prints the error after this, on a line of its own. */
  readonly #giveUp = (): void => {
    if (this.#isActive) this.#options.onSuspend();
    this.pause();
  };

  /** The shell may have changed the mode of the terminal, so it is set again. */
  readonly #resume = (): void => {
    clearInterval(this.#keptAlive);
    this.#keptAlive = undefined;
    this.pause();
    this.start();
    this.#options.onContinue();
  };
}
