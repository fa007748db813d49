/** Tracks the items of a Codex turn and records them: messages, thoughts and tool calls. */
import type { ToolOutcome } from "../../domain/index.ts";
import { OFFERED_NAME } from "../offered.ts";
import type { Telling } from "../program/index.ts";
import { endOf, startOf } from "./items.ts";
import type { Item, ToolItem } from "./wire.ts";

export class Speech {
  /** Tools that have started and not ended. */
  readonly running = new Map<string, ToolItem>();
  readonly #tell: Telling;
  readonly #hasOurs: boolean;
  /** Ids of items that were streamed. Their complete text is not recorded again. */
  readonly #inParts = new Set<string>();
  /** Id of the open message. */
  #saying: string | undefined;

  /** `hasOurs`: Codex has Rookery's MCP server, which records its calls itself. */
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

  /** Discards the open message because Codex retries the request. */
  beginAnew(): void {
    this.#saying = undefined;
    this.#tell.abandonMessage();
  }

  begin(item: Item): void {
    if (!isTool(item)) return; // its deltas follow
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

  /** Ends the tools that still run. */
  end(outcome: ToolOutcome): void {
    for (const id of this.running.keys()) this.#tell.endTool(id, { outcome, text: "the turn ended first" });
    this.running.clear();
  }

  #isToldElsewhere(item: ToolItem): boolean {
    return this.#hasOurs && item.type === "mcpToolCall" && item.server === OFFERED_NAME;
  }

  #finishTool(item: ToolItem): void {
    const start = startOf(item);
    this.#saying = undefined;
    if (this.#isToldElsewhere(item)) return;
    this.#tell.startTool(start); // some items have no start
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
