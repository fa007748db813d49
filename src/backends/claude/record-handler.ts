/** Converts the records of one Claude Code turn to events: calls the `TurnRecorder`, which records them in the log. */
import type { EventOf, ToolOutcome } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import type { TurnRecorder } from "../program/index.ts";
import { toEditChanges } from "./diffs.ts";
import { asRecord, contentText, numberAt, recordAt, recordsAt, textAt } from "./record-fields.ts";
import { toClaudeToolStart } from "./tools.ts";
import { readContextTokens } from "./usage.ts";

export class ClaudeRecordHandler {
  readonly #recorder: TurnRecorder;
  /** Background agents, which end after their calls. */
  readonly #launched = new Set<string>();
  #streamed: "text" | "thinking" | undefined;
  #hasMessage = false;
  #error: string | undefined;
  #rateLimit: JsonRecord | undefined;
  #context: number | undefined;

  constructor(recorder: TurnRecorder) {
    this.#recorder = recorder;
  }

  /** Kind of the last API error that the program reported. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Rate limit information of that error. */
  get rateLimit(): JsonRecord | undefined {
    return this.#rateLimit;
  }

  /** Context tokens of the model's last response. */
  get context(): number | undefined {
    return this.#context;
  }

  handleStreamEvent(record: JsonRecord): void {
    if (isFromSubagent(record)) return; // messages of sub-agents arrive complete
    const event = recordAt(record, "event");
    switch (event?.["type"]) {
      case "message_start":
        this.#recorder.abandonMessage(); // a message that was cut off starts again
        this.#context = readContextTokens(recordAt(recordAt(event, "message"), "usage")) ?? this.#context;
        return;
      case "content_block_delta":
        return this.#handleDelta(recordAt(event, "delta"));
      case "message_delta":
        this.#context = readContextTokens(recordAt(event, "usage")) ?? this.#context;
        return;
    }
  }

  /** Arrives for each content block, after its stream events. */
  handleAssistant(record: JsonRecord): void {
    const message = recordAt(record, "message");
    if (record["is_api_error_message"] === true || textAt(record, "error") !== undefined) {
      this.#error = textAt(record, "error");
      this.#rateLimit = recordAt(recordAt(record, "api_error_params"), "rate_limit_info");
      return; // the result has the same text
    }
    for (const block of recordsAt(message, "content")) this.#handleBlock(block, record);
    if (!isFromSubagent(record)) this.#streamed = undefined;
  }

  handleUser(record: JsonRecord): void {
    if (record["isReplay"] === true) return;
    const results = recordsAt(recordAt(record, "message"), "content").filter(({ type }) => type === "tool_result");
    for (const result of results) this.#endTool(result, record);
  }

  /** A background agent has ended. */
  handleTaskEnd(record: JsonRecord): void {
    const id = textAt(record, "tool_use_id") ?? "";
    if (!this.#launched.delete(id)) return;
    const outcome = TASK_OUTCOMES[textAt(record, "status") ?? ""] ?? "unknown";
    this.#recorder.endTool(id, { outcome, text: textAt(record, "summary") ?? "" });
  }

  handleDenial(record: JsonRecord): void {
    const id = textAt(record, "tool_use_id");
    if (id !== undefined) this.#recorder.endTool(id, { outcome: "denied", text: textAt(record, "message") ?? "" });
  }

  /** Records the text of a result if no message had it, as for commands such as /context. */
  handleResult(text: string | undefined): void {
    this.#recorder.endMessageIfAny();
    if (!this.#hasMessage && text !== undefined && text.trim() !== "") this.#recorder.endMessage(text);
    this.#hasMessage = false;
  }

  #handleDelta(delta: JsonRecord | undefined): void {
    switch (delta?.["type"]) {
      case "text_delta":
        this.#streamed = "text";
        return this.#recorder.addMessageText(textAt(delta, "text") ?? "");
      case "thinking_delta":
        this.#streamed = "thinking";
        return this.#recorder.addThoughtText(textAt(delta, "thinking") ?? "");
    }
  }

  #handleBlock(block: JsonRecord, record: JsonRecord): void {
    const agent = textAt(record, "parent_tool_use_id");
    switch (block["type"]) {
      case "text":
        return this.#handleText(textAt(block, "text") ?? "", agent);
      case "thinking":
        return this.#handleThinking(textAt(block, "thinking") ?? "", agent);
      case "tool_use":
      case "server_tool_use":
        return this.#startTool(block);
    }
  }

