/**
 * Remembers the open request of each task as one line. New requests come from the feed; earlier ones are read once from
 * the log.
 */
import { formatAskedSubject } from "../../questions/request-view.ts";
import { toPendingRequest } from "../../run/pending-request.ts";
import type { ListedTask } from "../interrupted.ts";
import { isTaskEvent } from "../messages.ts";
import { pendingTaskRequests, taskRequestKey } from "../requests.ts";
import type { LoggedEvent, TaskService } from "../service.ts";

/** The subject of each request by `taskRequestKey`. Empty if the log does not have the request. */
export type AskedSubjects = ReadonlyMap<string, string>;

/** The oldest ones are dropped. */
const MAX_SUBJECTS = 200;

export class AskedSubjectReader {
  readonly #onChange: (subjects: AskedSubjects) => void;
  #subjects: AskedSubjects = new Map();
  #isReading = false;

  constructor(onChange: (subjects: AskedSubjects) => void) {
    this.#onChange = onChange;
  }

  /** Call it with each event of the feed. `tasks`: the tasks that are known, whose worktrees shorten paths. */
  addEvent({ event }: LoggedEvent, tasks: readonly ListedTask[]): void {
    if (isTaskEvent(event)) return;
    if (event.type !== "permission.requested" && event.type !== "question.asked") return;
    const { sessionId } = event;
    const task = tasks.find(({ sessions }) => sessions.some(({ id }) => id === sessionId));
    const asked = task && toPendingRequest(event, task.worktree?.path);
    if (asked !== undefined) this.#add([[taskRequestKey({ ...asked, sessionId }), formatAskedSubject(asked)]]);
  }

  /** Reads what the feed did not have, one task at a time. Does nothing while it reads. */
  update(tasks: readonly ListedTask[], service: TaskService, signal: AbortSignal): void {
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#readAll(tasks, service, signal).finally(() => (this.#isReading = false));
  }

  async #readAll(tasks: readonly ListedTask[], service: TaskService, signal: AbortSignal): Promise<void> {
    let room = MAX_SUBJECTS;
    for (const task of tasks) {
      room -= task.waitingFor.length;
      if (signal.aborted || room < 0) return;
      const keys = task.waitingFor.map(taskRequestKey);
      if (keys.every((key) => this.#subjects.has(key))) continue;
      try {
        const found = await pendingTaskRequests(service, task);
        const subjects = found.map(({ sessionId, asked }): [string, string] => [
          taskRequestKey({ ...asked, sessionId }),
          formatAskedSubject(asked),
        ]);
        this.#add([...keys.map((key): [string, string] => [key, ""]), ...subjects]);
      } catch {
        return; // the connection was lost; the next list of tasks leads here again
      }
    }
  }

  #add(subjects: readonly (readonly [string, string])[]): void {
    this.#subjects = new Map([...this.#subjects, ...subjects].slice(-MAX_SUBJECTS));
    this.#onChange(this.#subjects);
  }
}

/** What the task asks first, and how much more. Empty if that is not known. */
export function formatAskedByTask({ waitingFor }: ListedTask, subjects: AskedSubjects): string {
  const [first] = waitingFor;
  const subject = first === undefined ? "" : (subjects.get(taskRequestKey(first)) ?? "");
  const more = waitingFor.length - 1;
  return subject === "" || more < 1 ? subject : `${subject} (and ${more} more)`;
}
