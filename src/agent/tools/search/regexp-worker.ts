/** Runs a regular expression in a worker thread, so that an expression that never ends does not block the process. */
import { Worker } from "node:worker_threads";
import { deferred, type Deferred } from "../../../stdx/index.ts";
import { ToolRefusal } from "../tool-refusal.ts";

export interface FileMatches {
  /** Indexes of the matching lines, starting at 0; at most as many as requested. */
  readonly lines: readonly number[];
  readonly count: number;
}

/** Plain JavaScript, so that it works the same from source and in the built command. */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const expression = new RegExp(workerData.source, workerData.flags);
parentPort.on("message", ({ texts, maxLines }) => {
  parentPort.postMessage(texts.map((text) => {
    const lines = [];
    let count = 0;
    text.split("\\n").forEach((line, at, all) => {
      if (line === "" && at === all.length - 1) return;
      if (!expression.test(line.endsWith("\\r") ? line.slice(0, -1) : line)) return;
      count += 1;
      if (lines.length < maxLines) lines.push(at);
    });
    return { lines, count };
  }));
});
`;
const MEMORY_MB = 256;

/** Searches one batch at a time. */
export class RegExpWorker implements AsyncDisposable {
  readonly #worker: Worker;
  #pending: Deferred<readonly FileMatches[]> | undefined;
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
    this.#worker.on("message", (matches: readonly FileMatches[]) => this.#pending?.resolve(matches));
    this.#worker.on("error", (error) => this.#fail(new ToolRefusal(`the search failed: ${error.message}`)));
    this.#worker.on("exit", () => this.#fail(new ToolRefusal("the search was stopped")));
  }

  /** Rejects when the signal fires. The worker cannot be used afterwards. */
  async find(texts: readonly string[], maxLines: number, signal: AbortSignal): Promise<readonly FileMatches[]> {
    signal.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
    const pending = deferred<readonly FileMatches[]>();
    this.#pending = pending;
    const stop = (): void => pending.reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    this.#worker.postMessage({ texts, maxLines });
    return pending.promise.finally(() => signal.removeEventListener("abort", stop));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#pending?.reject(this.#failure);
  }
}
