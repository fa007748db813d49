/** Asks a question below the output of a command with the keys and words of the chat, and leaves the terminal again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Question, QuestionAnswer } from "../../domain/backend.ts";
import type { Answer } from "../../session/method-types.ts";
import { ansiPaint } from "../paint.ts";
import { formatAddress } from "../run/form/ask.ts";
import type { PendingRequest } from "../run/pending-request.ts";
import type { LiveRegion } from "../tui/inline-screen.ts";
import { PromptSurface, type SurfaceOwner } from "../tui/prompt-surface.ts";
import { wrapStyled } from "../tui/styled-text.ts";
import { KeyPrompt, type PromptMode } from "./key-prompt.ts";
import { FormInput } from "./form-input.ts";
import { fitsLiveRegion } from "./live-request.ts";
import { formatDecidedRequest } from "./open-request.ts";
import { InterruptedQuestion, type QuestionTerminal } from "./question-terminal.ts";
import { formatAnsweredQuestion } from "./question-view.ts";
import { openRequestDiff } from "./request-diff.ts";
import { renderRequest } from "./request-view.ts";

/** Input typed before the question appeared is not an answer. */
const STALE_INPUT_MS = 50;

/** Rejects with the signal's reason, or with `InterruptedQuestion`. */
export async function askPermissionWithKeys(
  terminal: QuestionTerminal,
  request: PendingRequest,
  signal: AbortSignal,
): Promise<Answer> {
  return withSurface(terminal, signal, async (surface, closed) => {
    const { columns: width, rows } = surface.size;
    const style = { width, rows, paint: surface.paint };
    const isPrinted = !fitsLiveRegion(request, style);
    if (isPrinted) surface.print(renderRequest(request, style));
    let paging: Promise<void> | undefined;
    const openDiff = (): void => {
      const { io } = terminal;
      paging = openRequestDiff({ io, surface }, request, signal).catch(() => undefined); // the signal ends the prompt
    };
    try {
      const answer = await runPrompt<Answer>(surface, closed, (resolve) => ({
        type: "decide",
        request,
        isPrinted,
        answer: resolve,
        openDiff,
      }));
      const isLogShown = terminal.io.stdout.isTTY === true;
      if (!isLogShown && "decision" in answer) surface.print([formatDecidedRequest(request, answer, style)]);
      return answer;
    } finally {
      await paging; // it has the terminal until then
    }
  });
}

/** Rejects with the signal's reason, or with `InterruptedQuestion`. */
export async function askQuestionWithKeys(
  terminal: QuestionTerminal,
  question: Question,
  signal: AbortSignal,
): Promise<QuestionAnswer> {
  const { url, ...rest } = question;
  // A link in the live region would be broken into lines that cannot be copied.
  if (url !== undefined) terminal.io.stderr.write(`${formatAddress(url).join("\n")}\n`);
  return withSurface(terminal, signal, async (surface, closed) => {
    const form = new FormInput(rest);
    const given = await runPrompt<QuestionAnswer>(surface, closed, (resolve) => {
      void form.answer.then(resolve);
      return { type: "form", form, leave: () => resolve({ action: "cancel" }) };
    });
    const answer: QuestionAnswer = url !== undefined && given.action === "accept" ? { action: "accept" } : given;
    const lines = formatAnsweredQuestion(question, answer, surface.paint);
    surface.print(lines.flatMap((line) => wrapStyled(line, surface.size.columns, "  ")));
    return answer;
  });
}

/** Esc means no. Rejects with the signal's reason, or with `InterruptedQuestion`. */
export async function confirmWithKeys(
  terminal: QuestionTerminal,
  question: string,
  signal: AbortSignal,
): Promise<boolean> {
  return withSurface(terminal, signal, async (surface, closed) => {
    const isYes = await runPrompt<boolean>(surface, closed, (resolve) => ({ type: "confirm", question, resolve }));
    surface.print([`${surface.paint("yellow", "?")} ${question} ${isYes ? "yes" : "no"}`]);
    return isYes;
  });
}

/**
 * Shows what this process waits for until the person refuses: Esc declines, and Ctrl-D cancels. Rejects with the reason
 * of the signal, or with `InterruptedQuestion`.
 */
export async function waitWithKeys(
  terminal: QuestionTerminal,
  text: string,
  signal: AbortSignal,
): Promise<QuestionAnswer> {
  return withSurface(terminal, signal, async (surface, closed) => {
    const action = await runPrompt<"decline" | "cancel">(surface, closed, (resolve) => ({
      type: "wait",
      text,
      resolve,
    }));
    return { action };
  });
}

const NOTHING: LiveRegion = { lines: [], cursor: undefined };

async function withSurface<T>(
  { io, onOpen }: QuestionTerminal,
  signal: AbortSignal,
  work: (surface: PromptSurface, closed: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const { terminalInput: input, stderr: output } = io;
  if (input === undefined) throw new Error("there is no terminal");
  const interrupt = new AbortController();
  const closed = AbortSignal.any([signal, interrupt.signal]);
  try {
    const stale: SurfaceOwner = {
      handleInput: (one) => {
        if (one.type === "key" && one.data === CTRL_C) interrupt.abort(new InterruptedQuestion());
      },
      handleSubmit: () => undefined,
      compose: () => NOTHING,
    };
    using surface = new PromptSurface({ input, output, paint: ansiPaint, owner: stale });
    await surface.load();
    await sleep(STALE_INPUT_MS); // after the modules are loaded, which keeps this process from reading
    closed.throwIfAborted();
    using _output = openOutputAbove(surface, onOpen);
    return await work(surface, closed);
  } catch (error) {
    if (error instanceof InterruptedQuestion) process.kill(0, "SIGINT"); // the whole job, as the terminal does
    throw error;
  }
}

const CTRL_C = "\u0003";

/** Lets the owner of stdout print above the question. A line without an end is printed when the question closes. */
function openOutputAbove(surface: PromptSurface, onOpen: QuestionTerminal["onOpen"]): Disposable {
  let open = "";
  const print = (lines: readonly string[]): void =>
    surface.print(lines.flatMap((line) => wrapStyled(line, surface.size.columns)));
  onOpen?.((text) => {
    const lines = (open + text).split("\n");
    open = lines.pop() ?? "";
    print(lines);
  });
  return {
    [Symbol.dispose]() {
      onOpen?.(undefined);
      if (open !== "") print([open]);
    },
  };
}

function runPrompt<T>(
  surface: PromptSurface,
  closed: AbortSignal,
  toMode: (resolve: (value: T) => void) => PromptMode,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const prompt = new KeyPrompt(surface, () => finish(() => reject(new InterruptedQuestion())));
    const stop = (): void => finish(() => reject(closed.reason as Error));
    const finish = (settle: () => void): void => {
      closed.removeEventListener("abort", stop);
      prompt[Symbol.dispose]();
      surface.setOwner(QUIET_OWNER);
      settle();
    };
    closed.addEventListener("abort", stop, { once: true });
    prompt.open(toMode((value) => finish(() => resolve(value))));
    surface.setOwner(prompt);
  });
}

/** Draws nothing after the answer. */
const QUIET_OWNER: SurfaceOwner = {
  handleInput: () => undefined,
  handleSubmit: () => undefined,
  compose: () => NOTHING,
};
