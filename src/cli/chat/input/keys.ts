/** Decides what a key does: it edits the prompt, answers a request, chooses from a list, or controls the chat. */
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import { MAX_INPUT_BYTES } from "../../../session/input.ts";
import type { Deliver } from "../../../session/method-types.ts";
import { formatBytes } from "../../format.ts";
import { isTyped } from "../../questions/decision-keys.ts";
import type { PendingRequest } from "../../run/pending-request.ts";
import type { PromptSurface } from "../../tui/prompt-surface.ts";
import { handleSelectKey, openSelect, type SelectItem } from "../../tui/select-list.ts";
import type { TerminalInput } from "../../tui/terminal-input.ts";
import type { ChatMode } from "./mode.ts";
import { ModeSwitch } from "./mode-switch.ts";
import { type RequestActions, RequestKeys } from "./request-keys.ts";

export interface KeyActions extends RequestActions {
  submit(text: string, deliver: Deliver): void;
  interrupt(): void;
  /** Backspace on an empty input. */
  dropLastOutput(): void;
  /** Changes when the agent asks, to the next policy. */
  cyclePermissions(): void;
  /** Whether a turn or a command runs. */
  isBusy(): boolean;
  quit(): void;
  warn(text: string): void;
}

/** How long the first Ctrl-C or Ctrl-D counts. */
const QUIT_WINDOW_MS = 2_000;

export class ChatKeys implements Disposable {
  readonly #surface: PromptSurface;
  readonly #actions: KeyActions;
  readonly #modes: ModeSwitch;
  readonly #requests: RequestKeys;
  #quitAsked: { readonly key: "Ctrl-C" | "Ctrl-D"; readonly at: number } | undefined;
  /** How Enter delivers input while the agent works. */
  deliver: Deliver = "steer";

  constructor(surface: PromptSurface, actions: KeyActions) {
    this.#surface = surface;
    this.#actions = actions;
    this.#modes = new ModeSwitch(surface, () => this.#requests.focusNext());
    this.#requests = new RequestKeys(surface, this.#modes, actions);
  }

  get mode(): ChatMode {
    return this.#modes.mode;
  }

  /** The text in the prompt, even while something else has the keyboard focus. */
  get promptText(): string {
    return this.#modes.promptText;
  }

  /** The key that quits if it is pressed again. */
  get quitKey(): "Ctrl-C" | "Ctrl-D" | undefined {
    const asked = this.#quitAsked;
    return asked !== undefined && performance.now() - asked.at < QUIT_WINDOW_MS ? asked.key : undefined;
  }

