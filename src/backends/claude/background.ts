/** What Claude Code does beside the turn: agents that a turn waits for, and its own prompts when they are done. */
import type { JsonRecord } from "../../programs/index.ts";
import { recordsAt, textAt } from "./reading.ts";

/** Commands in the background may run for ever; agents come to an end, and then the program goes on by itself (2.1.325). */
const AWAITED: ReadonlySet<string> = new Set(["local_agent", "local_workflow"]);

export class Background {
  #running = new Set<string>();
  /** Known to be one that runs in the background; it may have ended since. */
  readonly #awaited = new Set<string>();
  #isOwed = false;

  /** Will the program go on by itself, because of an agent that runs, or of one whose end it has not told its model? */
  get goesOn(): boolean {
    return this.#running.size > 0 || this.#isOwed;
  }

  /** Nothing runs any more: it may be that the model was told of the last end after all. */
  get isUncertain(): boolean {
    return this.#running.size === 0 && this.#isOwed;
  }

  /** A turn begins anew, or another request is made: what was owed is told with it. */
  told(): void {
    this.#isOwed = false;
  }

  /** All of them, each time. */
  changed(record: JsonRecord): void {
    const tasks = recordsAt(record, "tasks").filter((task) => AWAITED.has(textAt(task, "task_type") ?? ""));
    this.#running = new Set(tasks.flatMap((task) => textAt(task, "task_id") ?? []));
    for (const id of this.#running) this.#awaited.add(id);
  }

  ended(record: JsonRecord): void {
    const id = textAt(record, "task_id") ?? "";
    this.#running.delete(id);
    if (this.#awaited.delete(id)) this.#isOwed = textAt(record, "status") !== "stopped";
  }
}
