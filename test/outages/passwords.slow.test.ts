import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresBinaries, startPostgresCluster, type PostgresCluster } from "../../scripts/postgres-cluster.mjs";
import { openCommandFixture, type CommandFixture } from "../../src/cli/test-command.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { call, say } from "../../src/testing/index.ts";

const PASSWORD = "Tr0ub4dor&3";
/** Also as it is written in URLs. */
const SECRETS = [PASSWORD, encodeURIComponent(PASSWORD)];
const WRONG = "wr0ng-passw0rd";

let cluster: PostgresCluster;
let fixture: CommandFixture;

describe.skipIf(postgresBinaries() === undefined)("the password of the database", () => {
  beforeAll(async () => {
    cluster = await startPostgresCluster();
    await querySql(`create role secured login superuser password '${PASSWORD}'`);
    const command = "env; tr '\\0' ' ' < /proc/$PPID/cmdline; tr '\\0' '\\n' < /proc/$PPID/environ";
    fixture = await openCommandFixture(({ messages }) =>
      messages.some(({ role }) => role === "assistant") ? say("done") : call("bash", { command }),
    );
  });
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]();
    await cluster.stop();
  });

  const urlOf = (password?: string) =>
    cluster.url.replace("postgres@", password === undefined ? "secured@" : `secured:${encodeURIComponent(password)}@`);

  it.each([
    ["in the URL", () => ({ ROOKERY_STORE_URL: urlOf(PASSWORD) })],
    ["in a variable", () => ({ ROOKERY_STORE_URL: urlOf(), ROOKERY_STORE_PASSWORD: PASSWORD })],
    ["in a file", () => ({})],
  ])("is in no output, no event and no file if it is %s", async (where, variables) => {
    const folder = join(fixture.home, ".config", "rookery");
    await mkdir(folder, { recursive: true });
    const table = where === "in a file" ? `[store]\nurl = "${urlOf()}"\npassword_file = "secret"\n` : "";
    await writeFile(join(folder, "secret"), `${PASSWORD}\n`);
    await writeFile(join(folder, "rookery.toml"), table);
    const schema = `passwords_${where.replaceAll(" ", "_").toLowerCase()}`;
    const env = { ...variables(), ROOKERY_STORE_SCHEMA: schema, ROOKERY_DEBUG: "1" };
    const outputs: string[] = [];
    for (const words of COMMANDS) {
      const { stdout, stderr } = await fixture.rookery(words, { env });
      outputs.push(stdout, stderr);
    }
    expect(outputs.join("\n")).toContain("ROOKERY_STORE_SCHEMA"); // the tool printed its environment
    expectNoSecret(outputs);
    const { rows } = await querySql(`select body from "${schema}".event`);
    expect(rows.length).toBeGreaterThan(5);
    expectNoSecret([JSON.stringify(rows)]);
    const activity = await querySql("select query, application_name from pg_stat_activity");
    expectNoSecret([JSON.stringify(activity.rows)]);
    expectNoSecret(readFolder(join(fixture.home, ".rookery")));
  });

  it.each([
    ["a wrong password", () => ({ url: urlOf(WRONG) })],
    ["a missing database", () => ({ url: urlOf(PASSWORD).replace("/postgres?", "/missing?") })],
    ["a wrong parameter", () => ({ url: `${urlOf(PASSWORD)}&pool=5` })],
    ["an unreachable server", () => ({ url: `postgres://me:${encodeURIComponent(PASSWORD)}@127.0.0.1:1/log` })],
    ["several unreachable servers", () => ({ url: `postgres://me:${PASSWORD}@127.0.0.1:1,127.0.0.1:2/log` })],
    ["an invalid URL", () => ({ url: `postgres://me:${PASSWORD}@host:port/log` })],
    ["a password with a slash", () => ({ url: `postgres://me:a/${WRONG}@127.0.0.1:1/log` })],
    ["a password with an at sign", () => ({ url: `postgres://me:a@${WRONG}@127.0.0.1:1/log` })],
  ])("is in no part of the error for %s", async (_, options) => {
    const error: unknown = await openPostgresStore({ ...options(), timeout: 1_000 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: expect.stringMatching(/^(store_|config_)/) as string });
    expectNoSecret([inspect(error, { depth: Infinity, showHidden: true })]);
    const env = { ROOKERY_STORE_URL: options().url, ROOKERY_DEBUG: "1" };
    for (const words of [
      ["sessions", "--json"],
      ["doctor", "--json"],
      ["migrate", "--json"],
    ]) {
      const { stdout, stderr } = await fixture.rookery(words, { env });
      expectNoSecret([stdout, stderr]);
    }
  });

  it("is not shown if the store object is printed", async () => {
    await using store = await openPostgresStore({ url: urlOf(PASSWORD) });
    await store.list();
    expectNoSecret([inspect(store, { depth: Infinity, showHidden: true, showProxy: true }), JSON.stringify(store)]);
  });
});

const COMMANDS = [
  ["migrate", "--json"],
  ["doctor", "--json"],
  ["doctor"],
  ["run", "go", "--agent", "anthropic", "--permissions", "all", "--json"],
  ["sessions", "--json"],
  ["sessions", "events", "last", "--json"],
  ["config", "show"],
];

function expectNoSecret(texts: readonly string[]): void {
  for (const secret of [...SECRETS, WRONG]) {
    const leak = texts.find((text) => text.includes(secret));
    expect(leak?.slice(Math.max(0, leak.indexOf(secret) - 100)).slice(0, 200)).toBeUndefined();
  }
}

/** The text of all files. */
function readFolder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"));
}

async function querySql(sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
