import { describe, expect, it } from "vitest";
import { SESSION, writeTestSession } from "../contract/scene.ts";
import { hasTestPostgres, testSchemas } from "./fixtures/schemas.ts";
import { parsePostgresUrl } from "./location.ts";
import { inspectPostgresStore, migratePostgresStore, openPostgresStore } from "./open.ts";
import { POSTGRES_MIGRATIONS } from "./schema.ts";

const schemas = testSchemas();
const PASSWORD = "quite%secret";

describe("the URL of a PostgreSQL store", () => {
  it("has a server, a user, a database and a TLS mode", () => {
    expect(parsePostgresUrl("postgresql://me:p%40ss@db.example:6000/log?sslmode=verify-full", "other")).toMatchObject({
      ...{ servers: [{ host: "db.example", port: 6000 }], user: "me", database: "log", password: "p@ss" },
      tls: { mode: "verify-full" },
    });
    expect(parsePostgresUrl("postgres://me@[::1]", "given")).toMatchObject({
      ...{ servers: [{ host: "::1", port: 5432 }], user: "me", database: "me", password: "given" },
      ...{ isWritable: false, tls: { mode: "prefer" } },
    });
  });

  it("can name several servers, and one that accepts writes is used unless the URL says any", () => {
    const servers = [
      { host: "db1.example", port: 6000 },
      { host: "::1", port: 5432 },
    ];
    const url = "postgres://me:p%40ss@db1.example:6000,[::1]/log";
    expect(parsePostgresUrl(url)).toMatchObject({ servers, isWritable: true, password: "p@ss", database: "log" });
    expect(parsePostgresUrl(`${url}?target_session_attrs=read-write`)).toMatchObject({ servers, isWritable: true });
    expect(parsePostgresUrl(`${url}?target_session_attrs=any`)).toMatchObject({ servers, isWritable: false });
    expect(parsePostgresUrl("postgres://me@localhost/log?host=/one,/two")).toMatchObject({
      servers: [
        { host: "/one", port: 5432 },
        { host: "/two", port: 5432 },
      ],
    });
  });

  it.each([
    ["another protocol", `mysql://me:${PASSWORD}@host/log`, /not a URL of PostgreSQL/],
    ["no URL", `host ${PASSWORD}`, /not a URL of PostgreSQL/],
    ["an invalid port", "postgres://me:secret@host:port/log", /not a URL of PostgreSQL/],
    ["no user", "postgres://host/log", /names no user/],
    ["an unknown target", "postgres://me:secret@a,b/log?target_session_attrs=standby", /use one of any, read-write/],
    ["an invalid port of one server", "postgres://me:secret@a:1,b:port/log", /not a URL of PostgreSQL/],
    ["an unknown parameter", "postgres://me:secret@host/log?pool=5", /"pool"/],
    ["an unknown TLS mode", "postgres://me:secret@host/log?sslmode=maybe", /use one of disable, prefer/],
    ["a missing certificate", "postgres://me:secret@host/log?sslrootcert=/none.pem", /sslrootcert/],
    ["an invalid password", "postgres://me:%zz@host/log", /invalid password/],
  ])("is refused with %s, without showing the password", async (_, url, message) => {
    const error = (await openPostgresStore({ url }).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ code: "config_invalid", message: expect.stringMatching(message) as string });
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toMatch(/secret|%zz/);
  });
});

