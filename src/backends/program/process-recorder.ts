/** Records the start and the exit of a program's process. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TurnContext } from "../../domain/index.ts";
import { formatShellCommand, type AgentProcess } from "../../programs/index.ts";

const MAX_COMMAND_LENGTH = 2_000;
/** How long to wait for the exit status of a process that has ended. */
const EXIT_MS = 1_000;

export class ProcessRecorder {
  readonly #sessionMarker: string;
  #current: AgentProcess | undefined;
  #isStartRecorded = false;

  constructor(sessionMarker: string) {
    this.#sessionMarker = sessionMarker;
  }

  /** The process of the program. Undefined if it has none. */
  get current(): AgentProcess | undefined {
    return this.#current;
  }

  /** Call when the program has started, with the process that serves all turns, if there is one. */
  replace(process: AgentProcess | undefined): void {
    this.#current = process;
    this.#isStartRecorded = false;
  }

  recordStart({ log }: Pick<TurnContext, "log">, process: AgentProcess, command: readonly string[]): void {
    this.#current = process;
    this.#isStartRecorded = true;
    const { pid, startTime } = process.identity;
    const text = formatShellCommand(command).slice(0, MAX_COMMAND_LENGTH);
    log.record({ type: "process.started", pid, startTime, marker: this.#sessionMarker, command: text });
  }

  /** Call when the process has ended or is ending. Does nothing unless its start was recorded. */
  async recordExit({ log }: Pick<TurnContext, "log">): Promise<void> {
    const process = this.#current;
    const isRecorded = this.#isStartRecorded;
    this.replace(undefined);
    if (process === undefined || !isRecorded) return;
    const exit = await Promise.race([process.exit(), sleep(EXIT_MS, undefined, { ref: false })]);
    if (exit === undefined) return;
    const { exitCode, signal } = exit;
    log.record({ type: "process.exited", pid: process.identity.pid, exitCode, signal });
  }
}
