/** The sessions that this server drives: opened when they are first prompted, and let go of when they have nothing to do. */
import { RookeryError, isRookeryError, type InputPart } from "../../domain/index.ts";
import type { OpenSessionOptions } from "../../rookery.ts";
import {
  runningTaskOf,
  sessionNotFound,
  type Changes,
  type Deliver,
  type ReplacedMessage,
  type Session,
} from "../../session/index.ts";
import { expectMadeEvent } from "../../stdx/request-key.ts";
import type { Served } from "./served.ts";

/** More idle ones than these are let go of at once, those first that were used longest ago. */
const MAX_IDLE = 16;
const IDLE_MS = 5 * 60_000;
const LOOK_MS = 30_000;
/** Each may be a program that runs: where so many have something to do, no other is prompted. */
const MAX_BUSY = 256;

export interface Began {
  readonly turnId: string;
  /** Of its `turn.started`: everything of the turn is from there on. */
  readonly seq: number;
}

interface Held {
  readonly session: Promise<Session>;
  /** Set once it is open. */
  open?: Session;
  usedAt: number;
  /** Requests that are about to do something with it. */
  users: number;
}

export class Driving implements AsyncDisposable {
  readonly #served: Served;
  readonly #held = new Map<string, Held>();
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #maxBusy: number;
  #closed = false;

  constructor(served: Served, { maxBusy = MAX_BUSY }: { readonly maxBusy?: number } = {}) {
    this.#served = served;
    this.#maxBusy = maxBusy;
    this.#timer = setInterval(() => this.#letGoOfIdle(), LOOK_MS).unref();
  }

  get count(): number {
    return this.#held.size;
  }

