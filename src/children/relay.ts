/**
 * Relays requests of a child to the people who attend its parent, and their answers back. A person may also answer
 * the child directly.
 */
import {
  isRookeryError,
  type ChildWatcher,
  type EventOf,
  type SessionEvent,
  type SessionStore,
} from "../domain/index.ts";
import type { Answer, RequestEvent, Session } from "../session/index.ts";

export interface Relay {
  /** Withdraws open requests. Rejects with the error that kept the watcher from asking. */
  stop(): Promise<void>;
}

export interface RelayOptions {
  readonly session: Session;
  readonly title: string;
  /** False if nobody can be asked: the child itself denies new requests. */
  readonly attended: boolean;
  readonly watcher: ChildWatcher;
  /** Fires when the parent's turn is cancelled: nobody can be asked anymore, and the child is being stopped. */
  readonly signal: AbortSignal;
  /** Called once, when nothing can be asked anymore. */
  readonly onBroken: () => void;
}

interface RelayParts {
  readonly store: SessionStore;
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void>;
}

export function startRelay(parts: RelayParts, options: RelayOptions): Relay {
  const { session, watcher, attended, onBroken } = options;
  const stopping = new AbortController();
  const open = new Map<string, { readonly asked: RequestEvent; readonly withdraw: AbortController }>();
  const asking = new Set<Promise<void>>();
  const { head } = session.state; // an earlier process handled older events
  let failure: unknown;

  const relay = (asked: RequestEvent, withdraw: AbortController): void => {
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
  asked: RequestEvent,
  signal: AbortSignal,
): Promise<void> {
  const { requestId } = asked;
  const answer =
    asked.type === "permission.requested"
      ? await requestDecision(asked, { title, watcher, signal })
      : await requestAnswer(asked, { title, watcher, signal });
  await parts.answer(session.id, requestId, answer).catch((error: unknown) => {
    if (!isRookeryError(error, "request_resolved")) throw error; // somebody answered the child directly
  });
}

interface AskTarget {
  readonly title: string;
  readonly watcher: ChildWatcher;
  readonly signal: AbortSignal;
}

async function requestDecision(
  asked: EventOf<"permission.requested">,
  { title, watcher, signal }: AskTarget,
): Promise<Answer> {
  const { sessionId, requestId, tool, kind, input, diffs, from } = asked;
  const toolId = `${sessionId}/${requestId}`; // stable across crashes, so that it is asked only once
  const request = { toolId, tool, title: `${title}: ${asked.title}`, kind, readOnly: false, input };
  const preview = () => Promise.resolve({ diffs });
  const decision = await watcher.permit({ ...request, preview, from: formatAsker(title, from) }, { signal });
  return decision.allowed ? { decision: "allow" } : { decision: "deny", message: decision.message };
}

async function requestAnswer(asked: EventOf<"question.asked">, { title, watcher, signal }: AskTarget): Promise<Answer> {
  const { message, from, schema, url } = asked;
  return watcher.ask({ message, from: formatAsker(title, from), schema, url }, { signal });
}

function formatAsker(title: string, from: string | undefined): string {
  return from === undefined ? title : `${title}, ${from}`;
}
