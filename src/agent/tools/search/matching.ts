/** Runs a regular expression in a thread of its own: one that never comes to an end must not stop the process. */
import { Worker } from "node:worker_threads";
import { deferred, type Deferred } from "../../../stdx/index.ts";
import { ToolRefusal } from "../tool.ts";

export interface Matches {
  /** Of the lines that match, from 0 on; no more than were asked for. */
  readonly lines: readonly number[];
  readonly count: number;
}

/** Plain JavaScript for a thread that has nothing else: it is the same in the built command and here. */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const expression = new RegExp(workerData.source, workerData.flags);
parentPort.on("message", ({ texts, most }) => {
  parentPort.postMessage(texts.map((text) => {
    const lines = [];
    let count = 0;
    text.split("\\n").forEach((line, at, all) => {
      if (line === "" && at === all.length - 1) return;
      if (!expression.test(line.endsWith("\\r") ? line.slice(0, -1) : line)) return;
      count += 1;
      if (lines.length < most) lines.push(at);
    });
    return { lines, count };
  }));
});
`;
const MEMORY_MB = 256;

/** One at a time. */
export class Matching implements AsyncDisposable {
  readonly #worker: Worker;
  #waiting: Deferred<readonly Matches[]> | undefined;
  #failure: Error | undefined;

  constructor(expression: RegExp) {
    this.#worker = new Worker(THREAD, {
      eval: true,
      workerData: { source: expression.source, flags: expression.flags },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    this.#worker.unref();
    this.#worker.on("message", (matches: readonly Matches[]) => this.#waiting?.resolve(matches));
    this.#worker.on("error", (error) => this.#fail(new ToolRefusal(`the search broke down: ${error.message}`)));
    this.#worker.on("exit", () => this.#fail(new ToolRefusal("the search was ended")));
  }

  /** Rejects when the signal fires; the thread is of no use then. */
  async find(texts: readonly string[], most: number, signal: AbortSignal): Promise<readonly Matches[]> {
    signal.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
    const waiting = deferred<readonly Matches[]>();
    this.#waiting = waiting;
    const stop = (): void => waiting.reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    this.#worker.postMessage({ texts, most });
    return waiting.promise.finally(() => signal.removeEventListener("abort", stop));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#waiting?.reject(this.#failure);
  }
}