  /** A new one. Rejects as `openSession` does. */
  async open(options: OpenSessionOptions): Promise<string> {
    this.#refuseIfClosed();
    const session = await this.#served.openSession({ ...options, attended: true });
    this.#held.set(session.id, { session: Promise.resolve(session), open: session, usedAt: Date.now(), users: 0 });
    if (this.#closed) await this.#letGo(session.id);
    this.#letGoOfIdle();
    return session.id;
  }

  /** Resolves when the beginning of the turn is durable. */
  prompt(id: string, input: string | readonly InputPart[]): Promise<Began> {
    return this.#using(id, async (session) => {
      const turn = session.prompt(await expanded(session, input));
      expectMadeEvent((event) => event.type === "turn.started" && "turnId" in event && event.turnId === turn.id);
      for await (const { type, turnId, seq } of turn) {
        if (type === "turn.started" && turnId === turn.id) return { turnId: turn.id, seq };
      }
      throw new RookeryError("store_closed", `the log ended before turn ${turn.id} began`);
    });
  }

  /** Resolves with the input's id. Whoever else drives the session, or will for a task, is given it through the log. */
  async queue(id: string, input: string | readonly InputPart[], deliver: Deliver = "follow_up"): Promise<string> {
    const { store } = this.#served;
    if ((await runningTaskOf(store, id)) !== undefined) return this.#served.tell(id, input, { deliver });
    try {
      return await this.#using(id, async (session) => {
        const parts = await expanded(session, input);
        expectMadeEvent((event, logId) => logId === id && isQueued(event, parts));
        return session.queue(parts, { deliver });
      });
    } catch (error) {
      if (!isRookeryError(error, "session_in_use")) throw error;
      return this.#served.tell(id, input, { deliver });
    }
  }

  /** Resolves when it is recorded, which is at the end of a turn that runs. */
  change(id: string, changes: Changes): Promise<void> {
    return this.#using(id, (session) => {
      expectMadeEvent((event, logId) => logId === id && isChange(event, changes));
      return session.change(changes);
    });
  }

  replaceConversation(id: string, messages: readonly ReplacedMessage[]): Promise<void> {
    expectMadeEvent(({ type }, logId) => type === "conversation.replaced" && logId === id);
    return this.#using(id, (session) => session.replaceConversation(messages));
  }

  /** Nothing where no turn runs. Rejects with `session_in_use` where another process runs it. */
  async cancel(id: string): Promise<void> {
    const held = this.#held.get(id);
    if (held !== undefined) {
      const session = await held.session;
      expectMadeEvent(({ type }, logId) => type === "turn.ended" && logId === id);
      return session.cancel();
    }
    const summary = await this.#served.store.summary(id);
    if (summary === undefined) throw sessionNotFound(id);
    if (!["running", "waiting", "parked"].includes(summary.status)) return;
    const instead = summary.task === undefined ? "cancel it there, or close it" : `stop task ${summary.task} instead`;
    throw new RookeryError("session_in_use", `session ${id} is not driven by this server's own hand: ${instead}`);
  }

  async close(id: string, reason: string | undefined): Promise<void> {
    let closing: Promise<void> | undefined;
    await this.#letGo(id, (session) => (closing = session.close(reason)));
    await (closing ?? this.#served.closeSession(id, reason)); // it was not open here, or is no longer
  }

  /** So that another can drive it. Rejects with `session_in_use` while it has something to do. */
  async release(id: string): Promise<void> {
    const held = this.#held.get(id);
    if (held !== undefined && !isIdle(held)) {
      const fix = "wait for its end, or cancel it";
      throw new RookeryError("session_in_use", `someone's turn runs in session ${id}: ${fix}`);
    }
    await this.#letGo(id);
  }

  async delete(id: string): Promise<void> {
    await this.#letGo(id);
    await this.#served.deleteSession(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await Promise.allSettled([...this.#held.keys()].map((id) => this.#letGo(id)));
    await Promise.allSettled(this.#leaving.values());
  }

  async #using<T>(id: string, work: (session: Session) => Promise<T>): Promise<T> {
    this.#refuseIfClosed();
    this.#refuseIfBusy(id);
    if (this.#held.get(id)?.open?.isBroken === true) await this.#letGo(id);
    const held = this.#held.get(id) ?? this.#hold(id);
    held.users += 1;
    try {
      return await work(await held.session);
    } catch (error) {
      const isUseless = held.open?.isBroken === true || OF_NO_USE.some((code) => isRookeryError(error, code));
      if (isUseless && this.#held.get(id) === held) await this.#letGo(id);
      throw error;
    } finally {
      held.users -= 1;
      held.usedAt = Date.now();
      this.#letGoOfIdle();
    }
  }

  #hold(id: string): Held {
    const held: Held = { session: this.#reopen(id), usedAt: Date.now(), users: 0 };
    this.#held.set(id, held);
    held.session.then(
      (session) => {
        held.open = session;
      },
      () => this.#held.get(id) === held && this.#held.delete(id),
    );
    return held;
  }

  async #reopen(id: string): Promise<Session> {
    await this.#leaving.get(id);
    return this.#served.openSession({ id, attended: true });
  }

  #letGoOfIdle(): void {
    const idle = [...this.#held].filter(([, held]) => isIdle(held));
    idle.sort(([, one], [, other]) => other.usedAt - one.usedAt);
    const long = Date.now() - IDLE_MS;
    for (const [index, [id, { usedAt }]] of idle.entries()) {
      if (index >= MAX_IDLE || usedAt < long) void this.#letGo(id).catch(() => undefined); // it is found by its marker later
    }
  }

  /** Whoever wants it again waits until it is gone. */
  #letGo(id: string, how: (session: Session) => Promise<unknown> = (session) => session.leave()): Promise<void> {
    const held = this.#held.get(id);
    if (held === undefined) return this.#leaving.get(id) ?? Promise.resolve();
    this.#held.delete(id);
    const leaving: Promise<void> = held.session
      .then(how)
      .then(() => undefined)
      .catch(() => undefined)
      .finally(() => this.#leaving.get(id) === leaving && this.#leaving.delete(id));
    this.#leaving.set(id, leaving);
    return leaving;
  }

  #refuseIfBusy(id: string): void {
    const busy = [...this.#held].filter(([other, held]) => other !== id && !isIdle(held)).length;
    if (busy < this.#maxBusy) return;
    throw new RookeryError("store_unavailable", `${busy} sessions have something to do: try again when one is done`);
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new RookeryError("interrupted", "the server is closing: try again when it is back");
  }
}

/** Such a session is opened anew. */
const OF_NO_USE = ["session_closed", "lease_lost", "agent_unavailable"] as const;

function isIdle({ open, users }: Held): boolean {
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

async function expanded(
  session: Session,
  input: string | readonly InputPart[],
): Promise<string | readonly InputPart[]> {
  return typeof input === "string" ? session.expand(input) : input;
}
