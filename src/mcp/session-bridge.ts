/** Passes events and questions of servers to the session, and buffers events until the session is attached. */
import type { AskOptions, EventBody, EventOf, Question, QuestionAnswer, BetweenTurnsContext } from "../domain/index.ts";
import { deferred, raceAbort } from "../stdx/index.ts";

type StatusBody = Extract<EventBody, { type: "mcp.status" }>;

/** Limit of buffered events other than statuses and live processes. The oldest is dropped first. */
const MAX_BUFFERED = 200;

export class SessionBridge {
  readonly #session = deferred<BetweenTurnsContext>();
  #attached: BetweenTurnsContext | undefined;
  #statuses = new Map<string, StatusBody>();
  #processes = new Map<number, EventBody>();
  #buffered: EventBody[] = [];

  attach(session: BetweenTurnsContext): void {
    if (this.#attached !== undefined) return;
    this.#attached = session;
    session.record(...this.#processes.values(), ...this.#buffered, ...this.#statuses.values());
    this.#processes.clear();
    this.#buffered = [];
    this.#statuses.clear();
    this.#session.resolve(session);
  }

  readonly record = (body: EventBody): void => {
    if (this.#attached !== undefined) return this.#attached.record(body);
    if (body.type === "mcp.status") return void this.#statuses.set(body.server, body);
    if (body.type === "process.started") return void this.#processes.set(body.pid, body);
    if (body.type === "process.exited") return void this.#processes.delete(body.pid);
    this.#buffered.push(body);
    if (this.#buffered.length > MAX_BUFFERED) this.#buffered.shift();
  };

  notice(message: string, code: EventOf<"notice">["code"] = "mcp_server"): void {
    this.record({ type: "notice", level: "warning", code, message });
  }

  /** Resolves when a session is attached. */
  get session(): Promise<BetweenTurnsContext> {
    return this.#session.promise;
  }

  async ask(question: Question, options: AskOptions): Promise<QuestionAnswer> {
    return (this.#attached ?? (await raceAbort(this.session, options.signal))).ask(question, options);
  }
}
