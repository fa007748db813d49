/** Brings what a child asks to whoever can be asked by its parent, and the answer back; whoever answers the child itself is as good. */
import {
  isRookeryError,
  type ChildWatcher,
  type EventOf,
  type SessionEvent,
  type SessionStore,
} from "../domain/index.ts";
import type { Answer, Session } from "../session/index.ts";

export interface Relay {
  /** Withdraws what is still asked. Rejects with what kept the watcher from asking. */
  stop(): Promise<void>;
}

export interface RelayOptions {
  readonly session: Session;
  readonly title: string;
  /** If nobody can be asked, the child itself says no to what is new. */
  readonly attended: boolean;
  readonly watcher: ChildWatcher;
  /** Fires when the parent's turn is cancelled: nobody can be asked any more, and the child is being stopped. */
  readonly signal: AbortSignal;
  /** Told once, when nothing can be asked any more. */
  readonly onBroken: () => void;
}

interface RelayParts {
  readonly store: SessionStore;
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void>;
}

type Asked = EventOf<"permission.requested"> | EventOf<"question.asked">;

export function startRelay(parts: RelayParts, options: RelayOptions): Relay {
  const { session, watcher, attended, onBroken } = options;
  const stopping = new AbortController();
  const open = new Map<string, { readonly asked: Asked; readonly withdraw: AbortController }>();
  const asking = new Set<Promise<void>>();
  const { head } = session.state; // what is older was seen by a process that died
  let failure: unknown;

  const relay = (asked: Asked, withdraw: AbortController): void => {
    const signal = AbortSignal.any([withdraw.signal, stopping.signal, options.signal]);
    const answering = answerFor(parts, options, asked, signal).catch((error: unknown) => {
      if (!signal.aborted) broken(error);
    });
    asking.add(answering);
    void answering.then(() => asking.delete(answering));
  };
  const take = (event: SessionEvent): void => {
    const isNew = event.seq > head;
    if (isNew) watcher.saw(event);
    if (event.type === "permission.requested" || event.type === "question.asked") {
      const one = { asked: event, withdraw: new AbortController() };
      open.set(event.requestId, one);
      if (isNew && attended) relay(one.asked, one.withdraw);
    } else if (event.type === "permission.resolved" || event.type === "question.answered") {
      open.get(event.requestId)?.withdraw.abort();
      open.delete(event.requestId);
    }
    if (event.seq === head) for (const { asked, withdraw } of open.values()) relay(asked, withdraw);
  };
  const follow = async (): Promise<void> => {
    const { signal } = stopping;
    for await (const event of parts.store.follow({ sessionId: session.id, after: 0, signal })) take(event);
  };
  const broken = (error: unknown): void => {
    failure ??= error;
    onBroken();
  };
  const following = follow().catch(broken);

  return {
    async stop() {
      stopping.abort();
      await following;
      await Promise.all(asking);
      if (failure !== undefined) throw failure as Error;
    },
  };
}

async function answerFor(
  parts: RelayParts,
  { session, title, watcher }: RelayOptions,
  asked: Asked,
  signal: AbortSignal,
): Promise<void> {
  const { requestId } = asked;
  const answer =
    asked.type === "permission.requested"
      ? await requestDecision(asked, { title, watcher, signal })
      : await requestAnswer(asked, { title, watcher, signal });
  await parts.answer(session.id, requestId, answer).catch((error: unknown) => {
    if (!isRookeryError(error, "request_resolved")) throw error; // someone was faster
  });
}

interface AskTarget {
  readonly title: string;
  readonly watcher: ChildWatcher;
  readonly signal: AbortSignal;
}

async function requestDecision(asked: EventOf<"permission.requested">, { title, watcher, signal }: AskTarget): Promise<Answer> {
  const { sessionId, requestId, tool, kind, input, from } = asked;
  const toolId = `${sessionId}/${requestId}`; // the same after a crash, so that it is asked once
  const request = { toolId, tool, title: `${title}: ${asked.title}`, kind, readOnly: false, input };
  const decision = await watcher.permit({ ...request, from: formatAsker(title, from) }, { signal });
  return decision.allowed ? { decision: "allow" } : { decision: "deny", message: decision.message };
}

async function requestAnswer(asked: EventOf<"question.asked">, { title, watcher, signal }: AskTarget): Promise<Answer> {
  const { message, from, schema, url } = asked;
  return watcher.ask({ message, from: formatAsker(title, from), schema, url }, { signal });
}

function formatAsker(title: string, from: string | undefined): string {
  return from === undefined ? title : `${title}, ${from}`;
}
