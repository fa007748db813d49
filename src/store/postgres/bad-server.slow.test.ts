import { execFileSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresBinaries, startPostgresCluster, type PostgresCluster } from "../../../scripts/postgres-cluster.mjs";
import { newAppend, numbers, outputText, SESSION, toTextOrType, writeTestSession } from "../contract/scene.ts";
import { storeContract } from "../contract.ts";
import { temporaryFolder } from "../../testing/index.ts";
import { openPostgresStore } from "./open.ts";

const hasPostgres = postgresBinaries() !== undefined;

async function runSql(cluster: PostgresCluster, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Holds connections until it is disposed. */
async function holdConnections(url: string, count: number): Promise<AsyncDisposable> {
  const clients = numbers(1, count).map(() => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.end()));
    },
  };
}

describe.skipIf(!hasPostgres)("a server with few connections", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    const settings = { max_connections: "12", superuser_reserved_connections: "3" };
    cluster = await startPostgresCluster({ settings });
    await runSql(cluster, "create role worker login", "grant create on database postgres to worker");
  });
  afterAll(() => cluster.stop());

  it.each([
    ["of the server", "max_connections", 9, "alter role worker connection limit -1"],
    ["of the user", "connection limit of the user", 4, "alter role worker connection limit 4"],
  ])("says that the limit %s is reached, and works when a connection is free", async (_, advice, limit, sql) => {
    await runSql(cluster, sql);
    const url = cluster.url.replace("postgres@", "worker@");
    const options = { url, schema: "few", timeout: 3_000 };
    await using store = await openPostgresStore(options);
    await writeTestSession(store); // uses the reader and the writer
    {
      await using _held = await holdConnections(url, limit - 2);
      await expect(openPostgresStore(options)).rejects.toMatchObject({
        code: "store_unavailable",
        message: expect.stringMatching(new RegExp(`accepts no more connections: raise .*${advice}`)) as string,
      });
      expect(await store.append(newAppend(1, [outputText("2")]))).toEqual({ head: 2, repeated: false });
      const leasing = store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }); // needs the third
      await expect(leasing).rejects.toMatchObject({ code: "store_unavailable" });
    }
    expect(await store.acquireLease({ sessionId: SESSION, owner: "b", now: 2, until: 3 })).toMatchObject({
      owner: "b",
    });
    await using other = await openPostgresStore(options);
    expect(await other.summary(SESSION)).toMatchObject({ head: 2 });
    await store[Symbol.asyncDispose]();
    await runSql(cluster, "drop schema few cascade");
  });
});

describe.skipIf(!hasPostgres)("a database with other settings", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    const settings = {
      ...{ timezone: "'Asia/Kathmandu'", datestyle: "'SQL, DMY'", lc_messages: "'C'", bytea_output: "'escape'" },
      ...{ standard_conforming_strings: "off", default_transaction_isolation: "'serializable'" },
      ...{ synchronous_commit: "off", extra_float_digits: "0", default_transaction_deferrable: "on" },
    };
    cluster = await startPostgresCluster({ settings });
    const icu = "locale_provider icu icu_locale 'de-DE-u-kn-true' template template0 encoding 'UTF8'";
    await runSql(
      cluster,
      `create database sorted ${icu}`,
      "create database latin encoding 'LATIN1' locale 'C' template template0",
      "create database ascii encoding 'SQL_ASCII' locale 'C' template template0",
    );
  });
  afterAll(() => cluster.stop());

  const urlOf = (database: string) => cluster.url.replace("/postgres?", `/${database}?`);

  it.each(["latin", "ascii"])("is refused if its encoding is not UTF8: %s", async (database) => {
    await expect(openPostgresStore({ url: urlOf(database) })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/has the encoding \w+: create a database with the encoding UTF8/) as string,
    });
  });

  it.each(storeContract.filter(({ name }) => /list|sort|order|blob|lease|page|key|search/i.test(name)))(
    "$name, with another collation, time zone and defaults",
    async ({ run }) => {
      await run(async () => {
        await dropSchema();
        return openPostgresStore({ url: urlOf("sorted"), schema: "sorted" });
      });
    },
  );

  async function dropSchema(): Promise<void> {
    const client = new pg.Client({ connectionString: urlOf("sorted") });
    await client.connect();
    await client.query("drop schema if exists sorted cascade");
    await client.end();
  }
});

describe.skipIf(!hasPostgres)("a database that becomes read-only", () => {
  it("rejects with store_readonly, says what to do, and works again afterwards", async () => {
    const cluster = await startPostgresCluster();
    try {
      await using store = await openPostgresStore({ url: cluster.url, timeout: 1_000 });
      await writeTestSession(store);
      const append = newAppend(1, [outputText("2")]);
      await runSql(cluster, "alter system set default_transaction_read_only = on", "select pg_reload_conf()");
      await runSql(
        cluster,
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'rookery %'",
      );
      await expect(store.append(append)).rejects.toMatchObject({
        code: "store_readonly",
        message: expect.stringMatching(/accepts no writes: .*primary/) as string,
      });
      expect(await store.summary(SESSION)).toMatchObject({ head: 1 }); // reads work
      await runSql(
        cluster,
        "set default_transaction_read_only = off",
        "alter system reset default_transaction_read_only",
        "select pg_reload_conf()",
      );
      expect((await store.append(append)).head).toBe(2);
    } finally {
      await cluster.stop();
    }
  });
});

describe.skipIf(!hasPostgres)("a server without disk space", () => {
  it("rejects with store_full, loses nothing, and works again, if this user may mount a disk", async ({ skip }) => {
    await using folder = await temporaryFolder();
    let disk: string | undefined;
    const mount = (path: string): void => {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", path], { stdio: "ignore" });
      disk = path;
    };
    try {
      mount(folder.path);
    } catch {
      skip("mounting a small disk needs root");
    }
    const cluster = await startPostgresCluster();
    try {
      execFileSync("chmod", ["777", folder.path]);
      await runSql(cluster, `create tablespace small location '${folder.path}'`, "set default_tablespace = small");
      await runSql(cluster, "alter database postgres set default_tablespace = small");
      await using store = await openPostgresStore({ url: cluster.url, timeout: 3_000 });
      await writeTestSession(store);
      const filler = join(folder.path, "filler");
      fill(filler);
      const text = "x"
        .repeat(200_000)
        .replaceAll(/x/g, () => String(Math.random()).slice(2, 12))
        .slice(0, 200_000);
      const append = newAppend(1, [outputText(text)]);
      await expect(store.append(append)).rejects.toMatchObject({
        code: "store_full",
        message: expect.stringMatching(/^no disk space left for the database postgres on .*: free some/) as string,
      });
      expect(await store.read({ sessionId: SESSION })).toMatchObject({ head: 1 });
      rmSync(filler);
      expect(await store.append(append)).toEqual({ head: 2, repeated: false });
      expect((await store.read({ sessionId: SESSION })).events.slice(1).map(toTextOrType)).toEqual([text]);
    } finally {
      await cluster.stop();
      if (disk !== undefined) execFileSync("umount", ["--lazy", disk], { stdio: "ignore" });
    }
  });
});

/** Fills the disk. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (const size of [65_536, 4_096, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch {
        // the chunk does not fit
      }
    }
  } finally {
    closeSync(file);
  }
}
