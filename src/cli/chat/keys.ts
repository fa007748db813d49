/** Decides what a key does: it edits the prompt, answers a request, chooses from a list, or controls the chat. */
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import { MAX_INPUT_BYTES } from "../../session/input.ts";
import type { Answer } from "../../session/method-types.ts";
import type { Deliver } from "../../session/session.ts";
import { formatBytes } from "../format.ts";
import type { PendingRequest } from "../run/pending-request.ts";
import type { PromptSurface } from "../tui/prompt-surface.ts";
import { handleSelectKey, openSelect, type SelectItem } from "../tui/select-list.ts";
import type { TerminalInput } from "../tui/terminal-input.ts";
import { type ChatMode, type DecideMode, PROMPT_MODE } from "./mode.ts";
import type { FormInput } from "../questions/form-input.ts";
import { ChoiceTimer } from "../questions/choice-timer.ts";
import { isTyped, takeDecisionKey, TYPING_PAUSE_MS } from "../questions/decision-keys.ts";
import { commandOf, type DecisionKey, answerFromText } from "../questions/permission-keys.ts";

export interface KeyActions {
  submit(text: string, deliver: Deliver): void;
  interrupt(): void;
  /** Backspace on an empty input. */
  dropLastOutput(): void;
  /** Whether a turn or a command runs. */
  isBusy(): boolean;
  quit(): void;
  answer(requestId: string, answer: Answer): void;
  /** Prints a request that does not fit the screen, before it takes the keys. Returns whether it did. */
  printLongRequest(request: PendingRequest): boolean;
  /** Opens the whole diff of a request in a pager. */
  openDiff(request: PendingRequest): void;
  openForm(request: PendingRequest, signal: AbortSignal): FormInput;
  warn(text: string): void;
}

/** How long the first Ctrl-C or Ctrl-D counts. */
const QUIT_WINDOW_MS = 2_000;

export class ChatKeys implements Disposable {
  readonly #surface: PromptSurface;
  readonly #actions: KeyActions;
  #mode: ChatMode = PROMPT_MODE;
  #requests: readonly PendingRequest[] = [];
  /** Answered here; the log does not show it yet. */
  readonly #answered = new Set<string>();
  /** What the person was typing when something else took the keys. */
  #draft = "";
  #typedAt = -Infinity;
  #quitAsked: { readonly key: "Ctrl-C" | "Ctrl-D"; readonly at: number } | undefined;
  readonly #choice = new ChoiceTimer();
  #focusTimer: NodeJS.Timeout | undefined;
  /** How Enter delivers input while the agent works. */
  deliver: Deliver = "steer";

  constructor(surface: PromptSurface, actions: KeyActions) {
    this.#surface = surface;
    this.#actions = actions;
  }

  get mode(): ChatMode {
    return this.#mode;
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
    return new Promise((resolve) => this.#enter({ type: "select", select, resolve }));
  }

  confirm(question: string): Promise<boolean> {
    return new Promise((resolve) => this.#enter({ type: "confirm", question, resolve }));
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

  /** Call it when the open requests have changed, here or elsewhere. */
  setRequests(requests: readonly PendingRequest[]): void {
    this.#requests = requests.filter(({ requestId }) => !this.#answered.has(requestId));
    const current = "request" in this.#mode ? this.#mode : undefined;
    if (current !== undefined && !requests.some(({ requestId }) => requestId === current.request.requestId)) {
      if (current.type === "form") current.stop.abort();
      this.#leave();
    }
    this.#focusRequest();
  }

  handleInput(input: TerminalInput): void {
    if (input.type === "paste") return this.#paste(input);
    const { data } = input;
    if (!matchesKey(data, "ctrl+c") && !matchesKey(data, "ctrl+d")) this.#quitAsked = undefined;
    if (matchesKey(data, "ctrl+z")) return this.#surface.suspend();
    const mode = this.#mode;
    switch (mode.type) {
      case "decide":
        return this.#decide(mode, data);
      case "select": {
        const next = handleSelectKey(mode.select, data);
        if ("items" in next) this.#mode = { ...mode, select: next };
        else {
          this.#leave();
          mode.resolve("chosen" in next ? next.chosen : undefined);
        }
        return;
      }
      case "confirm":
        return this.#confirmKey(mode, data);
      case "form":
        return this.#formKey(mode, data);
      case "prompt":
      case "reason":
        this.#typedAt = performance.now();
        return this.#edit(data);
    }
  }

  handleSubmit(text: string): void {
    const mode = this.#mode;
    if (mode.type === "reason") {
      this.#answer(mode.request, answerFromText(mode.request, text.trim(), mode.isCommand));
    } else if (mode.type === "form") mode.form.submit(text);
    else this.#actions.submit(text, this.deliver);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#focusTimer);
    this.#choice[Symbol.dispose]();
    if (this.#mode.type === "form") this.#mode.stop.abort();
  }

  #edit(data: string): void {
    const { editor } = this.#surface;
    if (matchesKey(data, "ctrl+c")) return this.#clearOrQuit();
    if (matchesKey(data, "ctrl+d") && editor.isEmpty)
      return this.#actions.isBusy() ? this.#quitTwice("Ctrl-D") : this.#actions.quit();
    if (matchesKey(data, "escape") && !editor.isCompleting) return this.#escape();
    if (matchesKey(data, "alt+enter") && this.#mode.type === "prompt") {
      const { text } = editor;
      editor.setText("");
      return this.#actions.submit(text, "follow_up");
    }
    if (matchesKey(data, "backspace") && editor.isEmpty && this.#mode.type === "prompt")
      return this.#actions.dropLastOutput();
    editor.handleKey(data);
    const mode = this.#mode;
    if (mode.type === "reason" && mode.isCommand && editor.isEmpty) this.#mode = { ...mode, isCommand: false };
  }

  #escape(): void {
    const mode = this.#mode;
    if (mode.type === "reason") this.#mode = { type: "decide", request: mode.request, isPrinted: mode.isPrinted };
    else this.#actions.interrupt();
  }

  /** Interrupts what runs, so that Ctrl-C stops something before it quits. */
  #clearOrQuit(): void {
    const { editor } = this.#surface;
    if (!editor.isEmpty && this.quitKey !== "Ctrl-C") {
      editor.setText("");
      const mode = this.#mode;
      if (mode.type === "reason") this.#mode = { ...mode, isCommand: false };
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

  #decide(mode: DecideMode, data: string): void {
    const { isAlwaysAsked = false } = mode;
    const isTaken = takeDecisionKey(this.#choice, data, {
      isAlwaysAsked,
      askAlways: () => {
        this.#mode = { ...mode, isAlwaysAsked: true };
        this.#surface.refresh();
      },
      act: (key) => {
        this.#act(mode, key);
        this.#surface.refresh();
      },
      startReason: (text) => this.#startReason(mode, text, false),
    });
    if (isTaken) return;
    if (matchesKey(data, "escape")) this.#actions.interrupt();
    else if (matchesKey(data, "ctrl+c")) this.#clearOrQuit();
  }

  #act(mode: DecideMode, key: DecisionKey): void {
    const { request } = mode;
    if ("answer" in key) return this.#answer(request, key.answer);
    if ("diff" in key) return this.#actions.openDiff(request);
    const command = commandOf(request);
    this.#startReason(mode, command ?? "", command !== undefined);
  }

  #startReason({ request, isPrinted }: DecideMode, text: string, isCommand: boolean): void {
    this.#mode = { type: "reason", request, isPrinted, isCommand };
    this.#surface.editor.setText("");
    this.#surface.editor.insert(text);
  }

