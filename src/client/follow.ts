/** Follows a log over HTTP. Reconnects when a connection breaks, and yields each event once and in order. */
import { createParser, type EventSourceMessage } from "eventsource-parser";
import {
  checkArgument,
  functionArgument,
  integerArgument,
  limitArgument,
  numberArgument,
  objectArgument,
  optionalArgument,
  signalArgument,
  textArgument,
} from "../domain/arguments.ts";
import { isRookeryError, isStoreErrorCode, type RookeryError } from "../domain/errors.ts";
import { sleepOrAbort } from "../stdx/wait.ts";
import type { FeedEvent, LogEvent, SessionEvent } from "../domain/index.ts";
import { errorOf, toUnreachableError } from "./problem.ts";

export interface ServerConnection {
  readonly url: string;
  /** Headers of every request, with the credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

export interface FollowOptions {
  /** The position of the last event that you have. Default: 0, which yields all events. */
  readonly after?: number | undefined;
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Number of failed attempts in a row before it rejects. Default: 20. */
  readonly tries?: number | undefined;
  /** Called when the stream connects and when it breaks, with the reason. */
  readonly onConnection?: ((state: FollowConnection) => void) | undefined;
  /**
   * Called with the id of each session that is deleted while the stream is connected; some seconds later if another
   * process deletes it, and only if it is one of the newest 1,000. Only for all events: others reject with
   * `session_not_found`. After a broken connection, deletions may have been missed.
   */
  readonly onDeleted?: ((sessionId: string) => void) | undefined;
  /** A connection without data or heartbeats for this long counts as dead, in milliseconds. Default: 45 s. */
  readonly silenceMs?: number | undefined;
}

export type FollowConnection =
  { readonly connected: true } | { readonly connected: false; readonly reason: RookeryError };

/** One session, one task with its sessions, or all events. */
export type Followable = { readonly session: string } | { readonly task: string } | { readonly everything: true };

export const FOLLOW_QUERY = objectArgument({
  session: optionalArgument(textArgument),
  task: optionalArgument(textArgument),
  after: optionalArgument(integerArgument),
  signal: optionalArgument(signalArgument),
  tries: optionalArgument(limitArgument),
  silenceMs: optionalArgument(numberArgument),
  onConnection: optionalArgument(functionArgument),
  onDeleted: optionalArgument(functionArgument),
});

const DEFAULT_TRIES = 20;
const DEFAULT_SILENCE_MS = 45_000;
const FIRST_RECONNECT_MS = 100;
const MAX_RECONNECT_MS = 5_000;

export type Follow = {
  (query: { readonly session: string } & FollowOptions): AsyncIterable<FeedEvent<SessionEvent>>;
  (query: Followable & FollowOptions): AsyncIterable<FeedEvent>;
};

/**
 * Creates the `follow` function of a client. It throws `input_invalid` for a bad query. The iteration rejects with
 * `session_not_found` or `task_not_found` if the log does not exist, `unauthorized`, `input_invalid` if `after` is
 * beyond the end, or `server_unreachable` after `tries`.
 */
export function createFollow(connection: ServerConnection): Follow {
  const follow = (query: Followable & FollowOptions): AsyncIterable<FeedEvent> => {
    checkArgument(query, FOLLOW_QUERY, "the query");
    return {
      [Symbol.asyncIterator]() {
        const controller = new AbortController();
        const events = followEvents(connection, query, controller);
        return {
          next: () => events.next(),
          return: () => {
            controller.abort(); // a generator's return() waits for the pending next(), which waits for an event
            return events.return(undefined);
          },
        };
      },
    };
  };
  return follow as Follow;
}

