/**
 * The view of a turn whose messages are rendered as Markdown: each block is printed when it is complete, and an empty
 * line separates messages from everything else.
 */
import type { EventOf, SessionEvent } from "../../domain/events.ts";
import type { Paint } from "../paint.ts";
import type { MessageRenderer } from "./message-renderer.ts";
import { renderEvent, type RenderOptions } from "./render-event.ts";
import type { ShownPart, TurnView } from "./turn-view.ts";
import { wrapEventText } from "./wrap-event.ts";

export interface RenderedTurnOptions extends RenderOptions {
  readonly paint: Paint;
  /** Default: messages are printed as they are. */
  readonly messages?: MessageRenderer | undefined;
}

type Step = readonly [TurnView, string];

const DEFAULT_COLUMNS = 80;

/** Like `renderEvent`, with notes wrapped at words and messages rendered as Markdown. */
export function renderTurnEvent(view: TurnView, event: SessionEvent, options: RenderedTurnOptions): Step {
  const { paint, messages, columns } = options;
  if (messages !== undefined && event.type === "message.delta") return addDelta(view, event, options);
  if (messages !== undefined && event.type === "message.completed") return completeMessage(view, event, options);
  const [next, printed] = renderEvent(view, event, paint, options);
  const text = wrapEventText(event, printed, columns);
  if (messages === undefined || (text === "" && event.type !== "turn.started")) return [next, text];
  const [flushed, rest] = finishOpenMessage(view, options);
  const after = { ...next, open: "", last: flushed.last };
  if (text === "") return [after, rest];
  return [{ ...after, last: "lines" }, rest + gapBefore(flushed.last, "lines") + text];
}

/** Prints the part of the message that is not complete. Call it before something else is printed. */
export function finishOpenMessage(view: TurnView, { messages, columns = DEFAULT_COLUMNS }: RenderedTurnOptions): Step {
  if (view.open === "" || messages === undefined) return [view, ""];
  return printBlocks({ ...view, open: "" }, messages.render(view.open, columns));
}

/** Returns the lines of the part of the message that is not complete. */
export function renderOpenMessage(
  view: TurnView,
  { messages, columns = DEFAULT_COLUMNS }: RenderedTurnOptions,
): string[] {
  if (view.open === "" || messages === undefined) return [];
  const text = printBlocks(view, messages.render(view.open, columns))[1];
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** A delta of another message means that the previous message was abandoned. */
function addDelta(view: TurnView, { messageId, text }: EventOf<"message.delta">, options: RenderedTurnOptions): Step {
  const { messages, columns = DEFAULT_COLUMNS } = options;
  const isNext = view.message === undefined || view.message === messageId;
  const [before, rest] = isNext ? [view, ""] : finishOpenMessage(view, options);
  const { open = "", blocks = [] } = messages?.append(before.open, text, columns) ?? {};
  const [after, printed] = printBlocks({ ...before, message: messageId, open }, blocks);
  return [after, rest + printed];
}

function completeMessage(
  view: TurnView,
  { messageId, text }: EventOf<"message.completed">,
  options: RenderedTurnOptions,
): Step {
  const { messages, columns = DEFAULT_COLUMNS } = options;
  const [before, rest] = finishOpenMessage(view, options);
  const blocks = view.message === messageId ? [] : (messages?.render(text, columns) ?? []);
  const [after, printed] = printBlocks({ ...before, message: undefined }, blocks);
  return [after, rest + printed];
}

function printBlocks(view: TurnView, blocks: readonly string[][]): Step {
  return blocks.reduce<Step>(
    ([before, text], lines) => [
      { ...before, atStart: true, last: "message" },
      text + gapBefore(before.last, "message") + lines.map((line) => `${line}\n`).join(""),
    ],
    [view, ""],
  );
}

function gapBefore(last: ShownPart | undefined, next: ShownPart): string {
  return last === undefined || (last === "lines" && next === "lines") ? "" : "\n";
}
