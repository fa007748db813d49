/** Runs background commands of one agent. They end with the agent. */
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventBody, ToolContext } from "../../../domain/index.ts";
import {
  DisposeStack,
  deferred,
  killMarked,
  startGroup,
  type Deferred,
  type EnvironmentVariables,
  type ProcessExit,
  type ProcessGroup,
} from "../../../stdx/index.ts";
import { ToolRefusal } from "../tool-refusal.ts";
import { UnreadOutputBuffer, drainOutput, readStreams } from "./command-output.ts";

const MAX_RUNNING = 16;
/** Maximum number of handles, including commands that have ended. The oldest ended command is removed first. */
const MAX_KNOWN = 64;
const INPUT_TIMEOUT_MS = 10_000;

/** The part of a tool call's context that a command needs. */
export interface CommandContext extends Pick<ToolContext, "cwd" | "marker" | "record"> {
  readonly env: EnvironmentVariables;
}

interface BackgroundCommand {
  readonly group: ProcessGroup;
  readonly output: UnreadOutputBuffer;
  exit: ProcessExit | undefined;
  /** Resolves at the next output or at the end. */
  news: Deferred<void>;
  /** Kills the command and every process that left its group. Safe to call twice. */
  stop(): Promise<void>;
  /** Resolves when no process is left and the end is recorded. */
  finished: Promise<void>;
}

export interface CommandOutput {
  /** The output since the last call. */
  readonly text: string;
  /** Undefined while the command runs. */
  readonly exit: ProcessExit | undefined;
}

export class BackgroundCommands implements AsyncDisposable {
  readonly #record: (body: EventBody) => void;
  readonly #known = new Map<string, BackgroundCommand>();
  #count = 0;
  #closed = false;

  /** `record` records events between calls. It must not throw. */
  constructor(record: (body: EventBody) => void) {
    this.#record = record;
  }

  /** Throws a ToolRefusal if no command can start now. */
  requireRoom(): void {
    if (this.#closed) throw new ToolRefusal("no command can start: the session was closed");
    if (this.#running().length >= MAX_RUNNING) {
      throw new ToolRefusal(
        `${MAX_RUNNING} background commands are running, which is the maximum: end one with bash_kill`,
      );
    }
  }

  /** Throws a ToolRefusal if there is no such command. */
  requireCommand(handle: string): void {
    this.#find(handle);
  }

  /** Throws a ToolRefusal if the command accepts no input. */
  requireInput(handle: string): void {
    this.#findInput(handle);
  }

  /** Resolves with the handle once the start is in the log. */
  async start(command: string, context: CommandContext): Promise<string> {
    const { cwd, env, marker } = context;
    this.requireRoom();
    const handle = `bash-${(this.#count += 1)}`;
    await using starting = new DisposeStack();
    const options = { cwd, env, marker, stdin: "pipe" as const };
    // bash reads ~/.bashrc if its input is a socket, as here, because it assumes a remote shell.
    const group = await startGroup("bash", ["--norc", "-c", command], options);
    starting.defer(() => killMarked(group.marker)); // kills processes that left the group
    starting.use(group);
    const output = new UnreadOutputBuffer();
    let stopping: Promise<void> | undefined;
    const stop = (): Promise<void> => (stopping ??= owned[Symbol.asyncDispose]());
    const running: BackgroundCommand = {
      group,
      output,
      exit: undefined,
      news: deferred(),
      stop,
      finished: Promise.resolve(),
    };
    group.child.stdin?.on("error", () => undefined); // the command may close its input at any time
    readStreams(group, (text) => {
      output.add(text);
      notifyWaiters(running);
    });
    const { pid, startTime } = group.identity;
    await context.record({
      type: "process.started",
      pid,
      startTime,
      marker,
      command: command.slice(0, 1_000).toWellFormed(),
    });
    const owned = starting.move();
    this.#known.set(handle, running);
    running.finished = this.#watch(running);
    running.finished.catch(() => undefined); // callers that wait for it handle the rejection
    this.#forget();
    if (this.#closed) await running.stop(); // closed while this command started
    return handle;
  }

  /** The command ends with its shell, as in the foreground. */
  async #watch(running: BackgroundCommand): Promise<void> {
    const { group, output } = running;
    await group.ended;
    await drainOutput(group, output);
    try {
      await running.stop();
    } finally {
      const exit = await group.exited;
      running.exit = exit;
      this.#record({ type: "process.exited", pid: group.identity.pid, ...exit });
      notifyWaiters(running);
    }
  }

  /** Waits up to `waitMs` for new output or for the end. */
  async output(handle: string, waitMs: number, signal: AbortSignal): Promise<CommandOutput> {
    const running = this.#find(handle);
    if (waitMs > 0 && !running.output.hasNew && running.exit === undefined) {
      await raceTime(waitMs, signal, running.news.promise);
    }
    return { text: running.output.take(), exit: running.exit };
  }

  /** Resolves when the command has read the text. `end` closes the input afterwards. */
  async input(handle: string, text: string, end: boolean, signal: AbortSignal): Promise<void> {
    const { group, stdin } = this.#findInput(handle);
    const written = new Promise<"written" | "closed">((resolve) => {
      const done = (error?: Error | null): void => resolve(error ? "closed" : "written");
      if (end) stdin.end(text, done);
      else stdin.write(text, done);
    });
    const how = await raceTime(
      INPUT_TIMEOUT_MS,
      signal,
      Promise.race([written, group.ended.then(() => "closed" as const)]),
    );
    if (how === "late") throw new ToolRefusal(`${handle} is not reading its input; the text is buffered until it does`);
    if (how === "closed") throw new ToolRefusal(`${handle} has closed its input`);
  }

  /** Resolves with the last output when no process is left. */
  async kill(handle: string): Promise<CommandOutput> {
    const running = this.#find(handle);
    await running.stop();
    await running.finished;
    return { text: running.output.take(), exit: running.exit };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running().map((running) => running.stop().then(() => running.finished)));
  }

  #find(handle: string): BackgroundCommand {
    const running = this.#known.get(handle);
    if (running !== undefined) return running;
    const others = [...this.#known.keys()].join(", ");
    const known = others === "" ? "there are none" : `known ones are ${others}`;
    throw new ToolRefusal(
      `there is no background command ${handle}: ${known}. Commands from before the session was reopened have ended`,
    );
  }

  #findInput(handle: string): { readonly group: ProcessGroup; readonly stdin: Writable } {
    const { group, exit } = this.#find(handle);
    const { stdin } = group.child;
    if (exit === undefined && stdin?.writable === true) return { group, stdin };
    throw new ToolRefusal(`${handle} accepts no input: it has ended, or its input was closed`);
  }

  #running(): BackgroundCommand[] {
    return [...this.#known.values()].filter(({ exit }) => exit === undefined);
  }

  #forget(): void {
    for (const [handle, { exit }] of this.#known) {
      if (this.#known.size <= MAX_KNOWN) return;
      if (exit !== undefined) this.#known.delete(handle);
    }
  }
}

/** Resolves with the work, or with "late" after `ms` milliseconds. Rejects with the signal's reason. */
async function raceTime<T>(ms: number, signal: AbortSignal, work: Promise<T>): Promise<T | "late"> {
  const done = new AbortController();
  const late = sleep(ms, "late" as const, { signal: AbortSignal.any([signal, done.signal]) });
  return Promise.race([work, late]).finally(() => done.abort());
}

function notifyWaiters(running: BackgroundCommand): void {
  running.news.resolve(undefined);
  running.news = deferred();
}
