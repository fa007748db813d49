/** Finds the session that a message belongs to, even before the agent has named the session. */
import { RookeryError } from "../../../domain/errors.ts";
import type { IncomingNotification, IncomingRequest } from "../../connection/incoming.ts";
import { getSessionId } from "./request-params.ts";
import type { ClientSession } from "../session.ts";

/** Maximum number of unknown session ids during one setup; messages of further ids are dropped. */
const MAX_EARLY_IDS = 16;
/** Number of ids of former sessions to remember, so that late messages are not assigned to a new session. */
const MAX_GONE_IDS = 1024;

export class SessionRoutes {
  readonly #sessions = new Map<string, ClientSession>();
  readonly #gone = new Set<string>();
  #settingUp: { readonly open: (id: string) => ClientSession; readonly early: Map<string, ClientSession> } | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  get all(): readonly ClientSession[] {
    return [...this.#sessions.values()];
  }

  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  add(session: ClientSession): void {
    this.#gone.delete(session.id);
    this.#sessions.set(session.id, session);
  }

  remove(session: ClientSession): void {
    if (this.#sessions.get(session.id) !== session) return;
    this.#sessions.delete(session.id);
    this.forget(session.id);
  }

  /** Messages of this session are ignored from now on. */
  forget(id: string): void {
    this.#gone.add(id);
    for (const oldest of this.#gone) if (this.#gone.size > MAX_GONE_IDS) this.#gone.delete(oldest);
  }

  isForgotten(id: string): boolean {
    return this.#gone.has(id);
  }

  /**
   * Runs one setup at a time, so that messages with an unknown id can only belong to the session that is being set up.
   * `run` gets a function that creates the session for the id in the agent's answer. `leftover` gets sessions that were
   * created for other ids.
   */
  runSetup<T>(
    open: (id: string) => ClientSession,
    run: (named: (id: string) => ClientSession) => Promise<T>,
    leftover: (session: ClientSession) => void = () => undefined,
  ): Promise<T> {
    const done = this.#queue.then(async () => {
      const early = new Map<string, ClientSession>();
      this.#settingUp = { open, early };
      const end = (): void => {
        this.#settingUp = undefined;
        for (const session of early.values()) leftover(session);
        early.clear();
      };
      const named = (id: string): ClientSession => {
        if (this.has(id))
          throw new RookeryError(
            "agent_failed",
            `the agent created a session with an id that is already in use: ${id}`,
          );
        const session = early.get(id) ?? open(id);
        early.delete(id);
        this.add(session);
        end();
        return session;
      };
      try {
        return await run(named);
      } finally {
        if (this.#settingUp?.early === early) end();
      }
    });
    this.#queue = done.catch(() => undefined);
    return done;
  }

  find(message: IncomingNotification | IncomingRequest): ClientSession | undefined {
    if (this.#sessions.size === 0 && this.#settingUp === undefined) return undefined; // skips parsing messages that belong to nobody
    const id = getSessionId(message.params);
    if (id === undefined) return undefined;
    return this.#sessions.get(id) ?? this.#early(id);
  }

  #early(id: string): ClientSession | undefined {
    const settingUp = this.#settingUp;
    if (settingUp === undefined || this.#gone.has(id)) return undefined;
    const known = settingUp.early.get(id);
    if (known !== undefined || settingUp.early.size >= MAX_EARLY_IDS) return known;
    const session = settingUp.open(id);
    settingUp.early.set(id, session);
    return session;
  }
}
