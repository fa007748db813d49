/** Converts the lines of a Codex session file to events. */
import { newId, type ImportedEvent, type InputPart, type TurnOutcome } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import { toImportedImage } from "../history/imported-image.ts";
import { INTERRUPTED_OUTCOME, type ImportedTurns } from "../history/imported-turns.ts";
import type { SkippedRecords } from "../history/record-file.ts";
import type { ToolEnd } from "../program/index.ts";
import { formatChanges, toChangeDiffs, toChangeLocations } from "./file-changes.ts";
import { toWireItem } from "./history-items.ts";
import { CallItem, ItemCompleted, TokenCount, UserMessageItem, type RolloutLine } from "./history-record.ts";
import { ItemRecorder } from "./item-recorder.ts";
import { toCommandCall, toItemOutcome, toItemStart } from "./items.ts";
import { TurnUsage } from "./usage.ts";
import type { ItemOf } from "./wire.ts";

/** What the whole file has. Older versions of Codex write less. */
export interface RolloutFeatures {
  /** Whether turns have a start and an end. */
  readonly hasTasks: boolean;
  /** Whether messages and calls are items. If not, they are events and items of the model's API. */
  readonly hasItems: boolean;
}

export interface CodexImportParts extends RolloutFeatures {
  readonly turns: ImportedTurns;
  readonly skipped: SkippedRecords;
  readonly putBlob: (bytes: Uint8Array) => Promise<string>;
}

export class CodexHistoryImport {
  readonly #parts: CodexImportParts;
  readonly #turns: ImportedTurns;
  readonly #usage = new TurnUsage(true);
  #items: ItemRecorder | undefined;
  #model: string | undefined;
  #error: string | undefined;
  /** Whether the agent has the last word in the turn. */
  #isAnswered = false;

  constructor(parts: CodexImportParts) {
    this.#parts = parts;
    this.#turns = parts.turns;
  }

