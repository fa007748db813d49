/** A running Claude Code process, which serves every turn of a session. */
import {
  RookeryError,
  type OfferedCommand,
  type LimitReached,
  type PermissionPolicy,
  type TurnOutcome,
} from "../../domain/index.ts";
import { readRecords, type AgentProcess, type JsonRecord } from "../../programs/index.ts";
import {
  toOfferedCommands,
  type NativeSessionOrigin,
  type LiveProgram,
  type ProgramTurn,
  type TurnRecorder,
} from "../program/index.ts";
import { ControlRequests, GATE_HOOKS, isStrict } from "./control-requests.ts";
import { BackgroundAgents } from "./background-agents.ts";
import { ControlChannel } from "./control-channel.ts";
import { recordsAt, textAt, textsAt } from "./record-fields.ts";
import { ClaudeTurn } from "./claude-turn.ts";
import { readSessionCost, type SessionCost } from "./usage.ts";

export interface LiveClaudeParts {
  readonly process: AgentProcess;
  readonly command: readonly string[];
  readonly how: NativeSessionOrigin;
  readonly nativeId: string;
  /** Whether a hook asks Rookery before every tool call. */
  readonly isStrict: boolean;
  /** Whether it continues its last turn by itself, so that records of that turn arrive before `run`. */
  readonly resumesTurn: boolean;
  /** Whether every record is recorded as `agent.raw` too. */
  readonly raw: boolean;
}

/** Records between two checks whether the log keeps up. */
const RECORDS_PER_CHECK = 256;
/** Output events kept between turns. Beyond that the older half is dropped, and the next turn reports it. */
const MAX_PENDING_EVENTS = 200;
const MAX_LAST_LINES = 10;

export class LiveClaude implements LiveProgram {
  readonly process: AgentProcess;
  readonly command: readonly string[];
  readonly how: NativeSessionOrigin;
  readonly nativeId: string;
  readonly #isStrict: boolean;
  readonly #keepsRaw: boolean;
  readonly #channel: ControlChannel;
  readonly #requests: ControlRequests;
  readonly #background = new BackgroundAgents();
  readonly #lastLines: string[] = [];
  /** Events for the next turn. */
  #pending: ((recorder: TurnRecorder) => void)[] = [];
  #turn: ClaudeTurn | undefined;
  #version: string | undefined;
  #commands: readonly OfferedCommand[] = [];
  #sessionCost: SessionCost | undefined;
  #recordCount = 0;
  /** Whether the program still works on a self-started prompt, which was interrupted. */
  #isWorkingAlone = false;
  /** Records of a turn that the program continues, until `run`. */
  #resumed: JsonRecord[] | undefined;
  /** Whether its output has ended. */
  #isEnding = false;
  #endError: Error | undefined;