async function* followEvents(
  connection: ServerConnection,
  query: Followable & FollowOptions,
  controller: AbortController,
): AsyncGenerator<FeedEvent, undefined> {
  const { after = 0, signal, tries = DEFAULT_TRIES, silenceMs = DEFAULT_SILENCE_MS, onConnection, onDeleted } = query;
  const end = (): void => controller.abort();
  if (signal?.aborted === true) return undefined;
  signal?.addEventListener("abort", end);
  let last = after;
  let failures = 0;
  try {
    while (!controller.signal.aborted) {
      const startedAt = Date.now();
      let failure: RookeryError;
      try {
        for await (const { event, id, data } of readMessages(
          connection,
          toEventsPath(query),
          last,
          silenceMs,
          controller.signal,
          () => onConnection?.({ connected: true }),
        )) {
          if (event === "session.deleted") {
            onDeleted?.((JSON.parse(data) as { readonly sessionId: string }).sessionId);
            continue;
          }
          if (event !== undefined) throw errorOf(JSON.parse(data), 500); // the final event of a failed stream
          failures = 0;
          if (!(Number(id) > last)) continue; // already received
          last = Number(id);
          yield { position: last, event: JSON.parse(data) as LogEvent };
        }
        failure = toUnreachableError(connection.url, new Error("it closes every connection immediately"));
      } catch (error) {
        if (controller.signal.aborted) return undefined;
        if (!isRookeryError(error) || !isTransient(error)) throw error;
        failure = error;
      }
      onConnection?.({ connected: false, reason: failure });
      if (Date.now() - startedAt > MAX_RECONNECT_MS) failures = 0; // a connection that lasted this long was healthy
      failures += 1;
      if (failures >= tries) throw failure;
      await sleepOrAbort(reconnectDelay(failures), controller.signal);
    }
    return undefined;
  } finally {
    signal?.removeEventListener("abort", end);
    controller.abort();
  }
}

function toEventsPath(query: Followable & FollowOptions): string {
  const { session, task } = query as { readonly session?: string; readonly task?: string };
  if (session !== undefined) return `/v1/sessions/${encodeURIComponent(session)}/events`;
  if (task !== undefined) return `/v1/tasks/${encodeURIComponent(task)}/events`;
  return query.onDeleted === undefined ? "/v1/events" : "/v1/events?deletions=true";
}

/** Yields the messages of one connection until it ends or breaks. */
async function* readMessages(
  { url, headers: credentials, fetch }: ServerConnection,
  path: string,
  after: number,
  silenceMs: number,
  signal: AbortSignal,
  onOpen: () => void,
): AsyncGenerator<EventSourceMessage, void> {
  const broken = new AbortController();
  const end = (): void => broken.abort();
  signal.addEventListener("abort", end);
  let silenceTimer = setTimeout(end, silenceMs);
  const resetTimer = (): void => {
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(end, silenceMs);
  };
  try {
    const response = await openStream();
    onOpen();
    resetTimer();
    const received: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => received.push(event) });
    const decoder = new TextDecoder();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (;;) {
      const { done, value } = await reader
        .read()
        .catch((cause: unknown) => Promise.reject(toUnreachableError(url, cause)));
      if (done) return;
      resetTimer();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* received.splice(0);
    }
  } finally {
    clearTimeout(silenceTimer);
    signal.removeEventListener("abort", end);
    broken.abort(); // closes the connection when the consumer stops
  }

  async function openStream(): Promise<Response> {
    const headers = { ...credentials, accept: "text/event-stream", "last-event-id": String(after) };
    const response = await fetch(`${url}${path}`, { headers, signal: broken.signal }).catch((cause: unknown) =>
      Promise.reject(toUnreachableError(url, cause)),
    );
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (response.ok && isStream) return response;
    throw errorOf(await response.json().catch(() => undefined), response.status);
  }
}

/** Whether a retry may succeed. */
function isTransient({ code }: RookeryError): boolean {
  return code === "server_unreachable" || code === "interrupted" || code === "internal" || isStoreErrorCode(code);
}

/** Exponential backoff with jitter. `failures` counts the attempts that failed in a row. */
function reconnectDelay(failures: number): number {
  const longest = Math.min(FIRST_RECONNECT_MS * 2 ** (failures - 1), MAX_RECONNECT_MS);
  return longest * (0.5 + Math.random() / 2);
}
