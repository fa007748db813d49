// What the machine can do without Rookery: the floor that each figure is compared with.
import { rmSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { event } from "./events.mjs";

/** Events per second of plain libsql: the same bytes, as many to a transaction, as durable. */
export function floorOfWriting(folder, { count, perTransaction }) {
  const path = join(folder, "floor.db");
  const db = new Database(path);
  db.exec("pragma journal_mode = wal; pragma synchronous = full");
  db.exec("create table event (session integer, seq integer, body text, primary key (session, seq)) without rowid");
  const insert = db.prepare("insert into event select ?, ? + key, value from json_each(?)");
  const started = performance.now();
  for (let seq = 1; seq <= count; seq += perTransaction) {
    const bodies = Array.from({ length: perTransaction }, (_, index) =>
      JSON.stringify({ ...event(seq + index), seq: seq + index }),
    );
    db.exec("begin immediate");
    insert.run([1, seq, `[${bodies.join(",")}]`]);
    db.exec("commit");
  }
  const rate = perSecond(count, started);
  db.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return rate;
}

/** Events per second of JSON.parse alone, on pages that are in memory already. */
export function floorOfReading({ count, page }) {
  const bodies = Array.from({ length: page }, (_, index) => JSON.stringify({ ...event(index + 1), seq: index + 1 }));
  const text = Buffer.from(`[${bodies.join(",")}]`);
  const started = performance.now();
  let parsed = 0;
  while (parsed < count) parsed += JSON.parse(text.toString("utf8")).length;
  return perSecond(parsed, started);
}

export function perSecond(count, started) {
  return (count * 1000) / (performance.now() - started);
}
