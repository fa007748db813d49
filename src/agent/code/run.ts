/** Runs one program in a thread of its own, so that a busy one holds up nobody and can be ended from outside. */
import { Worker } from "node:worker_threads";
import { messageOf, type ToolResult, type ToolSpec } from "../../domain/index.ts";
import { deferred } from "../../stdx/index.ts";
import { Calls } from "./calls.ts";
import type { CodeLimits } from "./limits.ts";
import type { Ending, FromProgram, ProgramData } from "./messages.ts";
import { takeSlot } from "./slots.ts";

export interface Program {
  readonly code: string;
  /** The same for the same program, also after a crash. */
  readonly seed: string;
  /** What it may call. */
  readonly specs: ReadonlyMap<string, ToolSpec>;
  readonly limits: CodeLimits;
  /** The file of the thread, and what it runs the program in. */
  readonly file: string;
  readonly quickjs: WebAssembly.Module;
  readonly signal: AbortSignal;
  call(name: string, input: unknown): Promise<ToolResult>;
  printed(text: string): void;
}

export interface Ran {
  readonly ending: Ending;
  readonly output: string;
  /** Characters that were printed past the limit. */
  readonly unprinted: number;
  /** How many calls have begun. */
  readonly calls: number;
}

/** Of a machine with much to do. */
const START_MS = 60_000;
/** The program's own clock is looked at by QuickJS; some of its built-in functions do not look. */
const GRACE_MS = 2_000;
/** Deep enough for QuickJS to find by itself that a program went too deep. */
const STACK_MB = 8;
const HEAP_MB = 128;

/**
 * Rejects with the signal's reason, at once, and with what a call was rejected with. Else the calls that have begun have
 * all come to something when it resolves.
 */
export async function runProgram(program: Program): Promise<Ran> {
  const { signal, limits } = program;
  using _slot = await takeSlot(signal);
  const ended = deferred<Ending>();
  const cancelled = deferred<never>();
  cancelled.promise.catch(() => undefined); // whoever waits hears of it
  const worker = startThread(program);
  const clock = new Watch(() => ended.resolve({ kind: "failed", words: tooBusy(limits) }));
  let pieces = 0; // of its work: those that it was given and has not come to the end of
  const work = (): void => {
    pieces += 1;
    if (pieces === 1) clock.start(limits.timeMs + GRACE_MS);
  };
  const worked = (): void => {
    pieces -= 1;
    if (pieces === 0) clock.stop();
    else clock.start(limits.timeMs + GRACE_MS);
  };
  let output = "";
  let unprinted = 0;
  const calls = new Calls({
    specs: program.specs,
    call: (name, input) => program.call(name, input),
    give: (result) => {
      work();
      worker.postMessage(result);
    },
    broke: (error) => cancelled.reject(error),
  });
  const hear = (message: FromProgram): void => {
    switch (message.type) {
      case "began":
        return work();
      case "printed":
        output += message.text;
        return program.printed(message.text);
      case "called":
        return calls.ask(message);
      case "idle":
        return worked();
      case "ended":
        unprinted = message.unprinted;
        return ended.resolve(message.ending);
    }
  };
  const cancel = (): void => cancelled.reject(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  worker.on("message", hear);
  worker.on("error", (error: unknown) => ended.resolve({ kind: "failed", words: threadFailed(error, limits) }));
  worker.on("exit", (code) => ended.resolve({ kind: "failed", words: stopped(`exit code ${code}`) }));
  clock.start(START_MS);
  try {
    const ending = await Promise.race([ended.promise, cancelled.promise]);
    await Promise.race([calls.close(), cancelled.promise]);
    return { ending, output, unprinted, calls: calls.begun };
  } finally {
    signal.removeEventListener("abort", cancel);
    clock.stop();
    calls.close().catch(() => undefined); // it never rejects; nobody waits for what was cancelled
    await worker.terminate();
  }
}

function startThread({ code, seed, specs, limits, file, quickjs }: Program): Worker {
  const data: ProgramData = { quickjs, code, seed, names: [...specs.keys()], limits };
  return new Worker(file, {
    workerData: data,
    env: {},
    execArgv: [],
    // What the runtime may say when it breaks is not for the terminal.
    stdout: true,
    stderr: true,
    resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
  });
}

/** Fires unless it is stopped, or started again, before. */
class Watch {
  readonly #late: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(late: () => void) {
    this.#late = late;
  }

  start(ms: number): void {
    this.stop();
    this.#timer = setTimeout(this.#late, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function tooBusy({ timeMs }: CodeLimits): string {
  return `the program computed for more than ${timeMs / 1_000} s and was stopped; waiting for tools does not count. Do less in one program`;
}

function threadFailed(error: unknown, { memoryBytes }: CodeLimits): string {
  if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") return stopped(messageOf(error));
  return `the program ran out of memory: it may use ${Math.round(memoryBytes / 2 ** 20)} MB`;
}

function stopped(why: string): string {
  return `the runtime of the program stopped unexpectedly (${why}): what the calls before did is done. Try once more, or go on without a program`;
}
