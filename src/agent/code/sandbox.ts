/** Runs one program in QuickJS: starts it, delivers the results of its calls, and reports its end. */
import variant from "@jitl/quickjs-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from "quickjs-emscripten-core";
import { MAX_CALL_LENGTH } from "./code-limits.ts";
import type { ProgramEnd, ProgramMessage, ProgramData, CallResultMessage } from "./thread-messages.ts";
import { PRELUDE } from "./prelude.ts";
import { WASM_PAGE_BYTES, webAssembly, type WasmMemory } from "./wasm.ts";

/**
 * The stack size of QuickJS. A call inside QuickJS needs more of the thread's stack than of this one; `run-program.ts`
 * makes that large enough.
 */
const STACK_BYTES = 256 * 1024;
/** Number of jobs that run between two checks of the time limit. */
const JOBS_PER_CHECK = 1_000;
/** Minimum memory of the module: 16 MB. */
const INITIAL_PAGES = 256;
/** `JS_EVAL_FLAG_ASYNC`: a script that may use `await` at its top level. Its value is that of its last expression. */
const ASYNC_SCRIPT = 1 << 7;
/** Bytes per character, in UTF-8 and in the encoding of QuickJS together. */
const BYTES_PER_CHARACTER = 5;
const PROGRAM_FILE = "program.js";
/** The type definitions (0.32.0) describe the CommonJS form, which has the variant as a member. */
const VARIANT = variant as unknown as (typeof variant)["default"];
const MAX_FRAMES = 5;
const MAX_MESSAGE_LENGTH = 4_000;

/** The memory of QuickJS, and its maximum size. */
interface MemoryLimit {
  readonly memory: WasmMemory;
  readonly maxBytes: number;
}

/** No handle is disposed: the thread ends with the program and frees all memory. */
export class Sandbox {
  readonly #data: ProgramData;
  readonly #memoryLimit: MemoryLimit;
  readonly #send: (message: ProgramMessage) => void;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #prelude: QuickJSHandle;
  /** A promise of the program's value as JSON. */
  #value: QuickJSHandle | undefined;
  #spentMs = 0;
  #isTimedOut = false;
  #printed = 0;
  #unprinted = 0;
  #callCount = 0;
  #pendingCalls = 0;
  #hasEnded = false;

  /** Loads the runtime without running the program. */
  static async open(data: ProgramData, send: (message: ProgramMessage) => void): Promise<Sandbox> {
    const maximum = INITIAL_PAGES + Math.ceil(data.limits.memoryBytes / WASM_PAGE_BYTES);
    const memory = new webAssembly.Memory({ initial: INITIAL_PAGES, maximum });
    const quickjsVariant = newVariant(VARIANT, { wasmModule: data.quickjs, wasmMemory: memory });
    const quickjs = await newQuickJSWASMModuleFromVariant(quickjsVariant);
    return new Sandbox(data, send, quickjs.newRuntime(), { memory, maxBytes: maximum * WASM_PAGE_BYTES });
  }

  private constructor(
    data: ProgramData,
    send: (message: ProgramMessage) => void,
    runtime: QuickJSRuntime,
    memoryLimit: MemoryLimit,
  ) {
    this.#data = data;
    this.#memoryLimit = memoryLimit;
    this.#send = send;
    this.#runtime = runtime;
    runtime.setMaxStackSize(STACK_BYTES);
    this.#context = runtime.newContext();
    this.#prelude = this.#runPrelude();
    runtime.setMemoryLimit(data.limits.memoryBytes); // for a single allocation; the maximum of the memory limits the total
  }

