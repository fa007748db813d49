/** Where servers' words go: to the session's desk, and until there is one, to a small waiting room. */
import type { AskOptions, EventBody, EventOf, Question, QuestionAnswer, SessionDesk } from "../domain/index.ts";
import { deferred, raceAbort } from "../stdx/index.ts";

type StatusBody = Extract<EventBody, { type: "mcp.status" }>;

/** What waits beside statuses and living processes; the oldest goes first. */
const MAX_WAITING = 200;

export class Outlet {
  readonly #desk = deferred<SessionDesk>();
  #attached: SessionDesk | undefined;
  #statuses = new Map<string, StatusBody>();
  #processes = new Map<number, EventBody>();
  #waiting: EventBody[] = [];

  attach(desk: SessionDesk): void {
    if (this.#attached !== undefined) return;
    this.#attached = desk;
    desk.record(...this.#processes.values(), ...this.#waiting, ...this.#statuses.values());
    this.#processes.clear();
    this.#waiting = [];
    this.#statuses.clear();
    this.#desk.resolve(desk);
  }

  readonly record = (body: EventBody): void => {
    if (this.#attached !== undefined) return this.#attached.record(body);
    if (body.type === "mcp.status") return void this.#statuses.set(body.server, body);
    if (body.type === "process.started") return void this.#processes.set(body.pid, body);
    if (body.type === "process.exited") return void this.#processes.delete(body.pid);
    this.#waiting.push(body);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
  };

  notice(message: string, code: EventOf<"notice">["code"] = "mcp_server"): void {
    this.record({ type: "notice", level: "warning", code, message });
  }

  /** Resolves when there is a desk. */
  get desk(): Promise<SessionDesk> {
    return this.#desk.promise;
  }

  async ask(question: Question, options: AskOptions): Promise<QuestionAnswer> {
    return (this.#attached ?? (await raceAbort(this.desk, options.signal))).ask(question, options);
  }
}