describe.skipIf(!hasTestPostgres)("opening a PostgreSQL store", () => {
  it("names the server and not the password if the user is refused", async () => {
    const { url, schema } = await schemas.next();
    await schemas.query("drop role if exists secured");
    await schemas.query(`create role secured login password '${PASSWORD}'`);
    const secured = url.replace("postgres@", "secured@");
    const wrong = await openPostgresStore({ url: secured, schema, password: "wrong word" }).catch(
      (error: unknown) => error,
    );
    expect(wrong).toMatchObject({ code: "store_unavailable" });
    expect((wrong as Error).message).toMatch(/the database postgres on .* rejected the user or the password/);
    expect((wrong as Error).message).not.toContain("wrong word");
    const none = openPostgresStore({ url: secured, schema });
    await expect(none).rejects.toThrow(/asks for a password: set ROOKERY_STORE_PASSWORD or \[store\] password_file/);
    const denied = openPostgresStore({ url: secured, schema, password: PASSWORD });
    await expect(denied).rejects.toMatchObject({ code: "store_readonly" }); // it may not create the schema
  });

  it("rejects with store_unavailable if no server listens or the database is missing", async () => {
    await expect(openPostgresStore({ url: "postgres://me:secret@127.0.0.1:1/log" })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(
        /^cannot reach the database log on 127\.0\.0\.1:1, schema rookery: check/,
      ) as string,
    });
    const { url } = await schemas.next();
    const missing = openPostgresStore({ url: url.replace("/postgres?", "/missing?") });
    await expect(missing).rejects.toThrow(/the database missing on .* does not exist: create it/);
  });

  it("refuses a schema with another program's tables, a newer version, or an invalid name", async () => {
    const foreign = await schemas.next();
    await schemas.query(`create schema "${foreign.schema}"`);
    await schemas.query(`create table "${foreign.schema}".orders (id int)`);
    await expect(openPostgresStore(foreign)).rejects.toMatchObject({ code: "store_corrupt" });
    const newer = await schemas.next();
    await using old = await openPostgresStore(newer);
    await old.check();
    await schemas.query(`insert into "${newer.schema}".schema_version (version) values (99)`);
    await expect(old.check()).rejects.toMatchObject({ code: "store_newer" });
    await expect(openPostgresStore(newer)).rejects.toMatchObject({ code: "store_newer" });
    const invalid = openPostgresStore({ url: foreign.url, schema: 'a"b' });
    await expect(invalid).rejects.toMatchObject({ code: "config_invalid" });
  });

  it("rejects with store_readonly if the database is read-only", async () => {
    const options = await schemas.next();
    await schemas.query("drop role if exists reader");
    await schemas.query("create role reader login superuser");
    await schemas.query("alter role reader set default_transaction_read_only = on");
    const readOnly = openPostgresStore({ ...options, url: options.url.replace("postgres@", "reader@") });
    await expect(readOnly).rejects.toMatchObject({ code: "store_readonly" });
    await schemas.query("drop role reader");
  });

  it("creates the schema once if several processes open it at the same time", async () => {
    const options = await schemas.next();
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore(options)));
    await writeTestSession(stores[0]!);
    expect(await stores[2]!.summary(SESSION)).toMatchObject({ head: 1 });
    for (const store of stores) await store[Symbol.asyncDispose]();
    expect(await inspectPostgresStore(options)).toMatchObject({ version: POSTGRES_MIGRATIONS.length });
    expect(await migratePostgresStore(options)).toMatchObject({ from: POSTGRES_MIGRATIONS.length });
  });

  it("applies additive migrations, and refuses others until they are asked for", async () => {
    const options = await schemas.next();
    await (await openPostgresStore(options))[Symbol.asyncDispose]();
    const additive = [...POSTGRES_MIGRATIONS, { sql: "create table @extra (id int);", additive: true }];
    await (await openPostgresStore(options, { migrations: additive }))[Symbol.asyncDispose]();
    expect(await schemas.query(`select * from "${options.schema}".extra`)).toEqual([]);
    const breaking = [...additive, { sql: "drop table @extra;", additive: false }];
    const opening = openPostgresStore(options, { migrations: breaking });
    await expect(opening).rejects.toThrow(
      `older schema version ${additive.length}: stop all older processes, then run rookery migrate`,
    );
    expect(await schemas.query(`select * from "${options.schema}".extra`)).toEqual([]);
  });
});
