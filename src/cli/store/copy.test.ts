import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { hasTestPostgres, testSchemas } from "../../store/postgres/fixtures/schemas.ts";
import { say } from "../../testing/index.ts";
import { openCommandFixture, type CommandFixture } from "../test-command.ts";

const schemas = testSchemas();
let fixture: CommandFixture;
let home: string;
beforeEach(async () => {
  fixture = await openCommandFixture([say("Hello from the file")]);
  home = join(fixture.home, ".rookery");
  await fixture.rookery(["run", "Say hello", "--agent", "anthropic"]);
  return () => fixture[Symbol.asyncDispose]();
});

describe("rookery store copy", () => {
  it.skipIf(!hasTestPostgres)("moves a home to a database and back to a file", async () => {
    const { url, schema } = await schemas.next();
    const copied = await fixture.rookery(["store", "copy", home, url, "--to-schema", schema]);
    expect(copied, copied.stderr).toMatchObject({ code: 0 });
    expect(copied.stdout).toMatch(
      /^copied +sessions: 1, tasks: 0, events: \d+, .*\nfrom .*rookery\.db\nto +the database/,
    );
    expect(copied.stdout).toMatch(/^verified .* position \d+ in both$/m);
    const env = { ROOKERY_STORE_URL: url, ROOKERY_STORE_SCHEMA: schema };
    expect((await fixture.rookery(["sessions", "show", "last"], { env })).stdout).toContain("Hello from the file");
    const back = join(fixture.home, "back.db");
    const json = await fixture.rookery(["store", "copy", url, back, "--json"], { env });
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: true, sessions: 1, to: back });
    const again = await fixture.rookery(["store", "copy", url, back], { env });
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("back.db is not empty") as string });
  });

  it("uses the rookery.db in a directory, even a new one", async () => {
    const target = join(fixture.home, "new");
    expect(await fixture.rookery(["store", "copy", home, `${target}/`])).toMatchObject({ code: 0 });
    expect(existsSync(join(target, "rookery.db"))).toBe(true);
    const listed = await fixture.rookery(["sessions", "--json"], { env: { ROOKERY_HOME: target } });
    expect(listed.stdout).toContain("Say hello");
  });

  it.each<[string, string[], number, RegExp]>([
    ["without a target", ["HOME"], 2, /needs <to>|<to>/],
    ["from a missing file", ["none.db", "copy.db"], 1, /none\.db does not exist: check the path/],
    ["to itself", ["HOME", "HOME"], 2, /are the same store/],
    ["with a schema for a file", ["HOME", "copy.db", "--to-schema", "x"], 2, /--to-schema is for a postgres:\/\/ URL/],
    ["to another database", ["HOME", "mysql://me:hidden@host/log"], 2, /is not a URL of PostgreSQL/],
    ["to a server that is away", ["HOME", "postgres://me:hidden@127.0.0.1:1/log"], 1, /cannot reach the database log/],
  ])("is refused %s, without a password", async (_, args, code, message) => {
    const words = args.map((word) => (word === "HOME" ? home : word));
    const refused = await fixture.rookery(["store", "copy", ...words]);
    expect(refused.stderr).toMatch(message);
    expect(refused.code).toBe(code);
    expect(refused.stdout + refused.stderr).not.toContain("hidden");
  });
});
