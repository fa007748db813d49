/** One program in QuickJS: begun, fed with the results of its calls, and at its end in words. */
import variant from "@jitl/quickjs-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from "quickjs-emscripten-core";
import { MOST_CALL_CHARACTERS } from "./limits.ts";
import type { Ending, FromProgram, ProgramData, ToProgram } from "./messages.ts";
import { PRELUDE } from "./prelude.ts";
import { PAGE_BYTES, wasm, type Memory } from "./wasm.ts";

/** Of QuickJS's own stack. A call inside takes more of the thread's stack than of this one: `run.ts` gives it enough. */
const STACK_BYTES = 256 * 1024;
/** So many jobs, and then a look at the time. */
const JOBS = 1_000;
/** What the module asks for at least: 16 MB. */
const INITIAL_PAGES = 256;
/** `JS_EVAL_FLAG_ASYNC`: a script that may wait at its top, and whose value is that of its last expression. */
const ASYNC_SCRIPT = 1 << 7;
/** Of a character: in UTF-8, and as QuickJS keeps it. */
const BYTES_EACH = 5;
const FILE = "program.js";
/** Its types (0.32.0) are those of its CommonJS form, which has it as a member. */
const VARIANT = variant as unknown as (typeof variant)["default"];
const FRAMES = 5;
const MOST_WORDS = 4_000;

/** The whole memory of QuickJS, and how far it may grow. */
interface Room {
  readonly memory: Memory;
  readonly mostBytes: number;
}

/** No handle is given back: the thread, and all memory with it, ends with the program. */
export class Sandbox {
  readonly #data: ProgramData;
  readonly #room: Room;
  readonly #say: (message: FromProgram) => void;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #prelude: QuickJSHandle;
  /** Of the program's value as JSON. */
  #value: QuickJSHandle | undefined;
  #spentMs = 0;
  #isLate = false;
  #printed = 0;
  #unprinted = 0;
  #calls = 0;
  #open = 0;
  #hasEnded = false;

  /** Loads the runtime; runs nothing of the program. */
  static async open(data: ProgramData, say: (message: FromProgram) => void): Promise<Sandbox> {
    const maximum = INITIAL_PAGES + Math.ceil(data.limits.memoryBytes / PAGE_BYTES);
    const memory = new wasm.Memory({ initial: INITIAL_PAGES, maximum });
    const its = newVariant(VARIANT, { wasmModule: data.quickjs, wasmMemory: memory });
    const quickjs = await newQuickJSWASMModuleFromVariant(its);
    return new Sandbox(data, say, quickjs.newRuntime(), { memory, mostBytes: maximum * PAGE_BYTES });
  }

  private constructor(data: ProgramData, say: (message: FromProgram) => void, runtime: QuickJSRuntime, room: Room) {
    this.#data = data;
    this.#room = room;
    this.#say = say;
    this.#runtime = runtime;
    runtime.setMaxStackSize(STACK_BYTES);
    this.#context = runtime.newContext();
    this.#prelude = this.#preluded();
    runtime.setMemoryLimit(data.limits.memoryBytes); // of one thing: QuickJS cannot add up what it has here
  }

