/** Reads events as text, with one query per page and without parsing. */
import type { EventText, ReadQuery } from "../../domain/index.ts";
import { completeEventText, eventSuffix, hasSeq, BODY_SEPARATOR } from "../event-text.ts";
import { decodeText, textColumn } from "./columns.ts";
import type { Cell, Database } from "./database.ts";
import { BODIES_SQL, isEmptyRange, locateLog, reportDamage, toReadError } from "./pages.ts";

/** Reads the page after the cursor. Throws `session_not_found`, or `log_corrupt` if an event is damaged. */
export function readEventTexts(
  db: Database,
  query: Pick<ReadQuery, "sessionId" | "after" | "limit" | "maxBytes">,
): EventText[] {
  const { log, range } = locateLog(db, "session", query.sessionId, query);
  if (isEmptyRange(range)) return [];
  const sql = concatBodiesSql(BODIES_SQL.session);
  const row = reportDamage(db, log, range, () => db.get(sql, log.id, range.first, range.last));
  const bodies = splitBodies(row?.[0]);
  if (bodies.length !== range.last - range.first + 1) throw toReadError(db, log, range);
  const suffix = eventSuffix("session", log.id);
  return bodies.map((body, index) => {
    const seq = range.first + index;
    if (!hasSeq(body, seq)) throw toReadError(db, log, { first: seq, last: seq });
    return { seq, text: completeEventText(body, suffix) };
  });
}

export function concatBodiesSql(bodies: string): string {
  return `select ${textColumn(`group_concat(body, char(${BODY_SEPARATOR.charCodeAt(0)}))`)} from (${bodies})`;
}

/** Empty if the text is not valid UTF-8. */
export function splitBodies(joined: Cell | undefined): string[] {
  return decodeText(joined)?.split(BODY_SEPARATOR) ?? [];
}