  async add({ timestamp, type, payload }: RolloutLine): Promise<ImportedEvent[]> {
    this.#turns.setTime(timestamp);
    if (payload != null) {
      if (type === "event_msg") await this.#addEvent(payload);
      else if (type === "response_item" && !this.#parts.hasItems) this.#addCall(payload);
      else if (type === "turn_context") this.#model = textAt(payload, "model") ?? this.#model;
      else if (type === "compacted" && this.#turns.hasTurn)
        this.#turns.recorder.notice("info", "context_compacted", "Codex compacted the conversation");
    }
    return this.#turns.take();
  }

  end(): ImportedEvent[] {
    this.#endTurn(this.#parts.hasTasks ? INTERRUPTED_OUTCOME : this.#outcomeWithoutTasks());
    return this.#turns.take();
  }

  async #addEvent(event: JsonRecord): Promise<void> {
    switch (event["type"]) {
      case "task_started":
        return this.#endTurn(INTERRUPTED_OUTCOME);
      case "task_complete":
        return this.#endTurn({ status: "done" });
      case "turn_aborted":
        return this.#endTurn({ status: "cancelled" });
      case "error":
        this.#error = textAt(event, "message") ?? "Codex failed";
        return;
      case "token_count": {
        const { data } = TokenCount.safeParse(event);
        if (data === undefined) return;
        const { total_token_usage: total, last_token_usage: last, model_context_window: size } = data.info;
        return this.#usage.add({ total, last, modelContextWindow: size });
      }
      case "item_completed": {
        const { data } = ItemCompleted.safeParse(event);
        if (data !== undefined) await this.#addItem(data.item);
        return;
      }
    }
    if (!this.#parts.hasItems) await this.#addOldEvent(event);
  }

  async #addItem(item: JsonRecord): Promise<void> {
    if (item["type"] === "UserMessage") {
      const { data } = UserMessageItem.safeParse(item);
      if (data !== undefined) await this.#addInput(data.content);
      return;
    }
    const wire = toWireItem(item);
    if (wire === undefined) return this.#parts.skipped.addUnknown(`item ${String(item["type"])}`);
    const items = (this.#items ??= new ItemRecorder(this.#turns.recorder, false));
    this.#error = undefined;
    this.#isAnswered = wire.type === "agentMessage";
    if (wire.type !== "fileChange") return items.finishItem(wire);
    this.#turns.recorder.startTool(toItemStart(wire));
    this.#turns.recorder.endTool(wire.id, toChangeEnd(wire));
  }

  async #addInput(
    content: readonly {
      readonly type: string;
      readonly text?: string | null | undefined;
      readonly image_url?: string | null | undefined;
    }[],
  ): Promise<void> {
    const input: InputPart[] = [];
    for (const { type, text, image_url: image } of content) {
      if (type === "text" && text != null && text !== "") input.push({ type: "text", text });
      else if (type === "image") input.push(await toImportedImage(image?.split("base64,")[1], this.#parts.putBlob));
      else if (type === "local_image") input.push(await toImportedImage(undefined, this.#parts.putBlob));
    }
    if (input.length === 0) return;
    if (this.#parts.hasTasks && this.#turns.hasTurn) {
      this.#turns.recorder.record({ type: "input.delivered", inputId: newId("inp"), input });
      return;
    }
    this.#endTurn(this.#outcomeWithoutTasks());
    this.#turns.start(input);
  }

  /** Events of versions without items. */
  async #addOldEvent(event: JsonRecord): Promise<void> {
    switch (event["type"]) {
      case "user_message": {
        const images = Array.isArray(event["images"]) ? event["images"] : [];
        const text = { type: "text", text: textAt(event, "message") };
        return this.#addInput([text, ...images.map((image) => ({ type: "image", image_url: String(image) }))]);
      }
      case "agent_message":
        this.#isAnswered = true;
        return this.#turns.recorder.endMessage(textAt(event, "message") ?? "");
      case "agent_reasoning":
        return this.#turns.recorder.addThoughtText(textAt(event, "text") ?? "");
    }
  }

  /** Calls of versions without items. */
  #addCall(payload: JsonRecord): void {
    const { data } = CallItem.safeParse(payload);
    if (data === undefined) return;
    const { type, call_id: id, name } = data;
    if (type === "function_call" || type === "custom_tool_call") {
      const input = parseArguments(data.arguments ?? data.input ?? "");
      const command = toCommand(input);
      const call =
        command === undefined
          ? { name: name ?? type, title: name ?? type, kind: "other" as const, input }
          : toCommandCall(command, undefined);
      this.#isAnswered = false;
      this.#turns.recorder.startTool({ id, ...call });
    } else if (type === "function_call_output" || type === "custom_tool_call_output") {
      this.#turns.recorder.endTool(id, toCallEnd(data.output));
    }
  }

  #endTurn(outcome: TurnOutcome): void {
    if (!this.#turns.hasTurn) return;
    const usage = this.#usage.take(this.#model);
    if (usage !== undefined) this.#turns.recorder.usage(usage);
    const isFailed = outcome.status === "done" && this.#error !== undefined;
    this.#turns.end(isFailed ? { status: "failed", code: "agent_failed", message: this.#error ?? "" } : outcome);
    this.#items = undefined;
    this.#error = undefined;
    this.#isAnswered = false;
  }

  #outcomeWithoutTasks(): TurnOutcome {
    return this.#isAnswered && !this.#turns.hasOpenTools ? { status: "done" } : INTERRUPTED_OUTCOME;
  }
}

/** Does not read the files, because they may have changed since. */
function toChangeEnd({ changes, status }: ItemOf<"fileChange">): ToolEnd {
  const outcome = toItemOutcome(status);
  const text = formatChanges(changes);
  if (outcome !== "ok") return { outcome, text: `the change was not applied: ${text}` };
  return { outcome, text, locations: toChangeLocations(changes), diffs: toChangeDiffs(changes, () => undefined) };
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { text };
  }
}

function toCommand(input: unknown): string | undefined {
  const { command, cmd } = (input ?? {}) as { command?: unknown; cmd?: unknown };
  if (typeof cmd === "string") return cmd;
  if (typeof command === "string") return command;
  if (!Array.isArray(command)) return undefined;
  return command.at(1) === "-lc" ? String(command.at(2)) : command.join(" ");
}

function toCallEnd(output: unknown): ToolEnd {
  const parsed = typeof output === "string" ? parseArguments(output) : output;
  const { output: inner, metadata } = (parsed ?? {}) as { output?: unknown; metadata?: { exit_code?: unknown } };
  const text = typeof inner === "string" ? inner : typeof output === "string" ? output : "";
  const code = metadata?.exit_code;
  return { outcome: typeof code === "number" && code !== 0 ? "failed" : "ok", text };
}

function textAt(record: JsonRecord, name: string): string | undefined {
  const value = record[name];
  return typeof value === "string" ? value : undefined;
}
