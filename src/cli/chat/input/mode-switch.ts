/** Switches the keyboard focus between modes, and keeps the text of the prompt while another mode has it. */
import { ChoiceTimer } from "../../questions/choice-timer.ts";
import { TYPING_PAUSE_MS } from "../../questions/decision-keys.ts";
import type { PromptSurface } from "../../tui/prompt-surface.ts";
import { type ChatMode, PROMPT_MODE } from "./mode.ts";

export class ModeSwitch implements Disposable {
  readonly #surface: PromptSurface;
  readonly #onPrompt: () => void;
  #mode: ChatMode = PROMPT_MODE;
  /** The text in the prompt when something else took the keyboard focus. */
  #draft = "";
  #typedAt = -Infinity;
  /** The choice of a key that has not counted yet. It does not outlive its mode. */
  readonly choice = new ChoiceTimer();

  /** `onPrompt`: called when the prompt has the keyboard focus again. */
  constructor(surface: PromptSurface, onPrompt: () => void) {
    this.#surface = surface;
    this.#onPrompt = onPrompt;
  }

  get mode(): ChatMode {
    return this.#mode;
  }

  /** The text in the prompt, even while something else has the keyboard focus. */
  get promptText(): string {
    return this.#mode.type === "prompt" ? this.#surface.editor.text : this.#draft;
  }

  /** Changes the mode and leaves the text of the editor as it is. */
  change(mode: ChatMode): void {
    this.#mode = mode;
  }

  /** Gives the keyboard focus to another mode, with an empty editor. */
  enter(mode: ChatMode): void {
    this.choice.cancel();
    this.#typedAt = -Infinity; // what was typed before belongs to the prompt
    if (this.#mode.type === "prompt") this.#draft = this.#surface.editor.text;
    this.#mode = mode;
    this.#surface.editor.setText("");
    this.#surface.refresh();
  }

  /** Gives the keyboard focus back to the prompt, with the text that it had. */
  leave(): void {
    this.choice.cancel();
    this.#mode = PROMPT_MODE;
    this.#surface.editor.setText(this.#draft);
    this.#draft = "";
    this.#surface.refresh();
    this.#onPrompt();
  }

  /** Call it for every key that types. */
  noteTyping(): void {
    this.#typedAt = performance.now();
  }

  /** How long the person is still considered to be typing, in milliseconds. Not positive if they have stopped. */
  get typingMs(): number {
    return this.#typedAt + TYPING_PAUSE_MS - performance.now();
  }

  /** Puts text into the input, unless the person has typed something else. */
  returnText(text: string): void {
    if (this.#mode.type === "prompt" && this.#surface.editor.isEmpty) this.#surface.editor.setText(text);
    else if (this.#mode.type !== "prompt" && this.#draft === "") this.#draft = text;
    this.#surface.refresh();
  }

  /** Puts text before what the person is typing. */
  prependText(text: string): void {
    const { editor } = this.#surface;
    const join = (typed: string): string => (typed === "" ? text : `${text}\n\n${typed}`);
    if (this.#mode.type === "prompt") editor.setText(join(editor.text));
    else this.#draft = join(this.#draft);
    this.#surface.refresh();
  }

  [Symbol.dispose](): void {
    this.choice[Symbol.dispose]();
  }
}
