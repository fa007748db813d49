/**
 * One turn of Claude Code: sends the prompt, records what follows and returns the outcome. Claude Code also starts
 * prompts itself, for example with the result of a background agent. Such a self-started prompt has an `init` and a
 * `result` record like ours, so the turn has to find out which result is its own.
 */
import { randomUUID } from "node:crypto";
import type { LimitReached, TurnOutcome } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import { deferred } from "../../stdx/index.ts";
import type { ProgramTurn, PromptPart } from "../program/index.ts";
import type { BackgroundAgents } from "./background-agents.ts";
import type { ControlChannel } from "./control-channel.ts";
import { ClaudeRecordHandler, formatRetry } from "./record-handler.ts";
import { toLoginFailure, toClaudeOutcome } from "./outcome.ts";
import { numberAt, recordAt, textAt } from "./record-fields.ts";
import { readUsages, type SessionCost } from "./usage.ts";

export interface ClaudeTurnParts {
  readonly turn: ProgramTurn;
  readonly channel: ControlChannel;
  readonly background: BackgroundAgents;
  /** Whether a self-started prompt was interrupted before this turn and its result has not arrived yet. */
  readonly expectsOtherResult: boolean;
  /** Whether to record unknown records as `agent.raw`. False if all records are. */
  readonly keepsUnknown: boolean;
  /** Returns the cost of the session before this turn, if known. */
  readonly sessionCost: () => SessionCost | undefined;
}

/** How long a finished turn waits for Claude Code to prompt its model with the result of a background agent. */
const DELIVERY_MS = 2_000;
/** Claude Code renews a login once, but retries a wrong key for three minutes (2.1.325). */
const MAX_LOGIN_ATTEMPTS = 2;

/** Claude Code continues an interrupted turn before it answers the handshake, or not at all (2.1.325). */
const RESUMPTION_MS = 5_000;
const NO_RESUMPTION: TurnOutcome = {
  status: "failed",
  code: "backend_unsupported",
  message: "Claude Code has no interrupted turn to continue: send a prompt",
};

export class ClaudeTurn {
  readonly turn: ProgramTurn;
  readonly #parts: ClaudeTurnParts;
  readonly #recordHandler: ClaudeRecordHandler;
  readonly #id = randomUUID();
  readonly #outcome = deferred<TurnOutcome | LimitReached>();
  /** Whether our prompt waits until a self-started prompt ends. */
  #isQueued = false;
  /** Whether the next result of an interrupted prompt belongs to a self-started prompt. */
  #expectsOtherResult: boolean;
  /** The outcome of a finished turn that still waits for background agents. */
  #heldOutcome: TurnOutcome | undefined;
  #deliveryTimer: NodeJS.Timeout | undefined;
  /** An outcome that Rookery determined before the program reported one. */
  #earlyOutcome: TurnOutcome | undefined;
  #rateLimit: JsonRecord | undefined;
  #model: string | undefined;
  #hasEnded = false;
  #hasRecord = false;
  #resumptionTimer: NodeJS.Timeout | undefined;

  constructor(parts: ClaudeTurnParts) {
    this.turn = parts.turn;
    this.#parts = parts;
    this.#expectsOtherResult = parts.expectsOtherResult;
    this.#recordHandler = new ClaudeRecordHandler(parts.turn.recorder);
  }

