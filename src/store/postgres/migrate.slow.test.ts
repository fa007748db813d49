import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresBinaries, startPostgresCluster, type PostgresCluster } from "../../../scripts/postgres-cluster.mjs";
import { newAppend, outputText, SESSION, writeTestSession } from "../contract/scene.ts";
import { inspectPostgresStore, migratePostgresStore, openPostgresStore } from "./open.ts";
import { POSTGRES_MIGRATIONS } from "./schema.ts";

const CURRENT = POSTGRES_MIGRATIONS.length;
const BREAKING = { sql: "alter function @append_group_columns rename to append_group_next;", additive: false };
const ADDITIVE = { sql: "create table @later (id int);", additive: true };
const SLOW = { sql: "select pg_sleep(6); create table @slow (id int);", additive: true };

let cluster: PostgresCluster;
let count = 0;
const nextOptions = () => ({ url: cluster.url, schema: `migrated_${(count += 1)}` });

describe.skipIf(postgresBinaries() === undefined)("a migration of PostgreSQL", () => {
  beforeAll(async () => {
    cluster = await startPostgresCluster();
  });
  afterAll(() => cluster.stop());

  it("is refused if a connected older program could not work with it", async () => {
    const options = nextOptions();
    const migrations = [...POSTGRES_MIGRATIONS, BREAKING];
    const older = await openPostgresStore(options);
    await expect(migratePostgresStore(options, { migrations })).rejects.toMatchObject({
      code: "store_locked",
      message: expect.stringMatching(
        /is in use by older programs \(connections: 1 from this machine\): stop them, then run rookery migrate again/,
      ) as string,
    });
    expect(await inspectPostgresStore(options)).toMatchObject({ version: CURRENT });
    await older[Symbol.asyncDispose]();
    expect(await migratePostgresStore(options, { migrations })).toMatchObject({ from: CURRENT, version: CURRENT + 1 });
    await expect(openPostgresStore(options)).rejects.toMatchObject({ code: "store_newer" });
  });

  it("that is additive leaves older programs working, also those that start later", async () => {
    const options = nextOptions();
    await using older = await openPostgresStore(options);
    await writeTestSession(older);
    const migrations = [...POSTGRES_MIGRATIONS, ADDITIVE];
    await using newer = await openPostgresStore(options, { migrations });
    await older.append(newAppend(1, [outputText("2")]));
    await older.check();
    await using restarted = await openPostgresStore(options);
    await restarted.append(newAppend(2, [outputText("3")]));
    await newer.append(newAppend(3, [outputText("4")]));
    expect(await older.summary(SESSION)).toMatchObject({ head: 4 });
    expect(await inspectPostgresStore(options)).toMatchObject({ version: CURRENT + 1 });
    expect(await migratePostgresStore(options)).toMatchObject({ from: CURRENT + 1, version: CURRENT + 1 });
  });

  it("that is not additive is refused to older programs, even if additive ones follow it", async () => {
    const options = nextOptions();
    await (await openPostgresStore(options))[Symbol.asyncDispose]();
    await migratePostgresStore(options, { migrations: [...POSTGRES_MIGRATIONS, BREAKING, ADDITIVE] });
    await expect(openPostgresStore(options)).rejects.toMatchObject({ code: "store_newer" });
  });

  it("is not refused because of programs of another schema", async () => {
    const options = nextOptions();
    await using _other = await openPostgresStore(nextOptions());
    await (await openPostgresStore(options))[Symbol.asyncDispose]();
    const migrations = [...POSTGRES_MIGRATIONS, BREAKING];
    expect(await migratePostgresStore(options, { migrations })).toMatchObject({ version: CURRENT + 1 });
  });

  it("makes calls of an older program fail with store_newer", async () => {
    const options = nextOptions();
    await using older = await openPostgresStore(options);
    await writeTestSession(older);
    const client = await openSql();
    await client.query(`alter function "${options.schema}".append_group_columns rename to append_group_next`);
    await client.query(`insert into "${options.schema}".schema_version (version) values (${CURRENT + 1})`);
    await client.end();
    await expect(older.append(newAppend(1, [outputText("2")]))).rejects.toMatchObject({
      code: "store_newer",
      message: expect.stringContaining("update rookery") as string,
    });
    expect(await older.summary(SESSION)).toMatchObject({ head: 1 });
  });

  it("runs once if several processes start it, however long it takes", async () => {
    const options = nextOptions();
    await (await openPostgresStore(options))[Symbol.asyncDispose]();
    const migrations = [...POSTGRES_MIGRATIONS, SLOW];
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore(options, { migrations })));
    for (const store of stores) await store[Symbol.asyncDispose]();
    expect((await migratePostgresStore(options, { migrations })).from).toBe(CURRENT + 1);
  });

  it("leaves the old schema if the server is killed in the middle, and runs again", async () => {
    const options = nextOptions();
    await (await openPostgresStore(options))[Symbol.asyncDispose]();
    const migrations = [...POSTGRES_MIGRATIONS, { ...SLOW, sql: `create table @early (id int); ${SLOW.sql}` }];
    const migrating = openPostgresStore(options, { migrations });
    migrating.catch(() => undefined); // awaited below
    const client = await openSql();
    while ((await client.query("select 1 from pg_stat_activity where wait_event = 'PgSleep'")).rows.length === 0);
    client.on("error", () => undefined);
    await cluster.crash();
    await expect(migrating).rejects.toMatchObject({ code: "store_unavailable" });
    await cluster.start();
    expect(await inspectPostgresStore(options)).toMatchObject({ version: CURRENT });
    await using store = await openPostgresStore(options, { migrations });
    await writeTestSession(store);
  });
});

async function openSql() {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  return client;
}
