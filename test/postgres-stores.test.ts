/** `npm run test:postgres` runs suites that do not know it. These tests fail if it put nothing behind their stores. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createTask, TASK } from "../src/store/contract/scene.ts";
import { openMemoryStore, openSqliteStore } from "../src/store/index.ts";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import { builtEnvironment, temporaryFolder } from "../src/testing/index.ts";
import { isOnPostgres } from "./support/postgres/plugin.ts";
import { NOT_ON_POSTGRES, POSTGRES_SAMPLE } from "./support/postgres/suites.ts";

it.runIf(isOnPostgres())(
  "opens the same schema for a path and for a command with the environment of its home",
  async () => {
    await using folder = await temporaryFolder();
    const env = builtEnvironment({ home: folder.path });
    const path = join(env["ROOKERY_HOME"] ?? "", "rookery.db");
    await using file = await openSqliteStore({ path });
    await createTask(file);
    expect(existsSync(path)).toBe(false);
    const [url = "", schema] = [env["ROOKERY_STORE_URL"], env["ROOKERY_STORE_SCHEMA"]];
    await using database = await openPostgresStore({ url, schema });
    expect(await database.task(TASK)).toMatchObject({ head: 1 });
  },
);

it("gives each test an empty store", async () => {
  for (const _ of [1, 2]) {
    await using store = openMemoryStore();
    expect(await createTask(store)).toEqual({ head: 1, repeated: false });
  }
});

it("names only files that exist", () => {
  const named = [...POSTGRES_SAMPLE, ...Object.keys(NOT_ON_POSTGRES)];
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});
