/**
 * Runs one program in its own worker thread, so that a busy program blocks nothing and can be terminated from outside.
 */
import { Worker } from "node:worker_threads";
import { messageOf, type ToolResult, type ToolSpec } from "../../domain/index.ts";
import { deferred } from "../../stdx/index.ts";
import { ProgramCalls } from "./program-calls.ts";
import type { CodeLimits } from "./code-limits.ts";
import type { ProgramEnd, ProgramMessage, ProgramData } from "./thread-messages.ts";
import { programSlots } from "./program-slots.ts";

export interface CodeProgram {
  readonly code: string;
  /** Seeds `Math.random`. The same call has the same seed, even after a crash. */
  readonly seed: string;
  /** The tools that it may call, by name. */
  readonly specs: ReadonlyMap<string, ToolSpec>;
  readonly limits: CodeLimits;
  /** The file of the worker thread, and the compiled QuickJS module that runs the program. */
  readonly file: string;
  readonly quickjs: WebAssembly.Module;
  readonly signal: AbortSignal;
  call(name: string, input: unknown): Promise<ToolResult>;
  onPrint(text: string): void;
}

export interface ProgramResult {
  readonly ending: ProgramEnd;
  readonly output: string;
  /** Number of characters that were printed past the limit. */
  readonly unprinted: number;
  /** Number of calls that started. */
  readonly calls: number;
}

/** How long the thread may take to start. Generous, for a busy machine. */
const START_TIMEOUT_MS = 60_000;
/** Added to the time limit: QuickJS checks the limit itself, but not within some of its built-in functions. */
const GRACE_MS = 2_000;
/** Large enough that QuickJS detects a stack overflow before the thread does. */
const STACK_MB = 8;
const HEAP_MB = 128;

/**
 * Rejects immediately with the signal's reason, or with the error of a rejected call. When it resolves, every call that
 * started has ended.
 */
export async function runProgram(program: CodeProgram): Promise<ProgramResult> {
  const { signal, limits } = program;
  using _slot = await programSlots.acquire(signal);
  const ended = deferred<ProgramEnd>();
  const failure = deferred<never>();
  failure.promise.catch(() => undefined); // the race below handles it
  const worker = startThread(program);
  const timer = new RestartableTimer(() => ended.resolve({ kind: "failed", message: formatTimeExceeded(limits) }));
  let pendingWork = 0; // number of messages that the thread has not processed completely
  const startWork = (): void => {
    pendingWork += 1;
    if (pendingWork === 1) timer.start(limits.timeMs + GRACE_MS);
  };
  const finishWork = (): void => {
    pendingWork -= 1;
    if (pendingWork === 0) timer.stop();
    else timer.start(limits.timeMs + GRACE_MS);
  };
  let output = "";
  let unprinted = 0;
  const calls = new ProgramCalls({
    specs: program.specs,
    call: (name, input) => program.call(name, input),
    deliverResult: (result) => {
      startWork();
      worker.postMessage(result);
    },
    fail: (error) => failure.reject(error),
  });
  const handleMessage = (message: ProgramMessage): void => {
    switch (message.type) {
      case "began":
        return startWork();
      case "printed":
        output += message.text;
        return program.onPrint(message.text);
      case "called":
        return calls.request(message);
      case "idle":
        return finishWork();
      case "ended":
        unprinted = message.unprinted;
        return ended.resolve(message.ending);
    }
  };
  const cancel = (): void => failure.reject(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  worker.on("message", handleMessage);
  worker.on("error", (error: unknown) =>
    ended.resolve({ kind: "failed", message: formatThreadFailure(error, limits) }),
  );
  worker.on("exit", (code) => ended.resolve({ kind: "failed", message: formatUnexpectedStop(`exit code ${code}`) }));
  timer.start(START_TIMEOUT_MS);
  try {
    const ending = await Promise.race([ended.promise, failure.promise]);
    await Promise.race([calls.close(), failure.promise]);
    return { ending, output, unprinted, calls: calls.startedCount };
  } finally {
    signal.removeEventListener("abort", cancel);
    timer.stop();
    calls.close().catch(() => undefined); // it never rejects, and a cancelled program does not wait for its calls
    await worker.terminate();
  }
}

function startThread({ code, seed, specs, limits, file, quickjs }: CodeProgram): Worker {
  const data: ProgramData = { quickjs, code, seed, names: [...specs.keys()], limits };
  return new Worker(file, {
    workerData: data,
    env: {},
    execArgv: [],
    // Keeps error output of a broken runtime off the terminal.
    stdout: true,
    stderr: true,
    resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
  });
}

/** A timer that can be stopped and restarted. */
class RestartableTimer {
  readonly #onTimeout: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onTimeout: () => void) {
    this.#onTimeout = onTimeout;
  }

  start(ms: number): void {
    this.stop();
    this.#timer = setTimeout(this.#onTimeout, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function formatTimeExceeded({ timeMs }: CodeLimits): string {
  return `the program computed for more than ${timeMs / 1_000} s and was stopped; waiting for tools does not count. Do less in one program`;
}

function formatThreadFailure(error: unknown, { memoryBytes }: CodeLimits): string {
  if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY")
    return formatUnexpectedStop(messageOf(error));
  return `the program ran out of memory: the limit is ${Math.round(memoryBytes / 2 ** 20)} MB`;
}

function formatUnexpectedStop(why: string): string {
  return `the program's runtime stopped unexpectedly (${why}); the effects of earlier calls remain. Try again, or continue without a program`;
}
