/**
 * Searches the text of session logs. There is no index: it reads the logs page by page, newest session first, yields
 * between pages, and stops after a while with a cursor to continue from.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import { isRookeryError } from "../domain/errors.ts";
import type { SessionEvent } from "../domain/events.ts";
import type { SessionStore } from "../domain/store.ts";
import type { SessionSummary } from "../domain/summary.ts";
import { formatExcerpt, searchableText } from "./search-text.ts";

export interface SearchQuery {
  /** Words that must all be in the text of one event. Case does not matter. */
  readonly text: string;
  /** Continues after the earlier matches: `next` of the previous result. */
  readonly cursor?: SearchCursor | undefined;
  /** Maximum number of matches. Default: 20. */
  readonly limit?: number | undefined;
  /** How long to search, in milliseconds. Default: 500 ms. At least one page is read. */
  readonly maxMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SearchCursor {
  readonly sessionId: string;
  /** Events of the session before this `seq` are next. */
  readonly before: number;
}

export interface SearchMatch {
  readonly sessionId: string;
  readonly seq: number;
  readonly at: string;
  readonly type: SessionEvent["type"];
  readonly title: string | undefined;
  readonly task: string | undefined;
  /** The text around the first word, on one line. */
  readonly excerpt: string;
}

export interface SearchResult {
  /** Newest session first; within a session, newest event first. */
  readonly matches: readonly SearchMatch[];
  /** Where to continue. Undefined if everything was searched. */
  readonly next: SearchCursor | undefined;
}

/** Parsing and searching a page of this size takes about 5 ms. */
const PAGE = { limit: 1_000, maxBytes: 256 * 1024 };
const LIST_SIZE = 100;
export const DEFAULT_MATCHES = 20;
const DEFAULT_MS = 500;
const SKIPPED_ERRORS = ["session_not_found", "log_corrupt", "store_corrupt"] as const;

type SearchedStore = Pick<SessionStore, "list" | "read" | "summary">;

export async function searchSessions(store: SearchedStore, query: SearchQuery): Promise<SearchResult> {
  const { text, cursor, limit = DEFAULT_MATCHES, maxMs = DEFAULT_MS, signal } = query;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return { matches: [], next: undefined };
  const deadline = performance.now() + maxMs;
  const matches: SearchMatch[] = [];
  for await (const { session, before } of listFrom(store, cursor)) {
    for (let end = before; end > 1;) {
      signal?.throwIfAborted();
      const events = await readPage(store, session.id, end);
      for (const event of events) {
        const excerpt = findWords(event, words);
        if (excerpt !== undefined) matches.push(toMatch(session, event, excerpt));
        end = event.seq;
        if (matches.length >= limit) return { matches, next: { sessionId: session.id, before: end } };
      }
      if (events.length === 0) break;
      if (performance.now() > deadline) return { matches, next: { sessionId: session.id, before: end } };
      await nextTick(); // other work of this process comes first
    }
  }
  return { matches, next: undefined };
}

interface SearchedSession {
  readonly session: SessionSummary;
  readonly before: number;
}

async function* listFrom(store: SearchedStore, cursor: SearchCursor | undefined): AsyncIterable<SearchedSession> {
  const first = cursor === undefined ? undefined : await store.summary(cursor.sessionId);
  if (first !== undefined && cursor !== undefined) yield { session: first, before: cursor.before };
  for (let before = cursor?.sessionId; ;) {
    const sessions = await store.list({ before, limit: LIST_SIZE });
    for (const session of sessions) yield { session, before: session.head + 1 };
    before = sessions.at(-1)?.id;
    if (sessions.length < LIST_SIZE) return;
  }
}

/** Empty if the session was deleted meanwhile, or if an event of the page is damaged: the other sessions are searched. */
async function readPage(store: SearchedStore, sessionId: string, before: number): Promise<readonly SessionEvent[]> {
  try {
    return (await store.read({ sessionId, before, order: "newest_first", ...PAGE })).events;
  } catch (error) {
    const isSkipped = SKIPPED_ERRORS.some((code) => isRookeryError(error, code));
    if (isSkipped) return [];
    throw error;
  }
}

function findWords(event: SessionEvent, words: readonly string[]): string | undefined {
  const text = searchableText(event);
  if (text === "") return undefined;
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word)) ? formatExcerpt(text, lower.indexOf(words[0] ?? "")) : undefined;
}

function toMatch({ title, task }: SessionSummary, event: SessionEvent, excerpt: string): SearchMatch {
  const { sessionId, seq, at, type } = event;
  return { sessionId, seq, at, type, title, task, excerpt };
}
