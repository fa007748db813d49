/** Converts the output of one `codex exec` turn to events. */
import { newId, type LimitReached, type TurnOutcome } from "../../../domain/index.ts";
import type { JsonRecord } from "../../../programs/index.ts";
import type { ProgramTurn } from "../../program/index.ts";
import { toCodexOutcome } from "../outcome.ts";
import { ItemRecorder } from "../item-recorder.ts";
import type { TurnUsage } from "../usage.ts";
import { ExecEvent, convertExecItem, readTodos, readWarning, type ExecItem } from "./wire.ts";

/** State of the conversation across turns. */
export interface ExecConversation {
  readonly usage: TurnUsage;
  /** Whether Codex has Rookery's MCP server. */
  readonly hasOurs: boolean;
  /** Codex's id of the conversation. */
  nativeId: string | undefined;
}

export class ExecTurn {
  readonly #turn: ProgramTurn;
  readonly #conversation: ExecConversation;
  readonly #items: ItemRecorder;
  readonly #prefix = newId("tool");
  #outcome: TurnOutcome | LimitReached | undefined;

  constructor(turn: ProgramTurn, of: ExecConversation) {
    this.#turn = turn;
    this.#conversation = of;
    this.#items = new ItemRecorder(turn.recorder, of.hasOurs);
  }

  /** Undefined until the program reports it. */
  get outcome(): TurnOutcome | LimitReached | undefined {
    return this.#outcome;
  }

  handleRecord(record: JsonRecord): void {
    const { data: event } = ExecEvent.safeParse(record);
    if (event === undefined || !this.#recordEvent(event)) this.#turn.recorder.raw(record);
  }

  end(outcome: TurnOutcome | LimitReached | undefined): void {
    this.#items.endRunning(outcome?.status === "cancelled" ? "cancelled" : "unknown");
    const report = this.#conversation.usage.take(undefined);
    if (report !== undefined) this.#turn.recorder.usage(report);
  }

  #recordEvent(event: ExecEvent): boolean {
    switch (event.type) {
      case "thread.started":
        this.#conversation.nativeId = event.thread_id;
        this.#turn.connected({ nativeId: event.thread_id });
        return true;
      case "turn.started":
        return true;
      case "turn.completed":
        this.#conversation.usage.addTotal({
          inputTokens: event.usage.input_tokens,
          outputTokens: event.usage.output_tokens,
          cachedInputTokens: event.usage.cached_input_tokens,
          cacheWriteInputTokens: event.usage.cache_write_input_tokens,
          reasoningOutputTokens: event.usage.reasoning_output_tokens,
        });
        this.#outcome = { status: "done" };
        return true;
      case "turn.failed":
        this.#outcome = toExecFailure(event.error.message);
        return true;
      case "error": // turn.failed follows if this was the last attempt
        this.#turn.recorder.notice("warning", "agent_retries", event.message);
        return true;
      case "item.started":
      case "item.updated":
      case "item.completed":
        return this.#onItem(event.type, event.item);
    }
  }

  #onItem(type: "item.started" | "item.updated" | "item.completed", given: ExecItem): boolean {
    const warning = readWarning(given);
    if (warning !== undefined) this.#turn.recorder.notice("warning", "agent_warning", warning);
    const todos = readTodos(given);
    if (todos !== undefined) {
      this.#turn.recorder.plan(
        todos.map(({ text, completed }) => ({ content: text, status: completed ? "completed" : "pending" })),
      );
    }
    const item = convertExecItem(given, `${this.#prefix}-${given.id}`);
    if (item !== undefined && type === "item.started") this.#items.startItem(item);
    if (item !== undefined && type === "item.completed") this.#items.finishItem(item);
    return item !== undefined || warning !== undefined || todos !== undefined;
  }
}

/** Reads the HTTP status from the message, which is all that `exec` reports. */
function toExecFailure(message: string): TurnOutcome | LimitReached {
  const http = /\b(401|403|429|5\d\d)\b/.exec(message)?.[1];
  const info = http === undefined ? undefined : { status: { httpStatusCode: Number(http) } };
  const error = { message, codexErrorInfo: info };
  return toCodexOutcome({ status: "failed", error, limits: undefined, hasLogin: true });
}
