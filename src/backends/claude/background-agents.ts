/** Tracks Claude Code's background agents, which a turn waits for, and the prompts it starts when they finish. */
import type { JsonRecord } from "../../programs/index.ts";
import { recordsAt, textAt } from "./record-fields.ts";

/** Background commands may never end. Agents do, and then Claude Code continues on its own (2.1.325). */
const AWAITED: ReadonlySet<string> = new Set(["local_agent", "local_workflow"]);

export class BackgroundAgents {
  #running = new Set<string>();
  /** Ids of agents that were seen running; some may have ended. */
  readonly #seen = new Set<string>();
  #isResultPending = false;

  /** Whether Claude Code will continue on its own: an agent runs, or its result has not reached the model yet. */
  get willContinue(): boolean {
    return this.#running.size > 0 || this.#isResultPending;
  }

  /** Whether no agent runs, but the model may not have seen the last result. */
  get isUncertain(): boolean {
    return this.#running.size === 0 && this.#isResultPending;
  }

  /** Call when a turn starts or a request goes out: it carries the pending results to the model. */
  markDelivered(): void {
    this.#isResultPending = false;
  }

  /** Handles the complete list of background tasks. */
  updateTasks(record: JsonRecord): void {
    const tasks = recordsAt(record, "tasks").filter((task) => AWAITED.has(textAt(task, "task_type") ?? ""));
    this.#running = new Set(tasks.flatMap((task) => textAt(task, "task_id") ?? []));
    for (const id of this.#running) this.#seen.add(id);
  }

  endTask(record: JsonRecord): void {
    const id = textAt(record, "task_id") ?? "";
    this.#running.delete(id);
    if (this.#seen.delete(id)) this.#isResultPending = textAt(record, "status") !== "stopped";
  }
}
