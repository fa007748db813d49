/** Reading events as text: one query for many, and no parsing. */
import type { EventText, ReadQuery } from "../../domain/index.ts";
import { completed, endingOf, SEPARATOR } from "../text.ts";
import { decodeText, textColumn } from "./columns.ts";
import type { Cell, Database } from "./database.ts";
import { BODIES, isEmpty, locate, namingDamage, whyNot } from "./pages.ts";

/** The page that follows the cursor. */
export function readTexts(
  db: Database,
  query: Pick<ReadQuery, "sessionId" | "after" | "limit" | "maxBytes">,
): EventText[] {
  const { log, range } = locate(db, "session", query.sessionId, query);
  if (isEmpty(range)) return [];
  const sql = joinedBodies(BODIES.session);
  const row = namingDamage(db, log, range, () => db.get(sql, log.id, range.first, range.last));
  const bodies = takeApart(row?.[0]);
  if (bodies.length !== range.last - range.first + 1) throw whyNot(db, log, range);
  const ending = endingOf("session", log.id);
  return bodies.map((body, index) => {
    const seq = range.first + index;
    if (!isBodyOf(body, seq)) throw whyNot(db, log, { first: seq, last: seq });
    return { seq, text: completed(body, ending) };
  });
}

export function joinedBodies(bodies: string): string {
  return `select ${textColumn(`group_concat(body, char(${SEPARATOR.charCodeAt(0)}))`)} from (${bodies})`;
}

/** None if one of them is not UTF-8. */
export function takeApart(joined: Cell | undefined): string[] {
  return decodeText(joined)?.split(SEPARATOR) ?? [];
}

/** As it was written: its place is at its end. */
export function isBodyOf(body: string, seq: number): boolean {
  return body.endsWith(`,"seq":${seq}}`);
}