  /** Asks the person to choose. Resolves with undefined if they cancel. */
  select(
    title: string,
    items: readonly SelectItem[],
    { textLabel }: { readonly textLabel?: string } = {},
  ): Promise<SelectItem | undefined> {
    const select = openSelect(title, items, textLabel);
    return new Promise((resolve) => this.#modes.enter({ type: "select", select, resolve }));
  }

  confirm(question: string): Promise<boolean> {
    return new Promise((resolve) => this.#modes.enter({ type: "confirm", question, resolve }));
  }

  /** Puts text into the input, unless the person has typed something else. */
  returnText(text: string): void {
    this.#modes.returnText(text);
  }

  /** Puts text before what the person is typing. */
  prependText(text: string): void {
    this.#modes.prependText(text);
  }

  /** Call it when the open requests have changed, here or elsewhere. */
  setRequests(requests: readonly PendingRequest[]): void {
    this.#requests.setRequests(requests);
  }

  handleInput(input: TerminalInput): void {
    if (input.type === "paste") return this.#paste(input);
    const { data } = input;
    if (!matchesKey(data, "ctrl+c") && !matchesKey(data, "ctrl+d")) this.#quitAsked = undefined;
    if (matchesKey(data, "ctrl+z")) return this.#surface.suspend();
    if (matchesKey(data, "ctrl+l")) return this.#surface.redraw();
    const { mode } = this;
    switch (mode.type) {
      case "decide":
        if (this.#requests.handleDecideKey(mode, data)) return;
        if (matchesKey(data, "escape")) this.#actions.interrupt();
        else if (matchesKey(data, "ctrl+c")) this.#clearOrQuit();
        else if (matchesKey(data, "ctrl+d")) this.#quitTwice("Ctrl-D");
        return;
      case "select": {
        const next = handleSelectKey(mode.select, data);
        if ("items" in next) this.#modes.change({ ...mode, select: next });
        else {
          this.#modes.leave();
          mode.resolve("chosen" in next ? next.chosen : undefined);
        }
        return;
      }
      case "confirm":
        return this.#confirmKey(mode, data);
      case "form": {
        const isEmpty = !mode.form.isTyping || this.#surface.editor.isEmpty;
        if (matchesKey(data, "ctrl+c") && isEmpty) return this.#clearOrQuit();
        if (matchesKey(data, "ctrl+d") && isEmpty) return this.#quitTwice("Ctrl-D");
        return this.#requests.handleFormKey(mode, data) ? undefined : this.#edit(data);
      }
      case "prompt":
      case "reason":
        this.#modes.noteTyping();
        return this.#edit(data);
    }
  }

  handleSubmit(text: string): void {
    const { mode } = this;
    if (mode.type === "reason") this.#requests.submitReason(mode, text);
    else if (mode.type === "form") mode.form.submit(text);
    else this.#actions.submit(text, this.deliver);
  }

  [Symbol.dispose](): void {
    this.#requests[Symbol.dispose]();
    this.#modes[Symbol.dispose]();
  }

  #edit(data: string): void {
    const { editor } = this.#surface;
    if (matchesKey(data, "ctrl+c")) return this.#clearOrQuit();
    if (matchesKey(data, "ctrl+d") && editor.isEmpty)
      return this.#actions.isBusy() ? this.#quitTwice("Ctrl-D") : this.#actions.quit();
    if (matchesKey(data, "escape") && !editor.isCompleting) return this.#escape();
    if (matchesKey(data, "alt+enter") && this.mode.type === "prompt") {
      const { text } = editor;
      editor.setText("");
      return this.#actions.submit(text, "follow_up");
    }
    if (matchesKey(data, "shift+tab") && this.mode.type === "prompt") return this.#actions.cyclePermissions();
    if (matchesKey(data, "backspace") && editor.isEmpty && this.mode.type === "prompt")
      return this.#actions.dropLastOutput();
    editor.handleKey(data);
    const { mode } = this;
    if (mode.type === "reason" && mode.isCommand && editor.isEmpty) this.#modes.change({ ...mode, isCommand: false });
  }

  #escape(): void {
    const { mode } = this;
    if (mode.type === "reason") this.#requests.leaveReason(mode);
    else this.#actions.interrupt();
  }

  /** Interrupts what runs, so that Ctrl-C stops something before it quits. */
  #clearOrQuit(): void {
    const { editor } = this.#surface;
    if (!editor.isEmpty && this.quitKey !== "Ctrl-C") {
      editor.setText("");
      const { mode } = this;
      if (mode.type === "reason") this.#modes.change({ ...mode, isCommand: false });
      return;
    }
    if (this.quitKey !== "Ctrl-C" && this.#actions.isBusy()) this.#actions.interrupt();
    this.#quitTwice("Ctrl-C");
  }

  #quitTwice(key: "Ctrl-C" | "Ctrl-D"): void {
    if (this.quitKey === key) return this.#actions.quit();
    this.#quitAsked = { key, at: performance.now() };
    setTimeout(() => this.#surface.refresh(), QUIT_WINDOW_MS + 10).unref(); // removes the hint
  }

  /** Ignores the letters of a word. */
  #confirmKey({ resolve }: Extract<ChatMode, { type: "confirm" }>, data: string): void {
    const key = data.toLowerCase();
    const { choice } = this.#modes;
    const decide = (isYes: boolean) => (): void => {
      this.#modes.leave();
      resolve(isYes);
    };
    if (matchesKey(key, "escape") || matchesKey(key, "ctrl+c")) return decide(false)();
    if (matchesKey(key, "enter")) return choice.actNow();
    if (!isTyped(data) || data === choice.key) return;
    const isWord = choice.key !== undefined || this.#modes.typingMs > 0;
    choice.cancel();
    if (!isWord && (key === "y" || key === "n")) choice.offer(data, decide(key === "y"));
    else this.#modes.noteTyping();
  }

  #paste({ text, excess }: Extract<TerminalInput, { type: "paste" }>): void {
    this.#modes.noteTyping();
    this.#quitAsked = undefined;
    const { mode } = this;
    const size = Buffer.byteLength(text) + excess;
    if (size > MAX_INPUT_BYTES) {
      const limit = formatBytes(MAX_INPUT_BYTES);
      this.#actions.warn(
        `the paste has ${formatBytes(size)}; the limit is ${limit}: save it in a file and name it with @`,
      );
    } else if (["prompt", "reason"].includes(mode.type)) this.#surface.editor.paste(text);
    else if (mode.type === "form" && mode.form.isTyping) this.#surface.editor.paste(text);
  }
}
