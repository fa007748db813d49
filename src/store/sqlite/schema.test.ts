import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import Libsql from "libsql";
import { emptySummary } from "../../domain/index.ts";
import { writeTestSession, outputText, SESSION, readSessionTexts } from "../contract/scene.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";
import { MIGRATIONS } from "./schema.ts";

const newPath = databasePaths();
const NEXT = "alter table session add column colour text not null default 'grey'; create table nest (twig text);";

describe("the schema of a SQLite store", () => {
  it("is migrated step by step and keeps its data", async () => {
    const path = newPath();
    const old = await openSqliteStore({ path });
    await writeTestSession(old, ["a"]);
    await old[Symbol.asyncDispose]();
    await using store = await openSqliteStore({ path }, { migrations: [...MIGRATIONS, NEXT, "drop table nest"] });
    expect(await readSessionTexts(store)).toEqual(["session.opened", "a"]);
    expect(ask(path, "pragma user_version")).toEqual([[MIGRATIONS.length + 2]]);
    expect(ask(path, "select id, colour from session")).toEqual([[SESSION, "grey"]]);
    expect(ask(path, "select name from sqlite_schema where name = 'nest'")).toEqual([]);
  });

  it("of the first version gets a feed of its sessions", async () => {
    const path = newPath();
    mkdirSync(dirname(path), { recursive: true });
    const old = new Libsql(path);
    old.exec(`
      ${MIGRATIONS[0]}
      pragma user_version = 1;
      insert into session (no, id, head, agent, cwd, status, summary) values
        (2, 'ses_b', 3, 'a', '/', 'idle', '${JSON.stringify({ ...emptySummary("ses_b"), head: 3 })}'),
        (7, 'ses_a', 2, 'a', '/', 'idle', '${JSON.stringify({ ...emptySummary("ses_a"), head: 2 })}');
      insert into event values
        (7, 1, '{"type":"x","seq":1}'), (7, 2, '{"type":"x","seq":2}'),
        (2, 1, '{"type":"x","seq":1}'), (2, 2, '{"type":"x","seq":2}'), (2, 3, '{"type":"x","seq":3}');`);
    old.close();
    await using store = await openSqliteStore({ path });
    const feed = async (after: number) =>
      (await store.readFeed({ after })).events.map(({ position, text }) => {
        const { sessionId, seq } = JSON.parse(text) as { sessionId: string; seq: number };
        return `${position} ${sessionId} ${seq}`;
      });
    const all = ["1 ses_b 1", "2 ses_b 2", "3 ses_b 3", "4 ses_a 1", "5 ses_a 2"];
    for (const after of [0, 1, 2, 3, 4, 5]) expect(await feed(after)).toEqual(all.slice(after));
    await writeTestSession(store);
    expect(await feed(4)).toEqual(["5 ses_a 2", `6 ${SESSION} 1`]);
    await store.append({ sessionId: "ses_b", id: "more", expectedHead: 3, events: [outputText("4")] });
    expect(await feed(6)).toEqual(["7 ses_b 4"]);
    await store.delete(await store.acquireLease({ sessionId: "ses_b", owner: "a", now: 0, until: 1 }));
    expect(await feed(0)).toEqual(["4 ses_a 1", "5 ses_a 2", `6 ${SESSION} 1`]);
  });

  it("stays at the last successful step if a migration fails", async () => {
    const path = newPath();
    const migrations = [...MIGRATIONS, NEXT, "create table twig (x); create table nest (twice)"];
    await expect(openSqliteStore({ path }, { migrations })).rejects.toMatchObject({ code: "store_unavailable" });
    expect(ask(path, "pragma user_version")).toEqual([[MIGRATIONS.length + 1]]);
    expect(ask(path, "select name from sqlite_schema where name = 'twig'")).toEqual([]);
  });

  it("of a newer program fails with both versions, and the file stays unchanged", async () => {
    const path = newPath();
    await using old = await openSqliteStore({ path });
    await old.check();
    const newer = await openSqliteStore({ path }, { migrations: [...MIGRATIONS, NEXT] });
    await newer[Symbol.asyncDispose]();
    await expect(old.check()).rejects.toMatchObject({ code: "store_newer" });
    const message = `${path} has schema version ${MIGRATIONS.length + 1} and this program supports up to ${MIGRATIONS.length}: update rookery`;
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: "store_newer", message });
    expect(ask(path, "pragma user_version")).toEqual([[MIGRATIONS.length + 1]]);
  });
});

function ask(path: string, sql: string): unknown {
  const db = new Libsql(path);
  try {
    return db.prepare(sql).raw().all();
  } finally {
    db.close();
  }
}
