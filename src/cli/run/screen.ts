/** Shows a turn on stdout: as text for people, or as JSON for programs. */
import type { SessionEvent } from "../../domain/events.ts";
import { hasColor, type Io, isInteractive, print, printJson, terminalWidth } from "../io.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { wrapText } from "../wrap.ts";
import { noSpinner, startSpinner } from "./spinner.ts";
import {
  EMPTY_TURN_VIEW,
  renderEvent,
  formatActivity,
  formatRunningOutput,
  type TurnView,
} from "../transcript/turn-view.ts";
import { wrapEventText } from "../transcript/wrap-event.ts";

export interface Screen extends Disposable {
  show(event: SessionEvent): Promise<void>;
  /** Prints a line outside of a turn. `waits`: the spinner label until a turn runs. */
  showLine(text: string | undefined, waits?: string): Promise<void>;
  /** Applies an earlier event without printing it. */
  replay(event: SessionEvent): void;
  /** Stops drawing while a question is open. */
  hold(held: boolean): void;
  /** Titles of the tools that were denied in the last turn. */
  readonly refused: readonly string[];
}

export function openScreen(io: Io, json: boolean): Screen {
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  const spinner = !json && isInteractive(io.stdout, io.env) ? startSpinner(io.stdout) : noSpinner;
  let view = EMPTY_TURN_VIEW;
  let held = false;
  let running = false;
  let between: string | undefined;
  const spin = (): void => {
    const label = running ? formatActivity(view) : between;
    if (label !== undefined && !held && view.atStart) spinner.wait(label, running ? tailOf(view) : () => []);
    else spinner.clear();
  };
  /** Reads the size when it draws, because the terminal may be resized. */
  const tailOf = (shown: TurnView) => () => {
    const { columns = 80, rows = 24 } = io.stdout;
    return formatRunningOutput(shown, { width: columns - 3, lines: Math.min(5, rows - 3) }).map((line) =>
      paint("dim", `  ${line}`),
    );
  };
  const take = (event: SessionEvent): string => {
    const [next, text] = renderEvent(view, event, paint, { columns: io.stdout.columns });
    view = next;
    if (event.type === "turn.started") running = true;
    if (event.type === "turn.ended") running = false;
    return text;
  };
  return {
    replay(event) {
      take(event);
      view = { ...view, atStart: true };
    },
    async show(event) {
      const text = take(event);
      if (json) return printJson(io, event);
      if (text !== "") spinner.clear();
      await print(io, wrapEventText(event, text, terminalWidth(io.stdout)));
      spin();
    },
    async showLine(text, waits) {
      between = waits;
      if (!json && text !== undefined) {
        const before = view.atStart ? "" : "\n";
        view = { ...view, atStart: true };
        spinner.clear();
        await print(io, wrapText(`${before}${text}\n`, { width: terminalWidth(io.stdout) }));
      }
      spin();
    },
    hold(now) {
      held = now;
      if (now && !json && !view.atStart) {
        io.stdout.write("\n"); // a question starts on a new line
        view = { ...view, atStart: true };
      }
      spin();
    },
    get refused() {
      return view.refused;
    },
    [Symbol.dispose]: () => spinner[Symbol.dispose](),
  };
}
