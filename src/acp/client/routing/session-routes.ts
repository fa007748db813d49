/** Finds the session that a message belongs to, and keeps the messages of sessions that the agent has not named yet. */
import { RookeryError } from "../../../domain/errors.ts";
import type { IncomingNotification, IncomingRequest } from "../../connection/incoming.ts";
import { EarlyNotifications } from "./early-notifications.ts";
import { getSessionId } from "./request-params.ts";
import type { SessionOptions } from "../session-handlers.ts";
import type { ClientSession } from "../session.ts";
import { getSetupKey, SetupQueue } from "./setup-queue.ts";

/** Number of ids of former sessions to remember, so that late messages are not assigned to a new session. */
const MAX_GONE_IDS = 1024;

/** A setup of a session that the agent names in its answer. */
export interface NamedSetup<T> {
  readonly options: SessionOptions;
  /** Sends the request. Calls `named` with the id in the agent's answer, in wire order. */
  readonly run: (named: (id: string, open: () => ClientSession) => ClientSession) => Promise<T>;
}

export class SessionRoutes {
  readonly #setups: SetupQueue;
  readonly #deliver: (notification: IncomingNotification) => void;
  readonly #sessions = new Map<string, ClientSession>();
  readonly #gone = new Set<string>();
  readonly #early = new EarlyNotifications();
  /** Number of early notifications of each session that exceeded the limit. */
  readonly #lost = new Map<string, number>();
  /** Sessions of plain requests that were just answered: the caller may attach to them now. */
  readonly #attachable = new Set<string>();
  #pending: { readonly options: SessionOptions; count: number } | undefined;

  /**
   * `deliver` gets each notification that was kept, in order: when its session is named, or when no setup is pending.
   */
  constructor(deliver: (notification: IncomingNotification) => void = () => undefined, setups = new SetupQueue()) {
    this.#deliver = deliver;
    this.#setups = setups;
  }

  get all(): readonly ClientSession[] {
    return [...this.#sessions.values()];
  }

  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** Adds the session. It gets the notifications that were kept for it. */
  add(session: ClientSession): void {
    const { id } = session;
    this.#gone.delete(id);
    this.#attachable.delete(id);
    this.#sessions.set(id, session);
    const lost = this.#lost.get(id);
    this.#lost.delete(id);
    if (lost !== undefined) session.recordLost(lost);
    for (const notification of this.#early.take(id)) this.#deliver(notification);
  }

  remove(session: ClientSession): void {
    if (this.#sessions.get(session.id) !== session) return;
    this.#sessions.delete(session.id);
    this.forget(session.id);
  }

  /** Messages of this session are ignored from now on. */
  forget(id: string): void {
    this.#gone.delete(id); // moves it to the end
    this.#gone.add(id);
    for (const oldest of this.#gone) if (this.#gone.size > MAX_GONE_IDS) this.#gone.delete(oldest);
  }

  isForgotten(id: string): boolean {
    return this.#gone.has(id);
  }

  /** Messages of this session are no longer ignored. */
  recall(id: string): void {
    this.#gone.delete(id);
  }

  /**
   * Runs a setup of a session that the agent names. Setups that answer requests with the same handlers run at once;
   * others wait, because a request that comes before the name can only be answered in one way.
   */
  runSetup<T>({ options, run }: NamedSetup<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#setups.enter(getSetupKey(options), (leave) => {
        const end = this.#startPending(options);
        const named = (id: string, open: () => ClientSession): ClientSession => {
          if (this.has(id)) {
            const message = `the agent created a session with an id that is already in use: ${id}`;
            throw new RookeryError("agent_failed", message);
          }
          const session = open();
          this.add(session);
          end();
          leave();
          return session;
        };
        const settled = (): void => {
          end();
          leave();
        };
        run(named).finally(settled).then(resolve, reject);
      });
    });
  }

  /**
   * A plain request has created the session. Until the next turn of the event loop, notifications that came before
   * are kept for a caller that attaches to it.
   */
  keepForAttach(id: string): void {
    if (this.has(id) || this.#gone.has(id)) return;
    this.#attachable.add(id);
    setImmediate(() => {
      if (!this.#attachable.delete(id)) return;
      this.#lost.delete(id);
      for (const notification of this.#early.take(id)) this.#deliver(notification);
    });
  }

  /** True if a message may belong to a session of these routes, present, former or future. */
  get isUsed(): boolean {
    return this.#sessions.size > 0 || this.#gone.size > 0 || this.#pending !== undefined;
  }

  find(message: IncomingNotification | IncomingRequest): ClientSession | undefined {
    if (this.#sessions.size === 0) return undefined; // skips parsing messages that belong to nobody
    const id = getSessionId(message.params);
    return id === undefined ? undefined : this.#sessions.get(id);
  }

  /** The handlers for a request of a session that the agent has not named yet. Undefined if no setup is pending. */
  getEarlyOptions(request: IncomingRequest): SessionOptions | undefined {
    return this.#isEarly(getSessionId(request.params)) ? this.#pending?.options : undefined;
  }

  /** Keeps a notification of a session that may be named later. False if no setup is pending. */
  keepEarly(notification: IncomingNotification): boolean {
    if (this.#pending === undefined) return false;
    const id = getSessionId(notification.params);
    if (id === undefined || !this.#isEarly(id)) return false;
    if (this.#early.add(id, notification)) return true;
    const lost = this.#early.take(id).length;
    const isKept = this.#early.add(id, notification);
    this.#lost.set(id, (this.#lost.get(id) ?? 0) + lost + (isKept ? 0 : 1));
    return true;
  }

  #isEarly(id: string | undefined): boolean {
    return id !== undefined && this.#pending !== undefined && !this.#gone.has(id) && !this.#sessions.has(id);
  }

  #startPending(options: SessionOptions): () => void {
    const pending = (this.#pending ??= { options, count: 0 });
    pending.count += 1;
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      pending.count -= 1;
      if (pending.count > 0) return;
      this.#pending = undefined;
      for (const notification of this.#early.takeAll((id) => !this.#attachable.has(id))) this.#deliver(notification);
      for (const id of [...this.#lost.keys()]) if (!this.#attachable.has(id)) this.#lost.delete(id);
    };
  }
}
