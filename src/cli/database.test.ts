import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { POSTGRES_MIGRATIONS } from "../store/postgres/schema.ts";
import { hasTestPostgres, testSchemas } from "../store/postgres/fixtures/schemas.ts";
import { say } from "../testing/index.ts";
import { openCommandFixture, type CommandFixture } from "./test-command.ts";

const schemas = testSchemas();

describe.skipIf(!hasTestPostgres)("the command with its log in PostgreSQL", () => {
  let fixture: CommandFixture;
  let env: Record<string, string>;
  beforeEach(async () => {
    fixture = await openCommandFixture([say("Hello from the database")]);
    const { url, schema } = await schemas.next();
    env = { ROOKERY_STORE_URL: url, ROOKERY_STORE_SCHEMA: schema };
    return () => fixture[Symbol.asyncDispose]();
  });

  it("runs, lists and shows sessions without a file in the home", async () => {
    const ran = await fixture.rookery(["run", "Say hello", "--agent", "anthropic"], { env });
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello from the database") as string });
    const listed = await fixture.start(["sessions", "--json"], { env }).ended; // the bundled driver
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    expect(listed.stdout).toContain("Say hello");
    expect((await fixture.rookery(["sessions", "show", "last"], { env })).stdout).toContain("Hello from the database");
    expect((await fixture.rookery(["complete", "sessions", "show", ""], { env })).stdout).toContain("Say hello");
    expect((await fixture.rookery(["sessions", "--json"])).stdout).not.toContain("Say hello");
    expect(existsSync(join(fixture.home, ".rookery", "rookery.db"))).toBe(true); // of the call without the database
  });

  it("reports the database in doctor, and its problems, without the password", async () => {
    const empty = await fixture.rookery(["doctor"], { env });
    expect(empty.stdout).toMatch(
      /^ok +log +the database postgres on .*: no tables yet, PostgreSQL \d+.*ms per query$/ms,
    );
    const { ROOKERY_STORE_SCHEMA: schema = "" } = env;
    const migrated = await fixture.rookery(["migrate"], { env });
    expect(migrated.stdout).toMatch(
      new RegExp(`schema ${schema} now has schema version ${POSTGRES_MIGRATIONS.length}\n$`),
    );
    expect((await fixture.rookery(["migrate", "--json"], { env })).stdout).toContain(
      `"from":${POSTGRES_MIGRATIONS.length}`,
    );
    const unreachable = { ...env, ROOKERY_STORE_URL: "postgres://me:hidden@127.0.0.1:1/log" };
    const failed = await fixture.rookery(["doctor"], { env: unreachable });
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/^problem +log +cannot reach/m) as string });
    const run = await fixture.rookery(["run", "x"], { env: unreachable });
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot reach the database log") as string });
    expect(failed.stdout + failed.stderr + run.stdout + run.stderr).not.toContain("hidden");
    const repair = await fixture.rookery(["doctor", "--repair"], { env });
    expect(repair).toMatchObject({ code: 2, stderr: expect.stringContaining("restore a backup") as string });
  });
});
