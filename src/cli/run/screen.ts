/** Shows a turn on stdout: as text for people, or as JSON for programs. */
import type { SessionEvent } from "../../domain/events.ts";
import { formatJsonLine, hasColor, type Io, isInteractive, print, printJson, terminalWidth } from "../io.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import type { PrintAbove } from "../questions/question-terminal.ts";
import { wrapText } from "../wrap.ts";
import { noSpinner, type SpinnerLines, startSpinner } from "./spinner.ts";
import { loadMessageRenderer, type MessageRenderer } from "../transcript/message-renderer.ts";
import {
  finishOpenMessage,
  type RenderedTurnOptions,
  renderOpenMessage,
  renderTurnEvent,
} from "../transcript/rendered-turn.ts";
import { EMPTY_TURN_VIEW, formatActivity, formatRunningOutput, type TurnView } from "../transcript/turn-view.ts";

export interface Screen extends Disposable {
  show(event: SessionEvent): Promise<void>;
  /** Prints a line outside of a turn. `waits`: the spinner label until a turn runs. */
  showLine(text: string | undefined, waits?: string): Promise<void>;
  /** Applies an earlier event without printing it. */
  replay(event: SessionEvent): void;
  /**
   * Stops drawing while a question is open. `printAbove`: prints what happens meanwhile, if stdout is the terminal of the
   * question. Default: it is written to stdout.
   */
  hold(held: boolean, printAbove?: PrintAbove): void;
  /** Ends the drawing, so that something else can be printed. It starts again with the next event. */
  makeRoom(): void;
  /** Titles of the tools that were denied in the last turn. */
  readonly refused: readonly string[];
}

export interface ScreenOptions {
  readonly json: boolean;
  /** The working directory of the session. Default: what the log says. */
  readonly folder?: string | undefined;
  /** Shows with a tool how the person decided about it. Default: false, because the request is printed above. */
  readonly repeatsDecisions: boolean;
}

export function openScreen(io: Io, { json, folder, repeatsDecisions }: ScreenOptions): Screen {
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  const spinner = !json && isInteractive(io.stdout, io.env) ? startSpinner(io.stdout) : noSpinner;
  let view = EMPTY_TURN_VIEW;
  let held = false;
  let printAbove: PrintAbove | undefined;
  let running = false;
  let between: string | undefined;
  let messages: MessageRenderer | undefined;
  let isLoaded = false;
  const optionsNow = (): RenderedTurnOptions => ({
    paint,
    messages,
    folder,
    repeatsDecisions,
    columns: terminalWidth(io.stdout),
  });
  const spin = (): void => {
    const label = running ? (view.open === "" ? formatActivity(view) : "writing") : between;
    if (label === undefined || held || !view.atStart) spinner.clear();
    else spinner.wait(label, running ? linesAround(view) : {});
  };
  /** Reads the size when it draws, because the terminal may be resized. */
  const linesAround = (shown: TurnView): SpinnerLines => ({
    ...(shown.open !== "" && {
      above: () => renderOpenMessage(shown, optionsNow()).slice(-Math.max(1, rowsNow() - 2)),
    }),
    below: () =>
      formatRunningOutput(shown, { width: (io.stdout.columns ?? 80) - 3, lines: Math.min(5, rowsNow() - 3) }).map(
        (line) => paint("dim", `  ${line}`),
      ),
  });
  const rowsNow = (): number => io.stdout.rows ?? 24;
  const take = (event: SessionEvent): string => {
    const [next, text] = renderTurnEvent(view, event, optionsNow());
    view = next;
    if (event.type === "turn.started") running = true;
    if (event.type === "turn.ended") running = false;
    return text;
  };
  const finishOpen = (): string => {
    const [next, text] = finishOpenMessage(view, optionsNow());
    view = next;
    return text;
  };
  const write = (text: string): Promise<void> => {
    if (printAbove === undefined) return print(io, text);
    printAbove(text);
    return Promise.resolve();
  };
  const makeRoom = (): void => {
    if (json) return;
    const text = finishOpen() || (view.atStart ? "" : "\n");
    view = { ...view, atStart: true };
    spinner.clear();
    if (text !== "") io.stdout.write(text);
  };
  return {
    replay(event) {
      take(event);
      view = { ...view, atStart: true };
    },
    async show(event) {
      if (json) {
        take(event);
        return printAbove === undefined ? printJson(io, event) : write(`${formatJsonLine(event)}\n`);
      }
      if (!isLoaded && (event.type === "message.delta" || event.type === "message.completed")) {
        isLoaded = true;
        messages = await loadMessageRenderer(io);
      }
      const text = take(event);
      if (text !== "") spinner.clear();
      await write(text);
      spin();
    },
    async showLine(text, waits) {
      between = waits;
      if (!json && text !== undefined) {
        const open = finishOpen();
        const before = view.atStart ? "" : "\n";
        view = { ...view, atStart: true, last: "lines" };
        spinner.clear();
        await write(open + wrapText(`${before}${text}\n`, { width: terminalWidth(io.stdout) }));
      }
      spin();
    },
    makeRoom,
    hold(now, above) {
      if (now && !held) makeRoom(); // a question starts on a new line
      if (printAbove !== undefined && above === undefined) view = { ...view, atStart: true }; // a started line was ended
      held = now;
      printAbove = io.stdout.isTTY === true ? above : undefined;
      spin();
    },
    get refused() {
      return view.refused;
    },
    [Symbol.dispose]: () => spinner[Symbol.dispose](),
  };
}