  async run(): Promise<TurnOutcome | LimitReached> {
    const { turn, channel } = this.#parts;
    if (turn.signal.aborted) return { status: "cancelled" };
    const interrupt = () => this.#interrupt();
    turn.signal.addEventListener("abort", interrupt, { once: true });
    try {
      if (turn.prompt.length === 0) this.#awaitResumption();
      else {
        const message = { role: "user", content: toMessageContent(turn.prompt) };
        channel.write({ type: "user", message, parent_tool_use_id: null, session_id: "", uuid: this.#id });
      }
      return await this.#outcome.promise;
    } finally {
      clearTimeout(this.#resumptionTimer);
      clearTimeout(this.#deliveryTimer);
      turn.signal.removeEventListener("abort", interrupt);
    }
  }

  /** Whether the outcome is known. Later records do not belong to this turn. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  fail(error: Error): void {
    this.#hasEnded = true;
    this.#outcome.reject(error);
  }

  handleRecord(record: JsonRecord): void {
    this.#hasRecord = true;
    switch (record["type"]) {
      case "stream_event":
        return this.#recordHandler.handleStreamEvent(record);
      case "assistant":
        return this.#recordHandler.handleAssistant(record);
      case "user":
        return this.#recordHandler.handleUser(record);
      case "system":
        return this.#onSystem(record);
      case "result":
        return this.#onResult(record);
      case "command_lifecycle":
        return this.#onLifecycle(record);
      case "rate_limit_event":
        return this.#onRateLimit(recordAt(record, "rate_limit_info"));
      case "tool_progress":
      case "keep_alive":
        return;
      default:
        this.#keepUnknown(record);
    }
  }

  /** Fails the turn if the program does not continue one: it would wait for a prompt forever. */
  #awaitResumption(): void {
    if (this.#hasRecord) return;
    this.#resumptionTimer = setTimeout(() => {
      if (!this.#hasRecord) this.#end(NO_RESUMPTION);
    }, RESUMPTION_MS).unref();
  }

  #onSystem(record: JsonRecord): void {
    const { recorder } = this.turn;
    switch (record["subtype"]) {
      case "init":
        return this.#onInit(record);
      case "status":
        if (textAt(record, "status") === "requesting") this.#parts.background.markDelivered();
        return;
      case "thinking_tokens":
      case "task_started":
      case "task_updated":
      case "task_progress":
        return;
      case "background_tasks_changed":
        return this.#settle();
      case "task_notification":
        this.#recordHandler.handleTaskEnd(record);
        return this.#settle();
      case "permission_denied":
        return this.#recordHandler.handleDenial(record);
      case "api_retry":
        return this.#onRetry(record);
      case "compact_boundary":
        recorder.notice("info", "context_compacted", "Claude Code compacted the conversation");
        return;
      case "informational":
        recorder.notice("info", "agent_notice", textAt(record, "content") ?? "");
        return;
      default:
        this.#keepUnknown(record);
    }
  }

  #keepUnknown(record: JsonRecord): void {
    if (this.#parts.keepsUnknown) this.turn.recorder.raw(record);
  }

  /** Handles `init`, which also starts the program's own prompts, and new sessions of commands such as /clear. */
  #onInit(record: JsonRecord): void {
    this.#parts.background.markDelivered();
    this.#heldOutcome = undefined;
    clearTimeout(this.#deliveryTimer);
    this.#model = textAt(record, "model");
    const nativeId = textAt(record, "session_id");
    if (nativeId !== undefined) this.turn.connected({ nativeId, version: textAt(record, "claude_code_version") });
  }

  #onLifecycle(record: JsonRecord): void {
    if (textAt(record, "command_uuid") !== this.#id) return;
    const state = textAt(record, "state");
    if (state === "queued") this.#isQueued = true;
    if (state !== "started") return;
    this.#isQueued = false;
    this.#expectsOtherResult = false;
    if (this.turn.signal.aborted) this.#interrupt(); // the first interrupt went to the program's own prompt
  }

  #onRetry(record: JsonRecord): void {
    this.turn.recorder.notice("warning", "api_retry", formatRetry(record));
    const tries = numberAt(record, "attempt") ?? 0;
    if (
      textAt(record, "error") !== "authentication_failed" ||
      tries < MAX_LOGIN_ATTEMPTS ||
      this.#earlyOutcome !== undefined
    )
      return;
    this.#earlyOutcome = toLoginFailure(
      `the API responded with ${numberAt(record, "error_status") ?? "an authentication error"}`,
    );
    this.#interrupt();
  }

  #onRateLimit(info: JsonRecord | undefined): void {
    if (textAt(info, "status") === "rejected") this.#rateLimit = info;
    if (textAt(info, "status") !== "allowed_warning") return;
    const share = numberAt(info, "utilization");
    const much = share === undefined ? "Most" : `${Math.round(share * 100)}%`;
    this.turn.recorder.notice("warning", "limit_near", `${much} of the account's usage limit is used`);
  }

  #onResult(record: JsonRecord): void {
    this.#recordHandler.handleResult(record["is_error"] === true ? undefined : textAt(record, "result"));
    this.#recordUsage(record);
    const isOtherResult = this.#expectsOtherResult && record["subtype"] === "error_during_execution";
    this.#expectsOtherResult &&= !isOtherResult;
    if (this.#isQueued || isOtherResult) return;
    const { error, rateLimit = this.#rateLimit } = this.#recordHandler;
    const reported = { error, rateLimit, now: Date.now() };
    const outcome = this.#earlyOutcome ?? toClaudeOutcome(record, reported);
    if (outcome.status !== "done" || !this.#parts.background.willContinue) return this.#end(outcome);
    this.#heldOutcome = outcome;
    this.#settle();
  }

  /** Ends a finished turn once no background agent keeps it open. */
  #settle(): void {
    const { background } = this.#parts;
    const held = this.#heldOutcome;
    if (held === undefined) return;
    if (!background.willContinue) return this.#end(held);
    if (!background.isUncertain) return;
    clearTimeout(this.#deliveryTimer);
    this.#deliveryTimer = setTimeout(() => this.#end(held), DELIVERY_MS).unref();
  }

  #end(outcome: TurnOutcome | LimitReached): void {
    this.#hasEnded = true;
    this.#outcome.resolve(this.turn.signal.aborted ? { status: "cancelled" } : outcome);
  }

  #recordUsage(record: JsonRecord): void {
    const usages = readUsages(record, this.#parts.sessionCost());
    const main = usages.find(({ model }) => model === this.#model) ?? usages[0];
    const contextUsed = this.#recordHandler.context;
    for (const usage of usages) {
      this.turn.recorder.usage({ ...usage, ...(usage === main && contextUsed !== undefined && { contextUsed }) });
    }
  }

  /** Interrupts the turn. If the result has already arrived, no other follows. */
  #interrupt(): void {
    this.#parts.channel.request({ subtype: "interrupt" }).then(
      () => {
        if (this.#heldOutcome !== undefined) this.#end(this.#heldOutcome);
      },
      () => undefined, // it exited or hangs; both are handled elsewhere
    );
  }
}

function toMessageContent(prompt: readonly PromptPart[]) {
  const [only, ...more] = prompt;
  if (only?.type === "text" && more.length === 0) return only.text;
  return prompt.map((part) =>
    part.type === "text"
      ? part
      : { type: "image", source: { type: "base64", media_type: part.mediaType, data: part.data } },
  );
}
