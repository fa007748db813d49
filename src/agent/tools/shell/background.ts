/** Commands that go on running while the agent does something else. They belong to it, and end with it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { EventBody } from "../../../domain/index.ts";
import {
  DisposeStack,
  deferred,
  killMarked,
  startGroup,
  type Deferred,
  type ProcessExit,
  type ProcessGroup,
} from "../../../stdx/index.ts";
import { ToolRefusal, type CallContext } from "../tool.ts";
import { Ring, drain, readBoth } from "./output.ts";

const MOST_RUNNING = 16;
/** Also those that have ended; the oldest of them goes first. */
const MOST_KNOWN = 64;
const INPUT_MS = 10_000;

interface Running {
  readonly group: ProcessGroup;
  readonly output: Ring;
  exit: ProcessExit | undefined;
  /** Resolves at the next output or at the end. */
  news: Deferred<void>;
  /** Ends it, and what left its group; once. */
  stop(): Promise<void>;
  /** Resolves when nothing of it is left and its end is told. */
  over: Promise<void>;
}

export interface Told {
  /** What was printed since the last time. */
  readonly text: string;
  /** Undefined while it runs. */
  readonly exit: ProcessExit | undefined;
}

export class Background implements AsyncDisposable {
  readonly #record: (body: EventBody) => void;
  readonly #known = new Map<string, Running>();
  #count = 0;
  #closed = false;

  /** `record` is for what happens between calls; it must not throw. */
  constructor(record: (body: EventBody) => void) {
    this.#record = record;
  }

  /** Resolves with its handle once its start is in the log. */
  async start(command: string, context: CallContext): Promise<string> {
    const { cwd, env, marker } = context;
    if (this.#closed) throw new ToolRefusal("nothing is started any more: the session was let go");
    if (this.#running().length >= MOST_RUNNING) {
      throw new ToolRefusal(`${MOST_RUNNING} commands run in the background, and no more may: end one with bash_kill`);
    }
    const handle = `bash-${(this.#count += 1)}`;
    await using starting = new DisposeStack();
    const options = { cwd, env, marker, stdin: "pipe" as const };
    // A shell whose input is a socket, as ours is, takes itself for a remote one and reads the user's ~/.bashrc.
    const group = await startGroup("bash", ["--norc", "-c", command], options);
    starting.defer(() => killMarked(group.marker)); // what left the group
    starting.use(group);
    const output = new Ring();
    let stopping: Promise<void> | undefined;
    const stop = (): Promise<void> => (stopping ??= owned[Symbol.asyncDispose]());
    const running: Running = { group, output, exit: undefined, news: deferred(), stop, over: Promise.resolve() };
    group.child.stdin?.on("error", () => undefined); // it may close its end at any time
    readBoth(group, (text) => {
      output.add(text);
      tell(running);
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
    running.over = this.#watch(running);
    running.over.catch(() => undefined); // whoever waits for it is told; nobody has to
    this.#forget();
    if (this.#closed) await running.stop(); // it was closed while this one started
    return handle;
  }

  /** The end of the shell is the end of it all, as in the foreground. */
  async #watch(running: Running): Promise<void> {
    const { group, output } = running;
    await group.ended;
    await drain(group, output);
    try {
      await running.stop();
    } finally {
      const exit = await group.exited;
      running.exit = exit;
      this.#record({ type: "process.exited", pid: group.identity.pid, ...exit });
      tell(running);
    }
  }

  /** Waits, if told to, until something was printed or it has ended. */
  async output(handle: string, waitMs: number, signal: AbortSignal): Promise<Told> {
    const running = this.#find(handle);
    if (waitMs > 0 && !running.output.hasNew && running.exit === undefined) {
      await within(waitMs, signal, running.news.promise);
    }
    return { text: running.output.take(), exit: running.exit };
  }

  /** Resolves when it was taken; `end` closes the input behind it. */
  async input(handle: string, text: string, end: boolean, signal: AbortSignal): Promise<void> {
    const { group, exit } = this.#find(handle);
    const { stdin } = group.child;
    if (exit !== undefined || stdin === null || !stdin.writable) {
      throw new ToolRefusal(`${handle} takes no input any more: it has ended, or its input was closed`);
    }
    const taken = new Promise<"taken" | "closed">((resolve) => {
      const done = (error?: Error | null): void => resolve(error ? "closed" : "taken");
      if (end) stdin.end(text, done);
      else stdin.write(text, done);
    });
    const how = await within(INPUT_MS, signal, Promise.race([taken, group.ended.then(() => "closed" as const)]));
    if (how === "late") throw new ToolRefusal(`${handle} does not read its input; what was given waits for it`);
    if (how === "closed") throw new ToolRefusal(`${handle} has closed its input`);
  }

  /** Resolves when nothing of it is left; with what it said last. */
  async kill(handle: string): Promise<Told> {
    const running = this.#find(handle);
    await running.stop();
    await running.over;
    return { text: running.output.take(), exit: running.exit };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running().map((running) => running.stop().then(() => running.over)));
  }

  #find(handle: string): Running {
    const running = this.#known.get(handle);
    if (running !== undefined) return running;
    const others = [...this.#known.keys()].join(", ");
    const there = others === "" ? "there is none" : `there are ${others}`;
    throw new ToolRefusal(
      `there is no background command ${handle}: ${there}. One that was started before the session was opened again has been ended`,
    );
  }

  #running(): Running[] {
    return [...this.#known.values()].filter(({ exit }) => exit === undefined);
  }

  #forget(): void {
    for (const [handle, { exit }] of this.#known) {
      if (this.#known.size <= MOST_KNOWN) return;
      if (exit !== undefined) this.#known.delete(handle);
    }
  }
}

/** Rejects when the signal fires. */
async function within<T>(ms: number, signal: AbortSignal, wanted: Promise<T>): Promise<T | "late"> {
  const over = new AbortController();
  const late = sleep(ms, "late" as const, { signal: AbortSignal.any([signal, over.signal]) });
  return Promise.race([wanted, late]).finally(() => over.abort());
}

function tell(running: Running): void {
  running.news.resolve(undefined);
  running.news = deferred();
}
