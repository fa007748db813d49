// The baselines: the speed of the machine without Rookery.
import { rmSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { event } from "./events.mjs";

/** Events per second of plain libsql with the same bytes, batch size and durability. The JSON is prepared in advance. */
export function floorOfWriting(folder, { count, perTransaction }) {
  const path = join(folder, "floor.db");
  const db = new Database(path);
  db.exec("pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 2000");
  db.exec("create table event (session integer, seq integer, body text, primary key (session, seq)) without rowid");
  const insert = db.prepare("insert into event select ?, ? + key, value from json_each(?)");
  const groups = Array.from({ length: Math.ceil(count / perTransaction) }, (_, index) => {
    const seqs = Array.from({ length: perTransaction }, (_, offset) => 1 + index * perTransaction + offset);
    return [seqs[0], `[${seqs.map(body).join(",")}]`];
  });
  const started = performance.now();
  for (const [seq, bodies] of groups) {
    db.exec("begin immediate");
    insert.run([1, seq, bodies]);
    db.exec("commit");
  }
  const rate = perSecond(groups.length * perTransaction, started);
  db.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return rate;
}

/** Events per second of JSON.parse, on pages that are already in memory. */
export function floorOfReading({ count, page }) {
  const text = Buffer.from(`[${Array.from({ length: page }, (_, index) => body(index + 1)).join(",")}]`);
  const started = performance.now();
  let parsed = 0;
  while (parsed < count) parsed += JSON.parse(text.toString("utf8")).length;
  return perSecond(parsed, started);
}

export function perSecond(count, started) {
  return (count * 1000) / (performance.now() - started);
}

function body(seq) {
  return JSON.stringify({ ...event(seq), seq });
}
