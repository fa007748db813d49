/** One turn of Claude Code: sends the prompt, records what follows and returns the outcome. */
import { randomUUID } from "node:crypto";
import type { LimitReached, TurnOutcome } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import { deferred } from "../../stdx/index.ts";
import type { ProgramTurn, PromptPart } from "../program/index.ts";
import type { Background } from "./background.ts";
import type { Channel } from "./channel.ts";
import { Hearing, retryWords } from "./hearing.ts";
import { loginMissing, outcomeOf } from "./outcome.ts";
import { numberAt, recordAt, textAt } from "./reading.ts";
import { usagesOf, type Counted } from "./usage.ts";

export interface RunParts {
  readonly turn: ProgramTurn;
  readonly channel: Channel;
  readonly background: Background;
  /** Whether the program still works on an interrupted prompt of its own, whose result is yet to come. */
  readonly isBusy: boolean;
  /** Returns the cost of the session before this turn, if known. */
  readonly counted: () => Counted | undefined;
}

/** How long a finished turn waits for Claude Code to prompt its model with the result of a background agent. */
const OWED_MS = 2_000;
/** Claude Code renews a login once, but retries a wrong key for three minutes (2.1.325). */
const LOGIN_TRIES = 2;

export class Run {
  readonly turn: ProgramTurn;
  readonly #parts: RunParts;
  readonly #hearing: Hearing;
  readonly #id = randomUUID();
  readonly #over = deferred<TurnOutcome | LimitReached>();
  /** Whether the program runs a prompt of its own first. */
  #isQueued = false;
  /** Whether the next interrupted result belongs to a prompt of its own. */
  #isBusy: boolean;
  /** The outcome of a finished turn that still waits for background agents. */
  #held: TurnOutcome | undefined;
  #owed: NodeJS.Timeout | undefined;
  /** An outcome that Rookery determined before the program reported one. */
  #verdict: TurnOutcome | undefined;
  #rateLimit: JsonRecord | undefined;
  #model: string | undefined;
  #isOver = false;

  constructor(parts: RunParts) {
    this.turn = parts.turn;
    this.#parts = parts;
    this.#isBusy = parts.isBusy;
    this.#hearing = new Hearing(parts.turn.tell);
  }

  async play(): Promise<TurnOutcome | LimitReached> {
    const { turn, channel } = this.#parts;
    if (turn.signal.aborted) return { status: "cancelled" };
    const interrupt = () => this.#interrupt();
    turn.signal.addEventListener("abort", interrupt, { once: true });
    try {
      const message = { role: "user", content: contentOf(turn.prompt) };
      channel.write({ type: "user", message, parent_tool_use_id: null, session_id: "", uuid: this.#id });
      return await this.#over.promise;
    } finally {
      clearTimeout(this.#owed);
      turn.signal.removeEventListener("abort", interrupt);
    }
  }

  /** Whether the outcome is known. Later records do not belong to this turn. */
  get isOver(): boolean {
    return this.#isOver;
  }

  failed(error: Error): void {
    this.#isOver = true;
    this.#over.reject(error);
  }

  hear(record: JsonRecord): void {
    switch (record["type"]) {
      case "stream_event":
        return this.#hearing.streamed(record);
      case "assistant":
        return this.#hearing.assistant(record);
      case "user":
        return this.#hearing.user(record);
      case "system":
        return this.#system(record);
      case "result":
        return this.#result(record);
      case "command_lifecycle":
        return this.#lifecycle(record);
      case "rate_limit_event":
        return this.#limited(recordAt(record, "rate_limit_info"));
      case "tool_progress":
      case "keep_alive":
        return;
      default:
        this.turn.tell.raw(record);
    }
  }

  #system(record: JsonRecord): void {
    const { tell } = this.turn;
    switch (record["subtype"]) {
      case "init":
        return this.#begun(record);
      case "status":
        if (textAt(record, "status") === "requesting") this.#parts.background.told();
        return;
      case "thinking_tokens":
      case "task_started":
      case "task_updated":
      case "task_progress":
        return;
      case "background_tasks_changed":
        return this.#settle();
      case "task_notification":
        this.#hearing.taskEnded(record);
        return this.#settle();
      case "permission_denied":
        return this.#hearing.denied(record);
      case "api_retry":
        return this.#retried(record);
      case "compact_boundary":
        tell.notice("info", "context_compacted", "Claude Code compacted the conversation");
        return;
      case "informational":
        tell.notice("info", "agent_notice", textAt(record, "content") ?? "");
        return;
      default:
        tell.raw(record);
    }
  }

  /** Handles `init`, which also starts the program's own prompts, and new sessions of commands such as /clear. */
  #begun(record: JsonRecord): void {
    this.#parts.background.told();
    this.#held = undefined;
    clearTimeout(this.#owed);
    this.#model = textAt(record, "model");
    const nativeId = textAt(record, "session_id");
    if (nativeId !== undefined) this.turn.connected({ nativeId, version: textAt(record, "claude_code_version") });
  }

  #lifecycle(record: JsonRecord): void {
    if (textAt(record, "command_uuid") !== this.#id) return;
    const state = textAt(record, "state");
    if (state === "queued") this.#isQueued = true;
    if (state !== "started") return;
    this.#isQueued = false;
    this.#isBusy = false;
    if (this.turn.signal.aborted) this.#interrupt(); // the first interrupt went to the program's own prompt
  }

  #retried(record: JsonRecord): void {
    this.turn.tell.notice("warning", "api_retry", retryWords(record));
    const tries = numberAt(record, "attempt") ?? 0;
    if (textAt(record, "error") !== "authentication_failed" || tries < LOGIN_TRIES || this.#verdict !== undefined)
      return;
    this.#verdict = loginMissing(
      `the API responded with ${numberAt(record, "error_status") ?? "an authentication error"}`,
    );
    this.#interrupt();
  }

  #limited(info: JsonRecord | undefined): void {
    if (textAt(info, "status") === "rejected") this.#rateLimit = info;
    if (textAt(info, "status") !== "allowed_warning") return;
    const share = numberAt(info, "utilization");
    const much = share === undefined ? "Most" : `${Math.round(share * 100)}%`;
    this.turn.tell.notice("warning", "limit_near", `${much} of the account's usage limit is used`);
  }

