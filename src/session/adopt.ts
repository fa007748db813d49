/** Adopts a session that a program keeps itself: imports its history into a new session, which resumes it. */
import { createHash } from "node:crypto";
import {
  RookeryError,
  emptyState,
  findDraftProblem,
  isRookeryError,
  type EventBody,
  type EventDraft,
  type ImportedEvent,
  type NativeConversation,
  type NativeSessionName,
  type SessionStore,
} from "../domain/index.ts";
import { keepLeaseRenewed } from "./lease-keeper.ts";
import { takeLease } from "./lease.ts";
import { definitionEvents, type AgentSettings } from "./agent-settings.ts";
import {
  COPY_PAGE,
  createSessionCopy,
  deleteIncompleteCopies,
  type AppendToCopy,
  type CopyOptions,
} from "./session-copy.ts";
import { listAllSessions } from "./usage.ts";
import { substituteEvent, toWritableEvent } from "./writable.ts";

export interface AdoptOptions extends CopyOptions {
  /** The ID of this host, if several hosts share the store. */
  readonly host?: string | undefined;
}

export interface AdoptedSettings {
  readonly settings: AgentSettings;
  readonly title?: string | undefined;
  readonly task?: string | undefined;
}

/**
 * Resolves with the ID of the new session, which no process drives yet. It exists completely or not at all. Rejects with
 * `native_session_in_use` if the program's session belongs to a session that is not closed, or if another process
 * adopts it at the moment.
 */
export async function adoptNativeSession(
  options: AdoptOptions,
  conversation: NativeConversation,
  adopted: AdoptedSettings & { readonly name: NativeSessionName },
): Promise<string> {
  await deleteIncompleteCopies(options);
  return whileAdopting(options, adopted.name, async (lost) => {
    await requireUnknownNativeSession(options.store, adopted.name);
    return createSessionCopy(options, (append) => importHistory(options, conversation, { ...adopted, append, lost }));
  });
}

/** Rejects with `native_session_in_use` if a session that is not closed has the program's session. */
export async function requireUnknownNativeSession(
  store: Pick<SessionStore, "list">,
  { backend, nativeId }: NativeSessionName,
): Promise<void> {
  const id = (await listNativeSessions(store)).get(nativeKey({ backend, nativeId }));
  if (id === undefined) return;
  throw new RookeryError(
    "native_session_in_use",
    `the ${backend} session ${nativeId} is session ${id} of Rookery already: continue it with \`rookery run --session ${id}\`, or close it first`,
  );
}

/** Resolves with the sessions that have a session of a program and are not closed, by `nativeKey`. */
export async function listNativeSessions(store: Pick<SessionStore, "list">): Promise<ReadonlyMap<string, string>> {
  const known = new Map<string, string>();
  for await (const { id, backend, nativeId, status } of listAllSessions(store)) {
    if (nativeId !== undefined && status !== "closed") known.set(nativeKey({ backend, nativeId }), id);
  }
  return known;
}

export function nativeKey({ backend, nativeId }: { readonly backend: string; readonly nativeId: string }): string {
  return `${backend} ${nativeId}`;
}

/**
 * Holds a lease on the name of the program's session, so that two processes do not adopt it at once. The signal fires if
 * the lease is lost.
 */
async function whileAdopting<T>(
  { store, clock, owner, leaseTiming: timing }: AdoptOptions,
  name: NativeSessionName,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const sessionId = `adopt_${createHash("sha256").update(nativeKey(name)).digest("hex").slice(0, 32)}`;
  const leasing = { store, clock, owner, timing, sessionId };
  const lease = await takeLease(leasing).catch((cause: unknown) => {
    if (!isRookeryError(cause, "session_in_use")) throw cause;
    const { backend, nativeId } = name;
    const message = `another process is adopting the ${backend} session ${nativeId}: wait until it has finished`;
    throw new RookeryError("native_session_in_use", message, { cause });
  });
  const losing = new AbortController();
  const kept = keepLeaseRenewed(leasing, lease, (error) => losing.abort(error));
  try {
    return await work(losing.signal);
  } finally {
    await Promise.allSettled([kept[Symbol.asyncDispose]()]); // it expires
  }
}

interface HistoryImport extends AdoptedSettings {
  readonly append: AppendToCopy;
  /** Fires if another process may adopt the same session. */
  readonly lost: AbortSignal;
}

async function importHistory(
  { store, clock, host }: AdoptOptions,
  conversation: NativeConversation,
  { settings: { definition, ...settings }, title = conversation.title, task, append, lost }: HistoryImport,
): Promise<void> {
  const { nativeId, version, startedAt } = conversation;
  const { agent, ...opened } = settings;
  const draft = (at: string, body: EventBody, turnId?: string): EventDraft => ({
    ...body,
    at,
    agent,
    ...(turnId !== undefined && { turnId }),
  });
  const first: EventBody[] = [
    { type: "session.opened", ...opened, title, task, host, copying: true },
    ...definitionEvents(emptyState(""), { ...(definition !== undefined && { definition }) }),
    { type: "agent.connected", nativeId, how: "adopted", ...(version !== undefined && { version }) },
  ];
  await append(first.map((body) => draft(startedAt, body)));
  const putBlob = async (bytes: Uint8Array): Promise<string> => (await store.putBlob(bytes)).hash;
  let page: EventDraft[] = [];
  let size = 0;
  for await (const { at, turnId, body } of conversation.read(putBlob)) {
    const { value, length } = toStoredBody(body);
    if (page.length > 0 && size + length > COPY_PAGE.maxBytes) {
      await append(page);
      [page, size] = [[], 0];
    }
    page.push(draft(at, value, turnId));
    size += length;
    if (page.length < COPY_PAGE.limit) continue;
    await append(page);
    [page, size] = [[], 0];
  }
  lost.throwIfAborted();
  const last = draft(new Date(clock.now()).toISOString(), { type: "session.opened", ...opened, reopened: true });
  await append([...page, last]);
}

/** Returns the event, or a substitute if the log cannot hold it. */
function toStoredBody(body: ImportedEvent["body"]): { readonly value: EventBody; readonly length: number } {
  const { value, length } = toWritableEvent(body);
  const problem = findDraftProblem({ ...value, at: new Date(0).toISOString(), agent: "" });
  return { value: problem === undefined ? value : substituteEvent(value, problem), length };
}
