/** The sessions that this server drives. Opens a session on its first prompt and releases it when it is idle. */
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError, isRookeryError, type ConversationMessage, type InputPart } from "../../domain/index.ts";
import type { OpenSessionOptions } from "../../rookery.ts";
import {
  findRunningTask,
  isTransientFailure,
  retryPause,
  waitForTurnEnd,
  type Changes,
  type Deliver,
  type Session,
  type Turn,
} from "../../session/index.ts";
import { expectMadeEvent } from "../../stdx/request-key.ts";
import type { ServedRookery } from "./served-rookery.ts";

/** Idle sessions beyond this number are released, least recently used first. */
const MAX_IDLE = 16;
const IDLE_MS = 5 * 60_000;
const IDLE_CHECK_MS = 30_000;
/** Each busy session may be a running program. At this limit, prompts for other sessions are rejected. */
const MAX_BUSY = 256;

export interface StartedTurn {
  readonly turnId: string;
  /** The sequence number of its `turn.started` event. All events of the turn follow it. */
  readonly seq: number;
}

interface DrivenSession {
  readonly session: Promise<Session>;
  /** Set when the session is open. */
  open?: Session;
  usedAt: number;
  /** Number of requests that are using the session now. */
  users: number;
}

export class DrivenSessions implements AsyncDisposable {
  readonly #rookery: ServedRookery;
  readonly #held = new Map<string, DrivenSession>();
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #maxBusy: number;
  #closed = false;

  constructor(rookery: ServedRookery, { maxBusy = MAX_BUSY }: { readonly maxBusy?: number } = {}) {
    this.#rookery = rookery;
    this.#maxBusy = maxBusy;
    this.#timer = setInterval(() => this.#releaseIdle(), IDLE_CHECK_MS).unref();
  }

  get count(): number {
    return this.#held.size;
  }

