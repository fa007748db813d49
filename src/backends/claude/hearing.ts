/** What Claude Code tells in one turn, from its records into the log. */
import type { EventOf, ToolOutcome } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import type { Telling } from "../program/index.ts";
import { changesOf } from "./diffs.ts";
import { asRecord, contentText, numberAt, recordAt, recordsAt, textAt } from "./reading.ts";
import { toolStart } from "./tools.ts";
import { contextOf } from "./usage.ts";

export class Hearing {
  readonly #tell: Telling;
  /** Agents in the background, which end later than their calls. */
  readonly #launched = new Set<string>();
  #streamed: "text" | "thinking" | undefined;
  #said = false;
  #error: string | undefined;
  #rateLimit: JsonRecord | undefined;
  #context: number | undefined;

  constructor(tell: Telling) {
    this.#tell = tell;
  }

  /** The kind of the last error that the program told as a message of its own. */
  get error(): string | undefined {
    return this.#error;
  }

  /** What that message said of the limits of the account. */
  get rateLimit(): JsonRecord | undefined {
    return this.#rateLimit;
  }

  /** Tokens of the context that the last answer of the model took. */
  get context(): number | undefined {
    return this.#context;
  }

  streamed(record: JsonRecord): void {
    if (isOfAgent(record)) return; // its messages come whole
    const event = recordAt(record, "event");
    switch (event?.["type"]) {
      case "message_start":
        this.#tell.abandonMessage(); // one that was cut off is begun anew
        this.#context = contextOf(recordAt(recordAt(event, "message"), "usage")) ?? this.#context;
        return;
      case "content_block_delta":
        return this.#delta(recordAt(event, "delta"));
      case "message_delta":
        this.#context = contextOf(recordAt(event, "usage")) ?? this.#context;
        return;
    }
  }

  /** Comes for each block of a message, behind the parts that it was streamed in. */
  assistant(record: JsonRecord): void {
    const message = recordAt(record, "message");
    if (record["is_api_error_message"] === true || textAt(record, "error") !== undefined) {
      this.#error = textAt(record, "error");
      this.#rateLimit = recordAt(recordAt(record, "api_error_params"), "rate_limit_info");
      return; // its words are those of the result
    }
    for (const block of recordsAt(message, "content")) this.#block(block, record);
    if (!isOfAgent(record)) this.#streamed = undefined;
  }

  user(record: JsonRecord): void {
    if (record["isReplay"] === true) return;
    const results = recordsAt(recordAt(record, "message"), "content").filter(({ type }) => type === "tool_result");
    for (const result of results) this.#result(result, record);
  }

  /** An agent in the background has come to its end. */
  taskEnded(record: JsonRecord): void {
    const id = textAt(record, "tool_use_id") ?? "";
    if (!this.#launched.delete(id)) return;
    const outcome = TASK_OUTCOMES[textAt(record, "status") ?? ""] ?? "unknown";
    this.#tell.endTool(id, { outcome, text: textAt(record, "summary") ?? "" });
  }

  denied(record: JsonRecord): void {
    const id = textAt(record, "tool_use_id");
    if (id !== undefined) this.#tell.endTool(id, { outcome: "denied", text: textAt(record, "message") ?? "" });
  }

  /** Some answers, of commands such as /context, are told with the result alone. */
  result(text: string | undefined): void {
    this.#tell.endMessageIfAny();
    if (!this.#said && text !== undefined && text.trim() !== "") this.#tell.endMessage(text);
    this.#said = false;
  }

  #delta(delta: JsonRecord | undefined): void {
    switch (delta?.["type"]) {
      case "text_delta":
        this.#streamed = "text";
        return this.#tell.say(textAt(delta, "text") ?? "");
      case "thinking_delta":
        this.#streamed = "thinking";
        return this.#tell.think(textAt(delta, "thinking") ?? "");
    }
  }

  #block(block: JsonRecord, record: JsonRecord): void {
    const agent = textAt(record, "parent_tool_use_id");
    switch (block["type"]) {
      case "text":
        return this.#text(textAt(block, "text") ?? "", agent);
      case "thinking":
        return this.#thinking(textAt(block, "thinking") ?? "", agent);
      case "tool_use":
      case "server_tool_use":
        return this.#call(block);
    }
  }

  #text(text: string, agent: string | undefined): void {
    if (agent !== undefined) return this.#tell.updateTool(agent, { text });
    if (text === "") return;
    this.#said = true;
    this.#tell.endMessage(text);
  }

  #thinking(text: string, agent: string | undefined): void {
    if (agent !== undefined) return this.#tell.updateTool(agent, { text });
    if (this.#streamed !== "thinking") this.#tell.think(text);
  }

  #call(block: JsonRecord): void {
    const [id, name] = [textAt(block, "id"), textAt(block, "name")];
    if (id === undefined || name === undefined) return;
    const input = recordAt(block, "input") ?? {};
    this.#tell.startTool(toolStart(id, name, input));
    if (name === "TodoWrite") this.#tell.plan(recordsAt(input, "todos").flatMap((todo) => planEntry(todo) ?? []));
  }

  #result(result: JsonRecord, record: JsonRecord): void {
    const id = textAt(result, "tool_use_id");
    const call = id === undefined ? undefined : this.#tell.tool(id);
    if (id === undefined || call === undefined) return;
    const text = contentText(result["content"]);
    const details = recordAt(record, "tool_use_result");
    if (textAt(details, "status") === "async_launched") {
      this.#launched.add(id);
      return this.#tell.updateTool(id, { text: "It works in the background." });
    }
    if (result["is_error"] === true) return this.#tell.endTool(id, { outcome: failureOf(id, record), text });
    this.#tell.endTool(id, { outcome: "ok", text, ...changesOf(call.name, asRecord(call.input) ?? {}, details, text) });
  }
}

const TASK_OUTCOMES: Readonly<Record<string, ToolOutcome>> = {
  completed: "ok",
  failed: "failed",
  stopped: "cancelled",
};

/** Said by a sub-agent, and not by the one that was prompted. */
function isOfAgent(record: JsonRecord): boolean {
  return typeof record["parent_tool_use_id"] === "string";
}

function failureOf(id: string, record: JsonRecord): ToolOutcome {
  const meta = recordsAt(record, "tool_result_meta").find((entry) => textAt(entry, "id") === id);
  switch (textAt(meta, "non_execution_kind")) {
    case "user-rejected": // by an interrupt: what we refuse is told before
      return "cancelled";
    case "permission-rule":
      return "denied";
    default:
      return "failed";
  }
}

type PlanEntry = EventOf<"plan.updated">["entries"][number];

function planEntry(todo: JsonRecord): PlanEntry | undefined {
  const content = textAt(todo, "content");
  const status = (["pending", "in_progress", "completed"] as const).find((known) => known === todo["status"]);
  return content === undefined || status === undefined ? undefined : { content, status };
}

/** In words, for a notice. */
export function retryWords(record: JsonRecord): string {
  const status = numberAt(record, "error_status");
  const what = [status, textAt(record, "error")].filter((part) => part !== undefined).join(" ");
  const seconds = Math.round((numberAt(record, "retry_delay_ms") ?? 0) / 1_000);
  const tries = `try ${numberAt(record, "attempt") ?? "?"} of ${numberAt(record, "max_retries") ?? "?"}`;
  return `the model's API failed (${what || "no answer"}): Claude Code tries again in ${seconds} s, ${tries}`;
}