  #result(record: JsonRecord): void {
    this.#hearing.result(record["is_error"] === true ? undefined : textAt(record, "result"));
    this.#tellUsage(record);
    const wasBusy = this.#isBusy && record["subtype"] === "error_during_execution";
    this.#isBusy &&= !wasBusy;
    if (this.#isQueued || wasBusy) return; // the result of a prompt of its own
    const { error, rateLimit = this.#rateLimit } = this.#hearing;
    const heard = { error, rateLimit, now: Date.now() };
    const outcome = this.#verdict ?? outcomeOf(record, heard);
    if (outcome.status !== "done" || !this.#parts.background.goesOn) return this.#end(outcome);
    this.#held = outcome;
    this.#settle();
  }

  /** Ends a finished turn once no background agent keeps it open. */
  #settle(): void {
    const { background } = this.#parts;
    const held = this.#held;
    if (held === undefined) return;
    if (!background.goesOn) return this.#end(held);
    if (!background.isUncertain) return;
    clearTimeout(this.#owed);
    this.#owed = setTimeout(() => this.#end(held), OWED_MS).unref();
  }

  #end(outcome: TurnOutcome | LimitReached): void {
    this.#isOver = true;
    this.#over.resolve(this.turn.signal.aborted ? { status: "cancelled" } : outcome);
  }

  #tellUsage(record: JsonRecord): void {
    const usages = usagesOf(record, this.#parts.counted());
    const main = usages.find(({ model }) => model === this.#model) ?? usages[0];
    const contextUsed = this.#hearing.context;
    for (const usage of usages) {
      this.turn.tell.usage({ ...usage, ...(usage === main && contextUsed !== undefined && { contextUsed }) });
    }
  }

  /** Interrupts the turn. If the result is already here, no other one comes. */
  #interrupt(): void {
    this.#parts.channel.request({ subtype: "interrupt" }).then(
      () => {
        if (this.#held !== undefined) this.#end(this.#held);
      },
      () => undefined, // it exited or hangs; both are handled elsewhere
    );
  }
}

function contentOf(prompt: readonly PromptPart[]) {
  const [only, ...more] = prompt;
  if (only?.type === "text" && more.length === 0) return only.text;
  return prompt.map((part) =>
    part.type === "text"
      ? part
      : { type: "image", source: { type: "base64", media_type: part.mediaType, data: part.data } },
  );
}
