/** Tracks the items of a Codex turn and records them: messages, thoughts and tool calls. */
import type { ToolOutcome } from "../../domain/index.ts";
import { OFFERED_NAME } from "../offered-tools.ts";
import type { TurnRecorder } from "../program/index.ts";
import { toItemEnd, toItemStart } from "./items.ts";
import type { Item, ToolItem } from "./wire.ts";

export class ItemRecorder {
  /** Tools that have started and not ended. */
  readonly running = new Map<string, ToolItem>();
  readonly #recorder: TurnRecorder;
  readonly #hasOurs: boolean;
  /** Ids of items that were streamed. Their complete text is not recorded again. */
  readonly #streamed = new Set<string>();
  /** Id of the open message. */
  #openMessage: string | undefined;

  /** `hasOurs`: Codex has Rookery's MCP server, which records its calls itself. */
  constructor(recorder: TurnRecorder, hasOurs: boolean) {
    this.#recorder = recorder;
    this.#hasOurs = hasOurs;
  }

  addMessageText(id: string, text: string): void {
    if (this.#openMessage !== id) this.#recorder.endMessageIfAny();
    this.#openMessage = id;
    this.#streamed.add(id);
    this.#recorder.addMessageText(text);
  }

  addThoughtText(id: string, text: string): void {
    this.#openMessage = undefined;
    this.#streamed.add(id);
    this.#recorder.addThoughtText(text);
  }

  /** Discards the open message because Codex retries the request. */
  discardMessage(): void {
    this.#openMessage = undefined;
    this.#recorder.abandonMessage();
  }

  startItem(item: Item): void {
    if (!isToolItem(item)) return; // its deltas follow
    this.#openMessage = undefined;
    if (this.#isRookeryCall(item)) return;
    this.running.set(item.id, item);
    this.#recorder.startTool(toItemStart(item));
  }

  finishItem(item: Item): void {
    if (isToolItem(item)) return this.#finishTool(item);
    const isNew = !this.#streamed.has(item.id);
    if (item.type === "reasoning") {
      if (isNew) this.#recorder.addThoughtText([...item.summary, ...item.content].join("\n\n"));
    } else if (this.#openMessage === item.id || isNew) this.#recorder.endMessage(item.text);
    if (item.type !== "reasoning") this.#openMessage = undefined;
  }

  /** Ends the tools that still run. */
  endRunning(outcome: ToolOutcome): void {
    for (const id of this.running.keys()) this.#recorder.endTool(id, { outcome, text: "the turn ended first" });
    this.running.clear();
  }

  #isRookeryCall(item: ToolItem): boolean {
    return this.#hasOurs && item.type === "mcpToolCall" && item.server === OFFERED_NAME;
  }

  #finishTool(item: ToolItem): void {
    const start = toItemStart(item);
    this.#openMessage = undefined;
    if (this.#isRookeryCall(item)) return;
    this.#recorder.startTool(start); // some items have no start
    const begun = this.running.get(item.id);
    if (begun !== undefined && toItemStart(begun).title !== start.title)
      this.#recorder.updateTool(item.id, { title: start.title });
    this.running.delete(item.id);
    this.#recorder.endTool(item.id, toItemEnd(item));
  }
}

function isToolItem(item: Item): item is ToolItem {
  return item.type !== "agentMessage" && item.type !== "plan" && item.type !== "reasoning";
}
