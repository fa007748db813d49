/** A log as it grows, over connections that may break: each event once, in order, from wherever one was. */
import { createParser, type EventSourceMessage } from "eventsource-parser";
import {
  checkArgument,
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
import type { LogEvent, SessionEvent } from "../domain/index.ts";
import { errorOf, unreachable } from "./problem.ts";

export interface Connection {
  readonly url: string;
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
}

export interface FollowOptions {
  /** The id of the last event one has; all if not said. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How often in a row it is tried in vain before it is given up; 20 if not said. */
  readonly tries?: number | undefined;
  /** A connection that says nothing for so long, not even that it lives, is taken for dead; 45 s if not said. */
  readonly silenceMs?: number | undefined;
}

/** One session, one task with its sessions, or everything. */
export type Followable = { readonly session: string } | { readonly task: string } | { readonly everything: true };

export interface Followed<Event extends LogEvent = LogEvent> {
  /** Of a session its `seq`, else a position: where to go on `after`. */
  readonly id: number;
  readonly event: Event;
}

export const FOLLOW_QUERY = objectArgument({
  session: optionalArgument(textArgument),
  task: optionalArgument(textArgument),
  after: optionalArgument(integerArgument),
  signal: optionalArgument(signalArgument),
  tries: optionalArgument(limitArgument),
  silenceMs: optionalArgument(numberArgument),
});

const TRIES = 20;
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export type Follow = {
  (query: { readonly session: string } & FollowOptions): AsyncIterable<Followed<SessionEvent>>;
  (query: Followable & FollowOptions): AsyncIterable<Followed>;
};

/**
 * Throws `input_invalid`. What it returns ends quietly with its signal. Fails with `session_not_found` or `task_not_found` where what is followed is gone, with
 * `unauthorized`, `input_invalid` where `after` is beyond the end, or `server_unreachable` when it is given up.
 */
export function following(connection: Connection): Follow {
  const follow = (query: Followable & FollowOptions): AsyncIterable<Followed> => {
    checkArgument(query, FOLLOW_QUERY, "the query");
    return {
      [Symbol.asyncIterator]() {
        const over = new AbortController();
        const events = walk(connection, query, over);
        return {
          next: () => events.next(),
          return: () => {
            over.abort(); // a generator's own return() would wait for the pending next(), and so for an event
            return events.return(undefined);
          },
        };
      },
    };
  };
  return follow as Follow;
}

async function* walk(
  connection: Connection,
  query: Followable & FollowOptions,
  over: AbortController,
): AsyncGenerator<Followed, undefined> {
  const { after = 0, signal, tries = TRIES, silenceMs = SILENCE_MS } = query;
  const end = (): void => over.abort();
  if (signal?.aborted === true) return undefined;
  signal?.addEventListener("abort", end);
  let last = after;
  let vain = 0;
  try {
    while (!over.signal.aborted) {
      const begun = Date.now();
      let failure: RookeryError;
      try {
        for await (const { event, id, data } of messages(connection, pathOf(query), last, silenceMs, over.signal)) {
          if (event !== undefined) throw errorOf(JSON.parse(data), 500); // the server's last words
          vain = 0;
          if (!(Number(id) > last)) continue; // what one has
          last = Number(id);
          yield { id: last, event: JSON.parse(data) as LogEvent };
        }
        failure = unreachable(connection.url, new Error("it ends every connection at once"));
      } catch (error) {
        if (over.signal.aborted) return undefined;
        if (!isRookeryError(error) || !isPassing(error)) throw error;
        failure = error;
      }
      if (Date.now() - begun > LONGEST_PAUSE_MS) vain = 0; // where nothing happens, a connection is good for that long
      vain += 1;
      if (vain >= tries) throw failure;
      await sleepOrAbort(reconnectDelay(vain), over.signal);
    }
    return undefined;
  } finally {
    signal?.removeEventListener("abort", end);
    over.abort();
  }
}

function pathOf(query: Followable): string {
  const { session, task } = query as { readonly session?: string; readonly task?: string };
  if (session !== undefined) return `/v1/sessions/${encodeURIComponent(session)}/events`;
  return task === undefined ? "/v1/events" : `/v1/tasks/${encodeURIComponent(task)}/events`;
}

/** One connection, until it ends or breaks. */
async function* messages(
  { url, token, fetch }: Connection,
  path: string,
  after: number,
  silenceMs: number,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage, void> {
  const broken = new AbortController();
  const end = (): void => broken.abort();
  signal.addEventListener("abort", end);
  let silence = setTimeout(end, silenceMs);
  const heard = (): void => {
    clearTimeout(silence);
    silence = setTimeout(end, silenceMs);
  };
  try {
    const response = await opened();
    heard();
    const came: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => came.push(event) });
    const decoder = new TextDecoder();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => Promise.reject(unreachable(url, cause)));
      if (done) return;
      heard();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* came.splice(0);
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", end);
    broken.abort(); // whoever stops to read leaves no connection behind
  }

  async function opened(): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream", "last-event-id": String(after) };
    const response = await fetch(`${url}${path}`, { headers, signal: broken.signal }).catch((cause: unknown) =>
      Promise.reject(unreachable(url, cause)),
    );
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (response.ok && isStream) return response;
    throw errorOf(await response.json().catch(() => undefined), response.status);
  }
}

/** May it be otherwise in a moment? */
function isPassing({ code }: RookeryError): boolean {
  return code === "server_unreachable" || code === "interrupted" || code === "internal" || isStoreErrorCode(code);
}

/** Exponential backoff with jitter. `failures` counts the attempts that failed in a row. */
function reconnectDelay(failures: number): number {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
  return longest * (0.5 + Math.random() / 2);
}
