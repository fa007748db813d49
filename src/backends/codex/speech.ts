/** The items of a turn of Codex, from their begin to their end: what it says, what it thinks, and the tools it uses. */
import type { ToolOutcome } from "../../domain/index.ts";
import { OFFERED_NAME } from "../offered.ts";
import type { Telling } from "../program/index.ts";
import { endOf, startOf } from "./items.ts";
import type { Item, ToolItem } from "./wire.ts";

export class Speech {
  /** Tools that were begun and have not ended. */
  readonly running = new Map<string, ToolItem>();
  readonly #tell: Telling;
  readonly #hasOurs: boolean;
  /** What came in parts: it is not said again when it comes whole. */
  readonly #inParts = new Set<string>();
  /** The message that is being said. */
  #saying: string | undefined;

  /** `hasOurs`: it was given our server, whose calls are told where they arrive, maybe before Codex tells of them. */
  constructor(tell: Telling, hasOurs: boolean) {
    this.#tell = tell;
    this.#hasOurs = hasOurs;
  }

  say(id: string, text: string): void {
    if (this.#saying !== id) this.#tell.endMessageIfAny();
    this.#saying = id;
    this.#inParts.add(id);
    this.#tell.say(text);
  }

  think(id: string, text: string): void {
    this.#saying = undefined;
    this.#inParts.add(id);
    this.#tell.think(text);
  }

  /** The model is asked anew: what it was saying counts for nothing. */
  beginAnew(): void {
    this.#saying = undefined;
    this.#tell.abandonMessage();
  }

  begin(item: Item): void {
    if (!isTool(item)) return; // its parts follow
    this.#saying = undefined;
    if (this.#isToldElsewhere(item)) return;
    this.running.set(item.id, item);
    this.#tell.startTool(startOf(item));
  }

  finish(item: Item): void {
    if (isTool(item)) return this.#finishTool(item);
    const isNew = !this.#inParts.has(item.id);
    if (item.type === "reasoning") {
      if (isNew) this.#tell.think([...item.summary, ...item.content].join("\n\n"));
    } else if (this.#saying === item.id || isNew) this.#tell.endMessage(item.text);
    if (item.type !== "reasoning") this.#saying = undefined;
  }

  /** What is still running will not be told of any more. */
  end(outcome: ToolOutcome): void {
    for (const id of this.running.keys()) this.#tell.endTool(id, { outcome, text: "the turn ended before it did" });
    this.running.clear();
  }

  #isToldElsewhere(item: ToolItem): boolean {
    return this.#hasOurs && item.type === "mcpToolCall" && item.server === OFFERED_NAME;
  }

  #finishTool(item: ToolItem): void {
    const start = startOf(item);
    this.#saying = undefined;
    if (this.#isToldElsewhere(item)) return;
    this.#tell.startTool(start); // some are told only when they are over
    const begun = this.running.get(item.id);
    if (begun !== undefined && startOf(begun).title !== start.title)
      this.#tell.updateTool(item.id, { title: start.title });
    this.running.delete(item.id);
    this.#tell.endTool(item.id, endOf(item));
  }
}

function isTool(item: Item): item is ToolItem {
  return item.type !== "agentMessage" && item.type !== "plan" && item.type !== "reasoning";
}
