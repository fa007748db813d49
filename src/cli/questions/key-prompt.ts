/** The keys and the live region of one question: a permission, a form, a yes or no, or something to wait for. */
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import type { Answer } from "../../session/method-types.ts";
import type { PendingRequest } from "../run/pending-request.ts";
import type { LiveRegion } from "../tui/inline-screen.ts";
import type { PromptSurface, SurfaceOwner } from "../tui/prompt-surface.ts";
import { styledWidth, wrapStyled } from "../tui/styled-text.ts";
import type { TerminalInput } from "../tui/terminal-input.ts";
import { ChoiceTimer } from "./choice-timer.ts";
import { isTyped, takeDecisionKey } from "./decision-keys.ts";
import type { FormInput } from "./form-input.ts";
import { commandOf, type DecisionKey, answerFromText } from "./permission-keys.ts";
import { renderOpenDecision, renderOpenReason } from "./open-request.ts";

export type PromptMode =
  | {
      readonly type: "decide";
      readonly request: PendingRequest;
      /** True if the request was printed to the scrollback, because it does not fit the screen. */
      readonly isPrinted: boolean;
      readonly answer: (answer: Answer) => void;
      /** Opens all diffs of the request in a pager. */
      readonly openDiff: () => void;
    }
  /** `leave`: called for Ctrl-D, which leaves the question open. */
  | { readonly type: "form"; readonly form: FormInput; readonly leave: () => void }
  | { readonly type: "confirm"; readonly question: string; readonly resolve: (isYes: boolean) => void }
  /** Something happens elsewhere, which the person can decline with Esc or leave open with Ctrl-D. */
  | { readonly type: "wait"; readonly text: string; readonly resolve: (action: "decline" | "cancel") => void };

/** The line in which the person gives a reason. `isCommand`: the text is another command. */
interface Reason {
  readonly isCommand: boolean;
}

export class KeyPrompt implements SurfaceOwner, Disposable {
  readonly #surface: PromptSurface;
  readonly #interrupt: () => void;
  readonly #choice = new ChoiceTimer();
  #mode: PromptMode | undefined;
  #reason: Reason | undefined;
  #isAlwaysAsked = false;

  constructor(surface: PromptSurface, interrupt: () => void) {
    this.#surface = surface;
    this.#interrupt = interrupt;
  }

  open(mode: PromptMode): void {
    this.#mode = mode;
  }

  handleInput(input: TerminalInput): void {
    const { editor } = this.#surface;
    const mode = this.#mode;
    const isEditing = this.#reason !== undefined || (mode?.type === "form" && mode.form.isTyping);
    if (input.type === "paste") {
      if (isEditing) editor.paste(input.text);
      return;
    }
    const { data } = input;
    if (matchesKey(data, "ctrl+z")) return this.#surface.suspend();
    if (matchesKey(data, "ctrl+c")) {
      if (!isEditing || editor.isEmpty) return this.#interrupt();
      return editor.setText("");
    }
    switch (mode?.type) {
      case "decide":
        return this.#reason === undefined ? this.#decide(mode, data) : this.#editReason(this.#reason, data);
      case "form":
        return this.#formKey(mode, data);
      case "confirm":
        return this.#confirmKey(mode, data);
      case "wait":
        if (matchesKey(data, "escape")) return mode.resolve("decline");
        if (matchesKey(data, "ctrl+d")) mode.resolve("cancel");
        return;
      case undefined:
        return;
    }
  }

