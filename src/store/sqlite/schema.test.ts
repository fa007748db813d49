import { describe, expect, it } from "vitest";
import Libsql from "libsql";
import { openSession, SESSION, textsIn } from "../contract/scene.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";
import { MIGRATIONS } from "./schema.ts";

const newPath = databasePaths();
const NEXT = "alter table session add column colour text not null default 'grey'; create table nest (twig text);";

describe("the schema of a SQLite store", () => {
  it("is brought forward step by step, keeping what is there", async () => {
    const path = newPath();
    const old = await openSqliteStore({ path });
    await openSession(old, ["a"]);
    await old[Symbol.asyncDispose]();
    await using store = await openSqliteStore({ path }, { migrations: [...MIGRATIONS, NEXT, "drop table nest"] });
    expect(await textsIn(store)).toEqual(["session.opened", "a"]);
    expect(ask(path, "pragma user_version")).toEqual([[MIGRATIONS.length + 2]]);
    expect(ask(path, "select id, colour from session")).toEqual([[SESSION, "grey"]]);
    expect(ask(path, "select name from sqlite_schema where name = 'nest'")).toEqual([]);
  });

  it("stays at the last step that worked where one fails", async () => {
    const path = newPath();
    const migrations = [...MIGRATIONS, NEXT, "create table twig (x); create table nest (twice)"];
    await expect(openSqliteStore({ path }, { migrations })).rejects.toMatchObject({ code: "store_unavailable" });
    expect(ask(path, "pragma user_version")).toEqual([[MIGRATIONS.length + 1]]);
    expect(ask(path, "select name from sqlite_schema where name = 'twig'")).toEqual([]);
  });

  it("of a newer program is refused with both versions, and the file is left as it is", async () => {
    const path = newPath();
    const newer = await openSqliteStore({ path }, { migrations: [...MIGRATIONS, NEXT] });
    await newer[Symbol.asyncDispose]();
    const message = `${path} has version ${MIGRATIONS.length + 1} and this program knows ${MIGRATIONS.length}: update rookery`;
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