  #formKey({ form }: Extract<ChatMode, { type: "form" }>, data: string): void {
    const { editor } = this.#surface;
    if (matchesKey(data, "ctrl+c") && (!form.isTyping || editor.isEmpty)) return this.#clearOrQuit();
    if (!form.handleKey(data)) return this.#edit(data);
    if (!form.isTyping) editor.setText("");
  }

  /** Ignores the letters of a word. */
  #confirmKey({ resolve }: Extract<ChatMode, { type: "confirm" }>, data: string): void {
    const key = data.toLowerCase();
    const decide = (isYes: boolean) => (): void => {
      this.#leave();
      resolve(isYes);
    };
    if (matchesKey(key, "escape") || matchesKey(key, "ctrl+c")) return decide(false)();
    if (matchesKey(key, "enter")) return this.#choice.actNow();
    if (!isTyped(data) || data === this.#choice.key) return;
    const isWord = this.#choice.key !== undefined || performance.now() - this.#typedAt < TYPING_PAUSE_MS;
    this.#choice.cancel();
    if (!isWord && (key === "y" || key === "n")) this.#choice.offer(data, decide(key === "y"));
    else this.#typedAt = performance.now();
  }

  /** A second key does not answer it again. */
  #answer(request: PendingRequest, answer: Answer): void {
    this.#answered.add(request.requestId);
    this.#requests = this.#requests.filter((one) => one !== request);
    this.#leave();
    this.#actions.answer(request.requestId, answer);
  }

  #paste({ text, excess }: Extract<TerminalInput, { type: "paste" }>): void {
    this.#typedAt = performance.now();
    this.#quitAsked = undefined;
    const size = Buffer.byteLength(text) + excess;
    if (size > MAX_INPUT_BYTES) {
      const limit = formatBytes(MAX_INPUT_BYTES);
      this.#actions.warn(
        `the paste has ${formatBytes(size)}; the limit is ${limit}: save it in a file and name it with @`,
      );
    } else if (["prompt", "reason"].includes(this.#mode.type)) this.#surface.editor.paste(text);
    else if (this.#mode.type === "form" && this.#mode.form.isTyping) this.#surface.editor.paste(text);
  }

  #enter(mode: ChatMode): void {
    this.#choice.cancel();
    this.#typedAt = -Infinity; // what was typed before belongs to the prompt
    if (this.#mode.type === "prompt") this.#draft = this.#surface.editor.text;
    this.#mode = mode;
    this.#surface.editor.setText("");
    this.#surface.refresh();
  }

  #leave(): void {
    this.#choice.cancel();
    this.#mode = PROMPT_MODE;
    this.#surface.editor.setText(this.#draft);
    this.#draft = "";
    this.#surface.refresh();
    this.#focusRequest();
  }

  /** A request takes the keys only after the person has stopped typing, so that text does not answer it. */
  #focusRequest(): void {
    clearTimeout(this.#focusTimer);
    const [request] = this.#requests;
    if (request === undefined || this.#mode.type !== "prompt") return;
    const wait = this.#typedAt + TYPING_PAUSE_MS - performance.now();
    if (wait > 0) {
      this.#focusTimer = setTimeout(() => this.#focusRequest(), wait);
      return;
    }
    if (request.question === undefined) {
      this.#enter({ type: "decide", request, isPrinted: this.#actions.printLongRequest(request) });
      return;
    }
    const stop = new AbortController();
    this.#enter({ type: "form", request, form: this.#actions.openForm(request, stop.signal), stop });
  }
}