  /** Opens a new session and returns its id. Rejects with the errors of `Rookery.openSession`. */
  async open(options: OpenSessionOptions): Promise<string> {
    this.#refuseIfClosed();
    const session = await this.#rookery.openSession({ ...options, attended: true });
    const held = { session: Promise.resolve(session), open: session, usedAt: Date.now(), users: 0 };
    this.#held.set(session.id, held);
    this.#continueIfLost(held, session);
    if (this.#closed) await this.#remove(session.id);
    this.#releaseIdle();
    return session.id;
  }

  /** Starts a turn. Resolves when its `turn.started` event is durable. */
  prompt(id: string, input: string | readonly InputPart[]): Promise<StartedTurn> {
    return this.#start(id, async (session) => session.prompt(await expandInput(session, input)));
  }

  /** Continues the last turn without a prompt, like `prompt`. Rejects with the errors of `Session.resume`. */
  resume(id: string): Promise<StartedTurn> {
    return this.#start(id, (session) => Promise.resolve(session.resume()));
  }

  #start(id: string, startTurn: (session: Session) => Promise<Turn>): Promise<StartedTurn> {
    return this.#use(id, async (session) => {
      const turn = await startTurn(session);
      expectMadeEvent((event) => event.type === "turn.started" && "turnId" in event && event.turnId === turn.id);
      for await (const { type, turnId, seq } of turn) {
        if (type === "turn.started" && turnId === turn.id) return { turnId: turn.id, seq };
      }
      throw new RookeryError(
        "store_closed",
        `the store was closed before turn ${turn.id} started: try again after the server restarts`,
      );
    });
  }

  /**
   * Queues an input and resolves with its id. If another process drives the session, the session belongs to a running
   * task, or its folder is on another host, the input reaches it through the log.
   */
  async queue(id: string, input: string | readonly InputPart[], deliver: Deliver = "follow_up"): Promise<string> {
    const { store } = this.#rookery;
    if ((await findRunningTask(store, id)) !== undefined) return this.#rookery.tell(id, input, { deliver });
    try {
      return await this.#use(id, async (session) => {
        const parts = await expandInput(session, input);
        expectMadeEvent((event, logId) => logId === id && isQueued(event, parts));
        return session.queue(parts, { deliver });
      });
    } catch (error) {
      if (!isRookeryError(error, "session_in_use") && !isRookeryError(error, "other_host")) throw error;
      return this.#rookery.tell(id, input, { deliver });
    }
  }

  /** Changes the agent, model, folder or policy. Resolves when the change is durable, after a running turn ends. */
  change(id: string, changes: Changes): Promise<void> {
    return this.#use(id, (session) => {
      expectMadeEvent((event, logId) => logId === id && isChange(event, changes));
      return session.change(changes);
    });
  }

  replaceConversation(id: string, messages: readonly ConversationMessage[]): Promise<void> {
    expectMadeEvent(({ type }, logId) => type === "conversation.replaced" && logId === id);
    return this.#use(id, (session) => session.replaceConversation(messages));
  }

  /**
   * Cancels the running turn, if there is one, and resolves when its end is durable. Rejects with `session_in_use` if
   * the session belongs to a task, or if another process drives it and does not end the turn within 20 s.
   */
  async cancel(id: string): Promise<void> {
    const session = await this.#held.get(id)?.session.catch(() => undefined); // another process may drive it
    if (session !== undefined && !session.isBroken) {
      expectMadeEvent(({ type }, logId) => type === "turn.ended" && logId === id);
      return session.cancel();
    }
    expectMadeEvent(({ type }, logId) => type === "turn.cancel_requested" && logId === id);
    const turnId = await this.#rookery.cancelTurn(id);
    if (turnId !== undefined) await waitForTurnEnd(this.#rookery.store, id, turnId);
  }

  /**
   * Finishes a cancellation that an earlier server requested. Does nothing if the turn has ended, even if another
   * one runs. Rejects like `cancel`.
   */
  async finishCancel(id: string, turnId: string): Promise<void> {
    const session = await this.#held.get(id)?.session.catch(() => undefined);
    if (session !== undefined && !session.isBroken) {
      if (session.state.turn?.id === turnId) await session.cancel();
      return;
    }
    if ((await this.#rookery.cancelTurn(id, { turnId })) === undefined) return;
    await waitForTurnEnd(this.#rookery.store, id, turnId);
  }

  async end(id: string, reason: string | undefined): Promise<void> {
    let ending: Promise<void> | undefined;
    await this.#remove(id, (session) => (ending = session.end(reason)));
    await (ending ?? this.#rookery.endSession(id, reason)); // the session is not open in this server
  }

  /** Releases an idle session so that another process can drive it. Rejects with `session_in_use` if it is busy. */
  async release(id: string): Promise<void> {
    const held = this.#held.get(id);
    if (held !== undefined && !isIdle(held)) {
      const fix = "wait for the turn to end, or cancel it";
      throw new RookeryError("session_in_use", `session ${id} has a running turn: ${fix}`);
    }
    await this.#remove(id);
  }

  async delete(id: string): Promise<void> {
    await this.#remove(id);
    await this.#rookery.deleteSession(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await Promise.allSettled([...this.#held.keys()].map((id) => this.#remove(id)));
    await Promise.allSettled(this.#leaving.values());
  }

  async #use<T>(id: string, work: (session: Session) => Promise<T>): Promise<T> {
    this.#refuseIfClosed();
    this.#refuseIfBusy(id);
    if (this.#held.get(id)?.open?.isBroken === true) await this.#remove(id);
    const held = this.#held.get(id) ?? this.#hold(id);
    held.users += 1;
    try {
      return await work(await held.session);
    } catch (error) {
      const isUnusable =
        held.open?.isBroken === true || UNUSABLE_SESSION_CODES.some((code) => isRookeryError(error, code));
      if (isUnusable && this.#held.get(id) === held) await this.#remove(id);
      throw error;
    } finally {
      held.users -= 1;
      held.usedAt = Date.now();
      this.#releaseIdle();
    }
  }

  #hold(id: string): DrivenSession {
    const held: DrivenSession = { session: this.#reopen(id), usedAt: Date.now(), users: 0 };
    this.#held.set(id, held);
    held.session.then(
      (session) => {
        held.open = session;
        this.#continueIfLost(held, session);
      },
      () => this.#held.get(id) === held && this.#held.delete(id),
    );
    return held;
  }

  /** If the store fails for longer than a lease lasts, nobody else may notice that the turn was stopped. */
  #continueIfLost(held: DrivenSession, session: Session): void {
    const onLost = (): void => {
      const { id, state } = session;
      if (state.turn !== undefined || state.queue.length > 0) void this.#continueLost(id, held);
    };
    session.lost.addEventListener("abort", onLost, { once: true });
    if (session.lost.aborted) onLost();
  }

  /** Opens the session when the store works again: its turn continues or ends, and its queued inputs run. */
  async #continueLost(id: string, lost: DrivenSession): Promise<void> {
    for (let attempt = 0; !this.#closed; attempt += 1) {
      await sleep(retryPause(attempt), undefined, { ref: false });
      const held = this.#held.get(id);
      if (held !== undefined && held !== lost) return; // a request has opened it
      try {
        return await this.#use(id, () => Promise.resolve());
      } catch (error) {
        if (!isTransientFailure(error)) return; // another process has it, or the next request reports the problem
      }
    }
  }

  async #reopen(id: string): Promise<Session> {
    await this.#leaving.get(id);
    return this.#rookery.openSession({ id, attended: true });
  }

  #releaseIdle(): void {
    const idle = [...this.#held].filter(([, held]) => isIdle(held));
    idle.sort(([, one], [, other]) => other.usedAt - one.usedAt);
    const oldest = Date.now() - IDLE_MS;
    for (const [index, [id, { usedAt }]] of idle.entries()) {
      if (index >= MAX_IDLE || usedAt < oldest) void this.#remove(id).catch(() => undefined); // another process ends its agent later
    }
  }

  /** Removes the session from this server. `#reopen` waits until this is complete. */
  #remove(id: string, release: (session: Session) => Promise<unknown> = (session) => session.close()): Promise<void> {
    const held = this.#held.get(id);
    if (held === undefined) return this.#leaving.get(id) ?? Promise.resolve();
    this.#held.delete(id);
    const leaving: Promise<void> = held.session
      .then(release)
      .then(() => undefined)
      .catch(() => undefined)
      .finally(() => this.#leaving.get(id) === leaving && this.#leaving.delete(id));
    this.#leaving.set(id, leaving);
    return leaving;
  }

  #refuseIfBusy(id: string): void {
    const busy = [...this.#held].filter(([other, held]) => other !== id && !isIdle(held)).length;
    if (busy < this.#maxBusy) return;
    throw new RookeryError(
      "store_unavailable",
      `${busy} sessions are busy, which is the limit: try again when one is idle`,
    );
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new RookeryError("interrupted", "the server is shutting down: try again after it restarts");
  }
}

/** After one of these errors, the next request opens the session again. */
const UNUSABLE_SESSION_CODES = ["session_closed", "lease_lost", "agent_unavailable"] as const;

function isIdle({ open, users }: DrivenSession): boolean {
  if (open === undefined || users > 0) return false;
  const { closed, turn, queue } = open.state;
  return closed || (turn === undefined && queue.length === 0);
}

/** True for the event with these settings: another client may change the session at the same time. */
function isChange(event: { readonly type: string }, { model, permissions }: Changes): boolean {
  if (event.type !== "session.opened") return false;
  const recorded = event as { readonly model?: unknown; readonly permissions?: unknown };
  return (
    (model === undefined || recorded.model === model) &&
    (permissions === undefined || recorded.permissions === permissions)
  );
}

function isQueued(event: { readonly type: string }, input: string | readonly InputPart[]): boolean {
  if (event.type !== "input.queued" || !("input" in event)) return false;
  const parts = typeof input === "string" ? [{ type: "text", text: input }] : input;
  return JSON.stringify(event.input) === JSON.stringify(parts);
}

async function expandInput(
  session: Session,
  input: string | readonly InputPart[],
): Promise<string | readonly InputPart[]> {
  return typeof input === "string" ? session.expand(input) : input;
}
