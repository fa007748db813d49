/** Remembers logs as the last commit of this process left them, so that the next append needs no read. */
import type { PreparedAppend } from "../admission.ts";
import type { GrownLog } from "./append-plan.ts";
import { sessionTask } from "./append-rows.ts";
import { logKey, type KnownLog } from "./log-facts.ts";

/** Beyond this number, the log that was not written for the longest time is forgotten. */
const MAX_LOGS = 5_000;

export class LogCache {
  readonly #logs = new Map<string, KnownLog>();

  get(key: string): KnownLog | undefined {
    return this.#logs.get(key);
  }

  rememberAll(grown: readonly GrownLog[], taskNumbers: ReadonlyMap<string, number>): void {
    for (const log of grown) this.#add(toKnownLog(log, taskNumbers));
  }

  forgetAll(appends: readonly PreparedAppend[]): void {
    for (const { kind, logId } of appends) this.#logs.delete(logKey(kind, logId));
  }

  #add(log: KnownLog): void {
    const key = logKey(log.kind, log.id);
    this.#logs.delete(key); // moves it to the end
    this.#logs.set(key, log);
    const [oldest] = this.#logs.keys();
    if (oldest !== undefined && this.#logs.size > MAX_LOGS) this.#logs.delete(oldest);
  }
}

function toKnownLog(log: GrownLog, taskNumbers: ReadonlyMap<string, number>): KnownLog {
  const { before, no, head, after } = log;
  const { kind, id } = before;
  const task = kind === "session" ? sessionTask(log, taskNumbers) : null;
  return { kind, id, no, head, state: after, task, fresh: undefined };
}
