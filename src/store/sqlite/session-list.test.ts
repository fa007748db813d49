import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, it } from "vitest";
import { newId, shortId } from "../../domain/index.ts";
import { explainQueries, QueryRecorder } from "./fixtures/plans.ts";
import { openSqliteStore } from "./open.ts";
import { listSummaries } from "./session-list.ts";
import { queryTasks } from "./tasks.ts";

it("finds sessions and tasks by the start of an id in an index", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rookery-list-"));
  const path = join(folder, "rookery.db");
  await (await openSqliteStore({ path }))[Symbol.asyncDispose]();
  const db = new QueryRecorder(new Libsql(path), path);
  const readPiece = async <T>(read: () => T): Promise<T> => read();
  await listSummaries(db, { idPrefix: shortId(newId("ses")) }, readPiece);
  await queryTasks(db, { idPrefix: "fix" }, readPiece);
  const plan = explainQueries(db);
  expect(plan.join("\n")).not.toMatch(/SCAN (session|task)/);
  expect(plan.filter((step) => step.includes("session_short_id"))).toHaveLength(1);
  db.close();
  await rm(folder, { recursive: true });
});