  handleSubmit(text: string): void {
    const mode = this.#mode;
    if (mode?.type === "form") mode.form.submit(text);
    else if (mode?.type === "decide" && this.#reason !== undefined)
      mode.answer(answerFromText(mode.request, text.trim(), this.#reason.isCommand));
  }

  compose(): LiveRegion {
    const { paint, editor, size } = this.#surface;
    const { columns: width, rows } = size;
    const renderInput = (text: string): LiveRegion => editor.render(width, { text, width: styledWidth(text) });
    const mode = this.#mode;
    switch (mode?.type) {
      case "decide": {
        const { request, isPrinted } = mode;
        const style = { width, rows, paint, renderInput };
        if (this.#reason !== undefined)
          return belowGap(renderOpenReason({ request, isPrinted, ...this.#reason }, style));
        return belowGap(renderOpenDecision({ request, isPrinted, isAlwaysAsked: this.#isAlwaysAsked }, style));
      }
      case "form":
        return belowGap(mode.form.render({ width, rows: Math.max(3, rows - 2), paint, renderInput }));
      case "confirm":
        return { lines: wrapStyled(`${paint("yellow", "?")} ${mode.question} [y/n]`, width), cursor: undefined };
      case "wait": {
        const text = `${paint("yellow", "?")} ${mode.text} ${paint("dim", "· Esc declines · Ctrl-C gives up")}`;
        return { lines: wrapStyled(text, width, "  "), cursor: undefined };
      }
      case undefined:
        return { lines: [], cursor: undefined };
    }
  }

  [Symbol.dispose](): void {
    this.#choice[Symbol.dispose]();
  }

  #decide(mode: Extract<PromptMode, { type: "decide" }>, data: string): void {
    const isTaken = takeDecisionKey(this.#choice, data, {
      prefix: mode.request.prefix,
      isAlwaysAsked: this.#isAlwaysAsked,
      askAlways: () => {
        this.#isAlwaysAsked = true;
        this.#surface.refresh();
      },
      leaveAlways: () => {
        this.#isAlwaysAsked = false;
      },
      act: (key) => {
        this.#act(mode, key);
        this.#surface.refresh();
      },
      startReason: (text) => this.#startReason(text, false),
    });
    if (!isTaken && matchesKey(data, "escape")) this.#interrupt();
  }

  #act({ request, answer, openDiff }: Extract<PromptMode, { type: "decide" }>, key: DecisionKey): void {
    if ("answer" in key) return answer(key.answer);
    if ("diff" in key) return (request.diffs ?? []).length === 0 ? undefined : openDiff();
    const command = commandOf(request);
    this.#startReason(command ?? "", command !== undefined);
  }

  #startReason(text: string, isCommand: boolean): void {
    this.#reason = { isCommand };
    this.#isAlwaysAsked = false;
    this.#surface.editor.setText("");
    this.#surface.editor.insert(text);
  }

  #editReason({ isCommand }: Reason, data: string): void {
    const { editor } = this.#surface;
    if (matchesKey(data, "escape")) {
      this.#reason = undefined;
      return editor.setText("");
    }
    editor.handleKey(data);
    if (isCommand && editor.isEmpty && this.#reason !== undefined) this.#reason = { isCommand: false };
  }

  #formKey({ form, leave }: Extract<PromptMode, { type: "form" }>, data: string): void {
    const { editor } = this.#surface;
    if (matchesKey(data, "ctrl+d") && editor.isEmpty) return leave();
    if (!form.handleKey(data)) editor.handleKey(data);
    else if (!form.isTyping) editor.setText("");
  }

  /** Ignores the letters of a word. */
  #confirmKey({ resolve }: Extract<PromptMode, { type: "confirm" }>, data: string): void {
    const key = data.toLowerCase();
    if (matchesKey(key, "escape")) return resolve(false);
    if (matchesKey(key, "enter")) return this.#choice.actNow();
    if (!isTyped(data) || data === this.#choice.key) return;
    const isWord = this.#choice.key !== undefined;
    this.#choice.cancel();
    if (!isWord && (key === "y" || key === "n")) this.#choice.offer(data, () => resolve(key === "y"));
  }
}

function belowGap({ lines, cursor }: LiveRegion): LiveRegion {
  return { lines: ["", ...lines], cursor: cursor && { ...cursor, row: cursor.row + 1 } };
}
