/** A running Claude Code process, which serves every turn of a session. */
import { RookeryError, type LimitReached, type PermissionPolicy, type TurnOutcome } from "../../domain/index.ts";
import { readRecords, type AgentProcess, type JsonRecord } from "../../programs/index.ts";
import type { How, LiveProgram, ProgramTurn, Telling } from "../program/index.ts";
import { Asking, GATED, isStrict } from "./asking.ts";
import { Background } from "./background.ts";
import { Channel } from "./channel.ts";
import { textAt, textsAt } from "./reading.ts";
import { Run } from "./run.ts";
import { countedBy, type Counted } from "./usage.ts";

export interface LiveParts {
  readonly process: AgentProcess;
  readonly command: readonly string[];
  readonly how: How;
  readonly nativeId: string;
  /** Whether a hook asks Rookery before every tool call. */
  readonly isStrict: boolean;
}

/** Records between two checks whether the log keeps up. */
const RECORDS = 256;
/** Output events kept between turns. Beyond that the older half is dropped, and the next turn reports it. */
const KEPT_LINES = 200;
const LAST_LINES = 10;

export class LiveClaude implements LiveProgram {
  readonly process: AgentProcess;
  readonly command: readonly string[];
  readonly how: How;
  readonly nativeId: string;
  readonly #isStrict: boolean;
  readonly #channel: Channel;
  readonly #asking: Asking;
  readonly #background = new Background();
  readonly #lastWords: string[] = [];
  /** Events for the next turn. */
  #kept: ((tell: Telling) => void)[] = [];
  #run: Run | undefined;
  #version: string | undefined;
  #counted: Counted | undefined;
  #records = 0;
  /** Whether the program works on a prompt of its own. */
  #isBusy = false;
  /** Whether its output has ended. */
  #isEnding = false;
  #over: Error | undefined;

  constructor({ process, command, how, nativeId, isStrict }: LiveParts) {
    this.process = process;
    this.command = command;
    this.how = how;
    this.nativeId = nativeId;
    this.#isStrict = isStrict;
    this.#counted = how === "new" ? { costUsd: 0 } : undefined;
    this.#channel = new Channel(process.transport);
    this.#asking = new Asking(this.#channel, () => this.#current?.turn);
    process.transport.start(
      readRecords({
        record: (record) => this.#hear(record),
        text: (text) => this.#print(text),
        dropped: (what) =>
          this.#tell((tell) => tell.notice("warning", "output_dropped", `Claude Code printed ${what}`)),
        ended: () => void this.#ended(),
        writeFailed: () => undefined, // the exit has the details
      }),
    );
  }

  get version(): string | undefined {
    return this.#version;
  }

  get isOver(): boolean {
    return this.#isEnding || this.#over !== undefined;
  }

  /** The last output that was not a record, with the errors of its start. */
  get lastWords(): string {
    return this.#lastWords.join("\n");
  }

  /** Sends `initialize`. Rejects if the program does not answer. */
  async greet(signal: AbortSignal): Promise<void> {
    const hooks = this.#isStrict ? GATED : null;
    const greeting = await this.#channel.request({ subtype: "initialize", hooks }, signal);
    this.#version = textAt(greeting, "claude_code_version");
  }

  suits(permissions: PermissionPolicy): boolean {
    return isStrict(permissions) === this.#isStrict;
  }

  async run(turn: ProgramTurn): Promise<TurnOutcome | LimitReached> {
    if (this.#over !== undefined) throw this.#over;
    const run = new Run({
      turn,
      channel: this.#channel,
      background: this.#background,
      isBusy: this.#isBusy,
      counted: () => this.#counted,
    });
    this.#run = run;
    this.#isBusy = false;
    for (const tell of this.#kept.splice(0)) tell(turn.tell);
    try {
      return await run.play();
    } finally {
      this.#run = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over ??= new RookeryError("agent_exited", "Claude Code was stopped");
    this.#channel.close(this.#over);
    await this.process.close();
  }

  get #current(): Run | undefined {
    return this.#run?.isOver === false ? this.#run : undefined;
  }

  #hear(record: JsonRecord): void {
    switch (record["type"]) {
      case "control_response":
        return this.#channel.answered(record);
      case "control_request":
        return this.#asking.asked(record);
      case "control_cancel_request":
        return this.#asking.withdrawn(record);
    }
    if (record["subtype"] === "background_tasks_changed") this.#background.changed(record);
    if (record["subtype"] === "task_notification") this.#background.ended(record);
    const run = this.#current;
    if (run === undefined) this.#outside(record);
    else this.#inside(run, record);
    if (record["type"] === "result") this.#counted = countedBy(record) ?? this.#counted;
  }

  #inside(run: Run, record: JsonRecord): void {
    run.hear(record);
    this.#records += 1;
    if (this.#records % RECORDS !== 0) return;
    const { transport } = this.process;
    transport.pause();
    const resume = () => transport.resume(); // also if the log is broken; the turn reports that itself
    run.turn.ready().then(resume, resume);
  }

  /** Interrupts work that the program starts on its own between turns: nobody could see it or answer its requests. */
  #outside(record: JsonRecord): void {
    if (record["type"] === "result") {
      this.#isBusy = false;
      this.#lastSaid(...textsAt(record, "errors"));
    }
    if (record["type"] !== "system" || record["subtype"] !== "init") return;
    this.#isBusy = true;
    this.#channel.request({ subtype: "interrupt" }).catch(() => undefined); // the exit is handled elsewhere
    const message =
      "Claude Code started working on its own between turns, so Rookery stopped it; send a prompt to continue";
    this.#tell((tell) => tell.notice("info", "agent_stopped", message));
  }

  #print(text: string): void {
    this.#lastSaid(text);
    this.#tell((tell) => tell.print(text));
  }

  #lastSaid(...words: string[]): void {
    this.#lastWords.push(...words);
    this.#lastWords.splice(0, this.#lastWords.length - LAST_LINES);
  }

  #tell(tell: (tell: Telling) => void): void {
    if (this.#current !== undefined) return tell(this.#current.turn.tell);
    this.#kept.push(tell);
    if (this.#kept.length <= KEPT_LINES) return;
    this.#kept = this.#kept.slice(-KEPT_LINES / 2);
    this.#kept.unshift((next) =>
      next.notice(
        "warning",
        "output_dropped",
        "Claude Code printed more between turns than Rookery keeps; the older output was dropped",
      ),
    );
  }

  async #ended(): Promise<void> {
    this.#isEnding = true;
    const { exitCode, signal, stderr } = await this.process.close(); // also ends a process that only closed its output
    const how = signal === null ? `with code ${exitCode ?? "?"}` : `by ${signal}`;
    const words = [this.lastWords, stderr].filter((text) => text.trim() !== "").join("\n");
    this.#over ??= new RookeryError(
      "agent_exited",
      `Claude Code exited ${how}${words === "" ? "" : `: ${words.trim()}`}`,
    );
    this.#channel.close(this.#over);
    this.#run?.failed(this.#over);
  }
}