  start(): void {
    this.#runSlice(() => {
      const { context, program, isScript } = this.#evaluate();
      const wrapped = isScript ? context.true : context.false;
      const conclude = context.getProp(this.#prelude, "conclude");
      this.#value = unwrap(context.callFunction(conclude, context.undefined, program, wrapped));
    });
  }

  settle({ id, result }: CallResultMessage): void {
    if (this.#hasEnded) return;
    this.#pendingCalls -= 1;
    this.#runSlice(() => {
      const context = this.#context;
      // The thread itself copies the result into the memory and would not notice that it is full.
      if (
        this.#memoryLimit.maxBytes - this.#memoryLimit.memory.buffer.byteLength <
        result.length * BYTES_PER_CHARACTER
      ) {
        throw new Error("out of memory");
      }
      const settle = context.getProp(this.#prelude, "settle");
      unwrap(context.callFunction(settle, context.undefined, context.newNumber(id), context.newString(result)));
    });
  }

  /** Runs part of the program until it has nothing left to do. */
  #runSlice(work: () => void): void {
    const started = performance.now();
    const spent = this.#spentMs;
    const checkTime = (): boolean => {
      this.#spentMs = spent + performance.now() - started;
      this.#isTimedOut ||= this.#spentMs > this.#data.limits.timeMs;
      return this.#isTimedOut;
    };
    this.#runtime.setInterruptHandler(checkTime);
    try {
      work();
      while (this.#runtime.hasPendingJob() && !checkTime()) {
        const { error } = this.#runtime.executePendingJobs(JOBS_PER_CHECK);
        if (error) throw new ProgramError(error);
      }
      checkTime();
      const ending = this.#isTimedOut ? this.#createFailedEnd(this.#describeTimeExceeded()) : this.#findEnd();
      if (ending !== undefined) this.#end(ending);
      else this.#send({ type: "idle" });
    } catch (error) {
      this.#end(this.#createFailedEnd(this.#describeError(error)));
    }
  }

  /**
   * Returns the end of the program, or undefined while it runs. It ends only after all of its calls have ended, because
   * their handlers are part of it.
   */
  #findEnd(): ProgramEnd | undefined {
    const context = this.#context;
    if (this.#value === undefined) return undefined;
    const state = context.getPromiseState(this.#value);
    if (state.type === "rejected") throw new ProgramError(state.error);
    if (this.#pendingCalls > 0) return undefined;
    if (state.type === "pending") {
      return this.#createFailedEnd(
        "the program waits for a promise that never settles: there are no timers and no events here, only tool calls",
      );
    }
    const json = context.getString(state.value);
    if (json === "") return { kind: "returned" };
    const maxLength = this.#data.limits.output;
    return json.length <= maxLength
      ? { kind: "returned", value: json }
      : { kind: "returned", value: json.slice(0, maxLength).toWellFormed(), more: json.length - maxLength };
  }

  #end(ending: ProgramEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#send({ type: "ended", ending, unprinted: this.#unprinted });
  }

  #createFailedEnd(message: string): ProgramEnd {
    return { kind: "failed", message: message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed() };
  }

  /**
   * Evaluates the code as a script whose value is its last expression, or as the body of a function if it uses `return`
   * at the top level.
   */
  #evaluate(): { context: QuickJSContext; program: QuickJSHandle; isScript: boolean } {
    const context = this.#context;
    const { code } = this.#data;
    const script = context.evalCode(code, PROGRAM_FILE, ASYNC_SCRIPT);
    if (!script.error) return { context, program: script.value, isScript: true };
    const why = this.#explainError(script.error);
    if (why?.name !== "SyntaxError" || why.message !== "return not in a function") throw new ProgramError(script.error);
    const body = unwrap(context.evalCode(`(async () => {${code}\n})()`, PROGRAM_FILE, 0));
    return { context, program: body, isScript: false };
  }

  #runPrelude(): QuickJSHandle {
    const context = this.#context;
    const { names, seed } = this.#data;
    const call = context.newFunction("call", (name, input) => {
      return context.newNumber(this.#startCall(context.getString(name), context.getString(input)));
    });
    const print = context.newFunction("print", (line) => {
      this.#print(JSON.parse(context.getString(line)) as string);
    });
    const prelude = context.unwrapResult(context.evalCode(PRELUDE, "prelude.js", 0));
    const texts = [names, seed].map((value) => context.newString(JSON.stringify(value)));
    return context.unwrapResult(context.callFunction(prelude, context.undefined, [call, print, ...texts]));
  }

  /** Starts a call. An error that it throws is thrown in the program. */
  #startCall(name: string, input: string): number {
    const { calls } = this.#data.limits;
    if (this.#callCount >= calls) throw new RangeError(`a program may make at most ${calls} calls`);
    if (input.length > MAX_CALL_LENGTH) throw new RangeError(`the arguments of tools.${name} are too long`);
    const id = this.#callCount;
    this.#callCount += 1;
    this.#pendingCalls += 1;
    this.#send({ type: "called", id, name, input });
    return id;
  }

  #print(line: string): void {
    const text = `${line}\n`;
    const kept = text.slice(0, this.#data.limits.output - this.#printed).toWellFormed();
    this.#printed += kept.length;
    this.#unprinted += text.length - kept.length;
    if (kept !== "") this.#send({ type: "printed", text: kept });
  }

  #describeTimeExceeded(): string {
    const seconds = this.#data.limits.timeMs / 1_000;
    return `the program computed for more than ${seconds} s and was stopped; waiting for tools does not count. Do less in one program`;
  }

  #describeError(error: unknown): string {
    if (this.#isTimedOut) return this.#describeTimeExceeded();
    if (!(error instanceof ProgramError)) return this.#describeRuntimeFailure(error);
    const why = this.#explainError(error.value);
    if (why === undefined) return this.#describeOutOfMemory();
    const { name, message, stack = "" } = why;
    if (name === "InternalError" && message === "out of memory") return this.#describeOutOfMemory();
    const frames = stack.split("\n").filter((line) => line.includes(PROGRAM_FILE));
    return [name === undefined ? message : `${name}: ${message}`, ...frames.slice(0, MAX_FRAMES)].join("\n");
  }

  #describeOutOfMemory(): string {
    return `the program ran out of memory: the limit is ${Math.round(this.#data.limits.memoryBytes / 2 ** 20)} MB`;
  }

  /** Describes a failure of the runtime itself, which cannot be used afterwards. */
  #describeRuntimeFailure(error: unknown): string {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (message.includes("call stack")) return "the program exceeded the call stack: it probably recurses without end";
    return message.includes("memory") ? this.#describeOutOfMemory() : `the program's runtime failed: ${message}`;
  }

  /** Returns undefined if there is not enough memory left to describe the error. */
  #explainError(error: QuickJSHandle): { name?: string; message: string; stack?: string } | undefined {
    const context = this.#context;
    const explained = context.callFunction(context.getProp(this.#prelude, "explain"), context.undefined, error);
    if (explained.error) return undefined;
    return JSON.parse(context.getString(explained.value)) as { name?: string; message: string; stack?: string };
  }
}

function unwrap(result: ReturnType<QuickJSContext["evalCode"]>): QuickJSHandle {
  if (result.error) throw new ProgramError(result.error);
  return result.value;
}

/** Carries a value that the program threw. */
class ProgramError extends Error {
  constructor(readonly value: QuickJSHandle) {
    super("the program threw");
  }
}
