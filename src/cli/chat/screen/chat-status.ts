/** The status of a chat, which is not in its log: what it is doing, the branch, and a spinner. */
import type { PromptSurface } from "../../tui/prompt-surface.ts";
import { readBranch } from "./branch.ts";

const SPINNER_MS = 120;
const SPINNER_FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export class ChatStatus {
  readonly #surface: PromptSurface;
  #note: string | undefined = "starting";
  #noteSince = Date.now();
  #branch: string | undefined;
  #frame = 0;

  constructor(surface: PromptSurface) {
    this.#surface = surface;
  }

  /** What the chat is doing, such as `starting claude`. */
  get note(): string | undefined {
    return this.#note;
  }

  /** When it began to do that, in milliseconds since the epoch. */
  get noteSince(): number {
    return this.#noteSince;
  }

  get branch(): string | undefined {
    return this.#branch;
  }

  get spinnerFrame(): string {
    return SPINNER_FRAMES[this.#frame % SPINNER_FRAMES.length] ?? "";
  }

  setNote(note: string | undefined): void {
    this.#note = note;
    this.#noteSince = Date.now();
    this.#surface.refresh();
  }

  async readBranch(cwd: string): Promise<void> {
    this.#branch = await readBranch(cwd);
    this.#surface.refresh();
  }

  /** Moves the spinner until the result is disposed. `isShown`: whether the screen has a spinner. */
  startSpinner(isShown: () => boolean): Disposable {
    const timer = setInterval(() => {
      this.#frame += 1;
      if (isShown()) this.#surface.refresh();
    }, SPINNER_MS).unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }
}
