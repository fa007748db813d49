import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { postgresBinaries, startPostgresCluster, type PostgresCluster } from "../../../scripts/postgres-cluster.mjs";
import type { Store } from "../../domain/index.ts";
import { temporaryFolder, type TemporaryFolder } from "../../testing/index.ts";
import { sharedStoreContract, storeContract } from "../contract.ts";
import { newAppend, numbers, outputText, SESSION, toTextOrType, writeTestSession } from "../contract/scene.ts";
import { openPostgresStore } from "./open.ts";

const hasPgBouncer = spawnSync("pgbouncer", ["--version"]).status === 0;
const isRoot = process.getuid?.() === 0;

let cluster: PostgresCluster;
let folder: TemporaryFolder;
let pooler: ChildProcess;
let port: number;
let count = 0;

const urlOf = (database = "postgres", user = "postgres") => `postgres://${user}@127.0.0.1:${port}/${database}`;

async function runSql(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** A new schema, through the pooler. */
function nextOptions() {
  count += 1;
  return { url: urlOf(), schema: `pooled_${count}` };
}

describe.skipIf(!hasPgBouncer || postgresBinaries() === undefined).each([
  ["that refuses settings", []],
  ["that ignores settings", ["ignore_startup_parameters = options"]],
])("PgBouncer in transaction mode %s", (_, more) => {
  beforeAll(async () => {
    cluster = await startPostgresCluster();
    folder = await temporaryFolder();
    port = await findPort();
    const upstream = `host=${cluster.folder} port=5432`;
    const lines = [
      "[databases]",
      `postgres = ${upstream}`,
      `quiet = ${upstream} dbname=postgres`,
      "[pgbouncer]",
      `listen_addr = 127.0.0.1`,
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${join(folder.path, "users.txt")}`,
      "pool_mode = transaction",
      "default_pool_size = 5",
      "max_client_conn = 200",
      ...more,
    ];
    writeFileSync(join(folder.path, "pgbouncer.ini"), `${lines.join("\n")}\n`);
    writeFileSync(join(folder.path, "users.txt"), '"postgres" ""\n"careless" ""\n');
    pooler = startPooler(join(folder.path, "pgbouncer.ini"));
    await vi.waitFor(() => canConnect(port), 20_000);
  });
  afterAll(async () => {
    pooler.kill("SIGKILL");
    await once(pooler, "exit");
    await cluster.stop();
    await folder[Symbol.asyncDispose]();
  });

  it.each(more.length === 0 ? storeContract : [])("$name", async ({ run }) =>
    run(() => openPostgresStore(nextOptions())),
  );

  it.each(sharedStoreContract)("$name", async ({ run }) =>
    run(() => {
      const options = nextOptions();
      return Promise.resolve(() => openPostgresStore(options));
    }),
  );

  it("is bypassed for notifications with listenUrl", async () => {
    const options = nextOptions();
    await using polling = await openPostgresStore(options);
    await using listening = await openPostgresStore({ ...options, listenUrl: cluster.url });
    await writeTestSession(polling);
    const following = Promise.all([polling, listening].map(followTwenty));
    await vi.waitFor(async () => expect(await countListeners(options.schema)).toBe(1), 20_000);
    for (const number of numbers(2, 21)) await polling.append(newAppend(number - 1, [outputText(String(number))]));
    const expected = numbers(2, 21).map(String);
    expect(await following).toEqual([expected, expected]);
  });

  it("is refused if the server has a setting with which events could be lost", async () => {
    await runSql("create role careless login superuser", "alter role careless set synchronous_commit = off");
    await expect(openPostgresStore({ url: urlOf("quiet", "careless") })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/behind a connection pool.*ALTER ROLE.*synchronous_commit = on/) as string,
    });
  });
});

async function followTwenty(store: Store): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of store.follow({ sessionId: SESSION, after: 1 })) {
    if (texts.push(toTextOrType(event)) === 20) break;
  }
  return texts;
}

async function countListeners(schema: string): Promise<number> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  const { rows } = await client.query("select 1 from pg_stat_activity where query = $1", [
    `listen "rookery_${schema}"`,
  ]);
  await client.end();
  return rows.length;
}

/** PgBouncer refuses to run as root. */
function startPooler(configuration: string): ChildProcess {
  const mapped = ["--user", "--map-user=65534", "--map-group=65534", "pgbouncer", "-q", configuration];
  const [command, words] = isRoot ? ["unshare", mapped] : ["pgbouncer", ["-q", configuration]];
  return spawn(command, words, { stdio: "ignore", env: { PATH: process.env["PATH"] } });
}

async function canConnect(at: number): Promise<void> {
  const socket = connect(at, "127.0.0.1");
  await once(socket, "connect");
  socket.destroy();
}

async function findPort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return free;
}
