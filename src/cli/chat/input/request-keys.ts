/** Keys that answer the agent's requests: a request takes the keyboard focus when the person has stopped typing. */
import type { Answer } from "../../../session/method-types.ts";
import { takeDecisionKey } from "../../questions/decision-keys.ts";
import type { FormInput } from "../../questions/form-input.ts";
import { answerFromText, commandOf, type DecisionKey } from "../../questions/permission-keys.ts";
import type { PendingRequest } from "../../run/pending-request.ts";
import type { PromptSurface } from "../../tui/prompt-surface.ts";
import type { DecideMode, FormMode, ReasonMode } from "./mode.ts";
import type { ModeSwitch } from "./mode-switch.ts";

export interface RequestActions {
  answer(requestId: string, answer: Answer): void;
  /** Prints a request that does not fit the screen, before it takes the keyboard focus. Returns whether it did. */
  printLongRequest(request: PendingRequest): boolean;
  /** Opens the whole diff of a request in a pager. */
  openDiff(request: PendingRequest): void;
  openForm(request: PendingRequest, signal: AbortSignal): FormInput;
}

export class RequestKeys implements Disposable {
  readonly #surface: PromptSurface;
  readonly #modes: ModeSwitch;
  readonly #actions: RequestActions;
  #requests: readonly PendingRequest[] = [];
  /** Answered here; the log does not show it yet. */
  readonly #answered = new Set<string>();
  #focusTimer: NodeJS.Timeout | undefined;

  constructor(surface: PromptSurface, modes: ModeSwitch, actions: RequestActions) {
    this.#surface = surface;
    this.#modes = modes;
    this.#actions = actions;
  }

  /** Call it when the open requests have changed, here or elsewhere. */
  setRequests(requests: readonly PendingRequest[]): void {
    this.#requests = requests.filter(({ requestId }) => !this.#answered.has(requestId));
    const { mode } = this.#modes;
    const current = "request" in mode ? mode : undefined;
    if (current !== undefined && !requests.some(({ requestId }) => requestId === current.request.requestId)) {
      if (current.type === "form") current.stop.abort();
      this.#modes.leave();
    }
    this.focusNext();
  }

  /** A request takes the keyboard focus only after the person has stopped typing, so that text does not answer it. */
  focusNext(): void {
    clearTimeout(this.#focusTimer);
    const [request] = this.#requests;
    if (request === undefined || this.#modes.mode.type !== "prompt") return;
    const wait = this.#modes.typingMs;
    if (wait > 0) {
      this.#focusTimer = setTimeout(() => this.focusNext(), wait);
      return;
    }
    if (request.question === undefined) {
      this.#modes.enter({ type: "decide", request, isPrinted: this.#actions.printLongRequest(request) });
      return;
    }
    const stop = new AbortController();
    this.#modes.enter({ type: "form", request, form: this.#actions.openForm(request, stop.signal), stop });
  }

  /** Returns false for a key that neither chooses nor types. */
  handleDecideKey(mode: DecideMode, data: string): boolean {
    const { isAlwaysAsked = false } = mode;
    return takeDecisionKey(this.#modes.choice, data, {
      prefix: mode.request.prefix,
      isAlwaysAsked,
      askAlways: () => {
        this.#modes.change({ ...mode, isAlwaysAsked: true });
        this.#surface.refresh();
      },
      leaveAlways: () => this.#modes.change({ ...mode, isAlwaysAsked: false }),
      act: (key) => {
        this.#act(mode, key);
        this.#surface.refresh();
      },
      startReason: (text) => this.#startReason(mode, text, false),
    });
  }

  /** Returns false for a key that edits the text. */
  handleFormKey({ form }: FormMode, data: string): boolean {
    if (!form.handleKey(data)) return false;
    if (!form.isTyping) this.#surface.editor.setText("");
    return true;
  }

  submitReason({ request, isCommand }: ReasonMode, text: string): void {
    this.#answer(request, answerFromText(request, text.trim(), isCommand));
  }

  /** Goes from the reason back to the decision. Drops the text, which the decision does not show. */
  leaveReason({ request, isPrinted }: ReasonMode): void {
    this.#surface.editor.setText("");
    this.#modes.change({ type: "decide", request, isPrinted });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#focusTimer);
    const { mode } = this.#modes;
    if (mode.type === "form") mode.stop.abort();
  }

  #act(mode: DecideMode, key: DecisionKey): void {
    const { request } = mode;
    if ("answer" in key) return this.#answer(request, key.answer);
    if ("diff" in key) return this.#actions.openDiff(request);
    const command = commandOf(request);
    this.#startReason(mode, command ?? "", command !== undefined);
  }

  #startReason({ request, isPrinted }: DecideMode, text: string, isCommand: boolean): void {
    this.#modes.change({ type: "reason", request, isPrinted, isCommand });
    this.#surface.editor.setText("");
    this.#surface.editor.insert(text);
  }

  /** A second key does not answer it again. */
  #answer(request: PendingRequest, answer: Answer): void {
    this.#answered.add(request.requestId);
    this.#requests = this.#requests.filter((one) => one !== request);
    this.#modes.leave();
    this.#actions.answer(request.requestId, answer);
  }
}
