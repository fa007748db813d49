/** Reading events as text: one query for many, and no parsing. */
import type { EventText, ReadQuery } from "../../domain/index.ts";
import { completed, endingOf, SEPARATOR } from "../text.ts";
import type { Database } from "./database.ts";
import { BODIES, isEmpty, locate, whyNot } from "./pages.ts";

/** The page that follows the cursor. */
export function readTexts(db: Database, query: Pick<ReadQuery, "sessionId" | "after" | "limit">): EventText[] {
  const { log, range } = locate(db, "session", query.sessionId, query);
  if (isEmpty(range)) return [];
  const joined = db.get(joinedBodies(BODIES.session), log.id, range.first, range.last)?.[0];
  const bodies = takeApart(joined);
  if (bodies.length !== range.last - range.first + 1) throw whyNot(db, log, range);
  const ending = endingOf("session", log.id);
  return bodies.map((body, index) => {
    const seq = range.first + index;
    if (!isBodyOf(body, seq)) throw whyNot(db, log, { first: seq, last: seq });
    return { seq, text: completed(body, ending) };
  });
}

export function joinedBodies(bodies: string): string {
  return `select group_concat(body, char(${SEPARATOR.charCodeAt(0)})) from (${bodies})`;
}

export function takeApart(joined: unknown): string[] {
  return typeof joined === "string" ? joined.split(SEPARATOR) : [];
}

/** As it was written: its place is at its end. */
export function isBodyOf(body: string, seq: number): boolean {
  return body.endsWith(`,"seq":${seq}}`);
}