  constructor({ process, command, how, nativeId, isStrict, resumesTurn, raw }: LiveClaudeParts) {
    this.#resumed = resumesTurn ? [] : undefined;
    this.process = process;
    this.command = command;
    this.how = how;
    this.nativeId = nativeId;
    this.#isStrict = isStrict;
    this.#keepsRaw = raw;
    this.#sessionCost = how === "new" ? { costUsd: 0 } : undefined;
    this.#channel = new ControlChannel(process.transport);
    this.#requests = new ControlRequests(this.#channel, () => this.#currentTurn?.turn);
    process.transport.start(
      readRecords({
        record: (record) => this.#onRecord(record),
        text: (text) => this.#onText(text),
        dropped: (what) =>
          this.#writeNowOrLater((recorder) =>
            recorder.notice("warning", "output_dropped", `Claude Code printed ${what}`),
          ),
        ended: () => void this.#onEnd(),
        writeFailed: () => undefined, // the exit has the details
      }),
    );
  }

  get version(): string | undefined {
    return this.#version;
  }

  get commands(): readonly OfferedCommand[] {
    return this.#commands;
  }

  get hasEnded(): boolean {
    return this.#isEnding || this.#endError !== undefined;
  }

  /** The last output that was not a record, with the errors of its start. */
  get lastOutput(): string {
    return this.#lastLines.join("\n");
  }

  /** Sends `initialize`. Rejects if the program does not answer. */
  async initialize(signal: AbortSignal): Promise<void> {
    const hooks = this.#isStrict ? GATE_HOOKS : null;
    const greeting = await this.#channel.request({ subtype: "initialize", hooks }, signal);
    if (this.#resumed !== undefined) this.process.transport.pause(); // until `run`
    this.#version = textAt(greeting, "claude_code_version");
    this.#commands = toOfferedCommands(
      recordsAt(greeting, "commands").map(({ name, description, argumentHint: hint }) => ({ name, description, hint })),
    );
  }

  fitsPolicy(permissions: PermissionPolicy): boolean {
    return isStrict(permissions) === this.#isStrict;
  }

  async run(turn: ProgramTurn): Promise<TurnOutcome | LimitReached> {
    if (this.#endError !== undefined) throw this.#endError;
    const claudeTurn = new ClaudeTurn({
      turn,
      channel: this.#channel,
      background: this.#background,
      expectsOtherResult: this.#isWorkingAlone,
      keepsUnknown: !this.#keepsRaw,
      sessionCost: () => this.#sessionCost,
    });
    this.#turn = claudeTurn;
    this.#isWorkingAlone = false;
    for (const write of this.#pending.splice(0)) write(turn.recorder);
    const resumed = this.#resumed ?? [];
    this.#resumed = undefined;
    for (const record of resumed) this.#onRecord(record);
    this.process.transport.resume();
    try {
      return await claudeTurn.run();
    } finally {
      this.#turn = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#endError ??= new RookeryError("agent_exited", "Claude Code was stopped");
    this.#channel.close(this.#endError);
    await this.process.close();
  }

  /** The running turn. Undefined between turns, and after the outcome of the turn is known. */
  get #currentTurn(): ClaudeTurn | undefined {
    return this.#turn?.hasEnded === false ? this.#turn : undefined;
  }

  /** Every JSON record that Claude Code prints arrives here: control messages, records of the running turn, or others. */
  #onRecord(record: JsonRecord): void {
    const isControl = String(record["type"]).startsWith("control_");
    const isKeptForRun = this.#resumed !== undefined && !isControl; // it arrives here again
    if (this.#keepsRaw && !isKeptForRun) this.#writeNowOrLater((recorder) => recorder.raw(record));
    switch (record["type"]) {
      case "control_response":
        return this.#channel.handleResponse(record);
      case "control_request":
        return this.#requests.handleRequest(record);
      case "control_cancel_request":
        return this.#requests.withdrawRequest(record);
    }
    if (this.#resumed !== undefined) return void this.#resumed.push(record);
    if (record["subtype"] === "background_tasks_changed") this.#background.updateTasks(record);
    if (record["subtype"] === "task_notification") this.#background.endTask(record);
    const current = this.#currentTurn;
    if (current === undefined) this.#onIdleRecord(record);
    else this.#onTurnRecord(current, record);
    if (record["type"] === "result") this.#sessionCost = readSessionCost(record) ?? this.#sessionCost;
  }

  #onTurnRecord(current: ClaudeTurn, record: JsonRecord): void {
    current.handleRecord(record);
    this.#recordCount += 1;
    if (this.#recordCount % RECORDS_PER_CHECK !== 0) return;
    const { transport } = this.process;
    transport.pause();
    const resume = () => transport.resume(); // even if the log is broken; the turn reports that itself
    current.turn.ready().then(resume, resume);
  }

  /** Interrupts work that the program starts on its own between turns: nobody could see it or answer its requests. */
  #onIdleRecord(record: JsonRecord): void {
    if (record["type"] === "result") {
      this.#isWorkingAlone = false;
      this.#keepLastOutput(...textsAt(record, "errors"));
    }
    if (record["type"] !== "system" || record["subtype"] !== "init") return;
    this.#isWorkingAlone = true;
    this.#channel.request({ subtype: "interrupt" }).catch(() => undefined); // the exit is handled elsewhere
    const message =
      "Claude Code started working on its own between turns, so Rookery stopped it; send a prompt to continue";
    this.#writeNowOrLater((recorder) => recorder.notice("info", "agent_stopped", message));
  }

  #onText(text: string): void {
    this.#keepLastOutput(text);
    this.#writeNowOrLater((recorder) => recorder.addOutput(text));
  }

  #keepLastOutput(...words: string[]): void {
    this.#lastLines.push(...words);
    this.#lastLines.splice(0, this.#lastLines.length - MAX_LAST_LINES);
  }

  #writeNowOrLater(write: (recorder: TurnRecorder) => void): void {
    if (this.#currentTurn !== undefined) return write(this.#currentTurn.turn.recorder);
    this.#pending.push(write);
    if (this.#pending.length <= MAX_PENDING_EVENTS) return;
    this.#pending = this.#pending.slice(-MAX_PENDING_EVENTS / 2);
    this.#pending.unshift((next) =>
      next.notice(
        "warning",
        "output_dropped",
        "Claude Code printed more between turns than Rookery keeps; the older output was dropped",
      ),
    );
  }

  async #onEnd(): Promise<void> {
    this.#isEnding = true;
    const { exitCode, signal, stderr } = await this.process.close(); // also ends a process that only closed its output
    const how = signal === null ? `with code ${exitCode ?? "?"}` : `by ${signal}`;
    const words = [this.lastOutput, stderr].filter((text) => text.trim() !== "").join("\n");
    this.#endError ??= new RookeryError(
      "agent_exited",
      `Claude Code exited ${how}${words === "" ? "" : `: ${words.trim()}`}`,
    );
    this.#channel.close(this.#endError);
    this.#turn?.fail(this.#endError);
  }
}