  begin(): void {
    this.#slice(() => {
      const { context, program, isScript } = this.#evaluated();
      const wrapped = isScript ? context.true : context.false;
      const conclude = context.getProp(this.#prelude, "conclude");
      this.#value = valueOf(context.callFunction(conclude, context.undefined, program, wrapped));
    });
  }

  settle({ id, result }: ToProgram): void {
    if (this.#hasEnded) return;
    this.#open -= 1;
    this.#slice(() => {
      const context = this.#context;
      // What is handed in is put there by the thread, which does not notice that there is no room.
      if (this.#room.mostBytes - this.#room.memory.buffer.byteLength < result.length * BYTES_EACH) {
        throw new Error("out of memory");
      }
      const settle = context.getProp(this.#prelude, "settle");
      valueOf(context.callFunction(settle, context.undefined, context.newNumber(id), context.newString(result)));
    });
  }

  /** A piece of the program's work, up to where it has nothing left to do. */
  #slice(work: () => void): void {
    const started = performance.now();
    const spent = this.#spentMs;
    const look = (): boolean => {
      this.#spentMs = spent + performance.now() - started;
      this.#isLate ||= this.#spentMs > this.#data.limits.timeMs;
      return this.#isLate;
    };
    this.#runtime.setInterruptHandler(look);
    try {
      work();
      while (this.#runtime.hasPendingJob() && !look()) {
        const { error } = this.#runtime.executePendingJobs(JOBS);
        if (error) throw new Thrown(error);
      }
      look();
      const ending = this.#isLate ? this.#failed(this.#tooLate()) : this.#ending();
      if (ending !== undefined) this.#end(ending);
      else this.#say({ type: "idle" });
    } catch (error) {
      this.#end(this.#failed(this.#wordsOf(error)));
    }
  }

  /** Not before all of its calls have come to something: what it does with them is part of it. */
  #ending(): Ending | undefined {
    const context = this.#context;
    if (this.#value === undefined) return undefined;
    const state = context.getPromiseState(this.#value);
    if (state.type === "rejected") throw new Thrown(state.error);
    if (this.#open > 0) return undefined;
    if (state.type === "pending") {
      return this.#failed(
        "the program waits for a promise that nothing will settle: there are no timers and no events here, only the " +
          "calls of tools",
      );
    }
    const json = context.getString(state.value);
    if (json === "") return { kind: "returned" };
    const most = this.#data.limits.output;
    return json.length <= most
      ? { kind: "returned", value: json }
      : { kind: "returned", value: json.slice(0, most).toWellFormed(), more: json.length - most };
  }

  #end(ending: Ending): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#say({ type: "ended", ending, unprinted: this.#unprinted });
  }

  #failed(words: string): Ending {
    return { kind: "failed", words: words.slice(0, MOST_WORDS).toWellFormed() };
  }

  /** As a script, whose last expression is its value; one that says `return` at its top is the body of a function. */
  #evaluated(): { context: QuickJSContext; program: QuickJSHandle; isScript: boolean } {
    const context = this.#context;
    const { code } = this.#data;
    const script = context.evalCode(code, FILE, ASYNC_SCRIPT);
    if (!script.error) return { context, program: script.value, isScript: true };
    const why = this.#explained(script.error);
    if (why?.name !== "SyntaxError" || why.message !== "return not in a function") throw new Thrown(script.error);
    const body = valueOf(context.evalCode(`(async () => {${code}\n})()`, FILE, 0));
    return { context, program: body, isScript: false };
  }

  #preluded(): QuickJSHandle {
    const context = this.#context;
    const { names, seed } = this.#data;
    const call = context.newFunction("call", (name, input) => {
      return context.newNumber(this.#called(context.getString(name), context.getString(input)));
    });
    const print = context.newFunction("print", (line) => {
      this.#print(JSON.parse(context.getString(line)) as string);
    });
    const prelude = context.unwrapResult(context.evalCode(PRELUDE, "prelude.js", 0));
    const texts = [names, seed].map((value) => context.newString(JSON.stringify(value)));
    return context.unwrapResult(context.callFunction(prelude, context.undefined, [call, print, ...texts]));
  }

  /** What it throws is thrown in the program. */
  #called(name: string, input: string): number {
    const { calls } = this.#data.limits;
    if (this.#calls >= calls) throw new RangeError(`a program may make ${calls} calls, and this one has made them`);
    if (input.length > MOST_CALL_CHARACTERS) throw new RangeError(`the arguments of tools.${name} are too long`);
    const id = this.#calls;
    this.#calls += 1;
    this.#open += 1;
    this.#say({ type: "called", id, name, input });
    return id;
  }

  #print(line: string): void {
    const text = `${line}\n`;
    const shown = text.slice(0, this.#data.limits.output - this.#printed).toWellFormed();
    this.#printed += shown.length;
    this.#unprinted += text.length - shown.length;
    if (shown !== "") this.#say({ type: "printed", text: shown });
  }

  #tooLate(): string {
    const seconds = this.#data.limits.timeMs / 1_000;
    return `the program computed for more than ${seconds} s and was stopped; waiting for tools does not count. Do less in one program`;
  }

  #wordsOf(error: unknown): string {
    if (this.#isLate) return this.#tooLate();
    if (!(error instanceof Thrown)) return this.#broken(error);
    const why = this.#explained(error.value);
    if (why === undefined) return this.#outOfMemory();
    const { name, message, stack = "" } = why;
    if (name === "InternalError" && message === "out of memory") return this.#outOfMemory();
    const frames = stack.split("\n").filter((line) => line.includes(FILE));
    return [name === undefined ? message : `${name}: ${message}`, ...frames.slice(0, FRAMES)].join("\n");
  }

  #outOfMemory(): string {
    return `the program ran out of memory: it may use ${Math.round(this.#data.limits.memoryBytes / 2 ** 20)} MB`;
  }

  /** The runtime itself gave up, and is not to be used any more. */
  #broken(error: unknown): string {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (message.includes("call stack")) return "the program went too deep: something calls itself without an end";
    return message.includes("memory") ? this.#outOfMemory() : `the runtime of the program broke: ${message}`;
  }

  /** Undefined where the program left no room even for that. */
  #explained(error: QuickJSHandle): { name?: string; message: string; stack?: string } | undefined {
    const context = this.#context;
    const told = context.callFunction(context.getProp(this.#prelude, "explain"), context.undefined, error);
    if (told.error) return undefined;
    return JSON.parse(context.getString(told.value)) as { name?: string; message: string; stack?: string };
  }
}

function valueOf(result: ReturnType<QuickJSContext["evalCode"]>): QuickJSHandle {
  if (result.error) throw new Thrown(result.error);
  return result.value;
}

/** What the program threw, on its way out. */
class Thrown extends Error {
  constructor(readonly value: QuickJSHandle) {
    super("the program threw");
  }
}