  #handleText(text: string, agent: string | undefined): void {
    if (agent !== undefined) return this.#recorder.updateTool(agent, { text });
    if (text === "") return;
    this.#hasMessage = true;
    this.#recorder.endMessage(text);
  }

  #handleThinking(text: string, agent: string | undefined): void {
    if (agent !== undefined) return this.#recorder.updateTool(agent, { text });
    if (this.#streamed !== "thinking") this.#recorder.addThoughtText(text);
  }

  #startTool(block: JsonRecord): void {
    const [id, name] = [textAt(block, "id"), textAt(block, "name")];
    if (id === undefined || name === undefined) return;
    const input = recordAt(block, "input") ?? {};
    this.#recorder.startTool(toClaudeToolStart(id, name, input));
    if (name === "TodoWrite") this.#recorder.plan(recordsAt(input, "todos").flatMap((todo) => toPlanEntry(todo) ?? []));
  }

  #endTool(result: JsonRecord, record: JsonRecord): void {
    const id = textAt(result, "tool_use_id");
    const call = id === undefined ? undefined : this.#recorder.tool(id);
    if (id === undefined || call === undefined) return;
    const text = contentText(result["content"]);
    const details = recordAt(record, "tool_use_result");
    if (textAt(details, "status") === "async_launched") {
      this.#launched.add(id);
      return this.#recorder.updateTool(id, { text: "Running in the background." });
    }
    if (result["is_error"] === true)
      return this.#recorder.endTool(id, { outcome: toFailedToolOutcome(id, record), text });
    this.#recorder.endTool(id, {
      outcome: "ok",
      text,
      ...toEditChanges(call.name, asRecord(call.input) ?? {}, details, text),
    });
  }
}

const TASK_OUTCOMES: Readonly<Record<string, ToolOutcome>> = {
  completed: "ok",
  failed: "failed",
  stopped: "cancelled",
};

/** Whether a sub-agent sent the record. */
function isFromSubagent(record: JsonRecord): boolean {
  return typeof record["parent_tool_use_id"] === "string";
}

function toFailedToolOutcome(id: string, record: JsonRecord): ToolOutcome {
  const meta = recordsAt(record, "tool_result_meta").find((entry) => textAt(entry, "id") === id);
  switch (textAt(meta, "non_execution_kind")) {
    case "user-rejected": // by an interrupt; Rookery's own refusals are recorded earlier
      return "cancelled";
    case "permission-rule":
      return "denied";
    default:
      return "failed";
  }
}

type PlanEntry = EventOf<"plan.updated">["entries"][number];

function toPlanEntry(todo: JsonRecord): PlanEntry | undefined {
  const content = textAt(todo, "content");
  const status = (["pending", "in_progress", "completed"] as const).find((known) => known === todo["status"]);
  return content === undefined || status === undefined ? undefined : { content, status };
}

/** Formats an API retry for a notice. */
export function formatRetry(record: JsonRecord): string {
  const status = numberAt(record, "error_status");
  const what = [status, textAt(record, "error")].filter((part) => part !== undefined).join(" ");
  const seconds = Math.round((numberAt(record, "retry_delay_ms") ?? 0) / 1_000);
  const tries = `attempt ${numberAt(record, "attempt") ?? "?"} of ${numberAt(record, "max_retries") ?? "?"}`;
  return `the model API failed (${what || "no response"}); Claude Code retries in ${seconds} s (${tries})`;
}
