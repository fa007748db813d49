import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newAppend, outputText, SESSION, writeTestSession } from "../../store/contract/scene.ts";
import { openSqliteStore } from "../../store/index.ts";
import { hasTestPostgres, testSchemas } from "../../store/postgres/fixtures/schemas.ts";
import { openCommandFixture, type CommandFixture } from "../test-command.ts";

const EVENTS = 100_000;
const BATCH = 1_000;
/** The log has about 100 MB of text, which would not fit. */
const HEAP_MB = 64;

const schemas = testSchemas();
let fixture: CommandFixture;
let source: string;
beforeAll(async () => {
  fixture = await openCommandFixture();
  source = join(fixture.home, "large.db");
  await using store = await openSqliteStore({ path: source });
  await writeTestSession(store);
  for (let head = 1; head < EVENTS; head += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, EVENTS - head) }, (_, index) =>
      outputText(`${head + index} `.padEnd(1_000, "x")),
    );
    await store.append(newAppend(head, events));
  }
  await store.putBlob(Buffer.alloc(20_000_000, 1));
}, 120_000);
afterAll(() => fixture[Symbol.asyncDispose]());

const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

describe.skipIf(!hasTestPostgres)("copying a store of 100 MB", () => {
  it("fits into a small heap, in both directions", { timeout: 300_000 }, async () => {
    const { url, schema } = await schemas.next();
    const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`, ROOKERY_STORE_SCHEMA: schema };
    const there = await fixture.start(["store", "copy", source, url, "--json"], { env }).ended;
    expect(there, there.stderr).toMatchObject({ code: 0 });
    const back = join(fixture.home, "back.db");
    const here = await fixture.start(["store", "copy", url, back, "--json"], { env }).ended;
    expect(here, here.stderr).toMatchObject({ code: 0 });
    const [first, second] = [there, here].map(({ stdout }) => JSON.parse(stdout) as Record<string, unknown>);
    expect(first).toMatchObject({ ok: true, events: EVENTS, blobs: 1, position: EVENTS });
    expect({ ...second, from: "", to: "" }).toEqual({ ...first, from: "", to: "" });
  });

  it(
    "leaves an unfinished target and an unchanged source if it is killed, and can be restarted",
    { timeout: 300_000 },
    async () => {
      const { url, schema } = await schemas.next();
      const env = { ROOKERY_STORE_SCHEMA: schema };
      const before = digest(source);
      const copying = fixture.start(["store", "copy", source, url], { env });
      await copying.waitForOutput(/(copying|verifying) \w+: \d+ of \d+/);
      copying.child.kill("SIGKILL");
      await copying.ended;
      expect(digest(source)).toBe(before);
      const opened = await fixture.start(["sessions"], { env: { ...env, ROOKERY_STORE_URL: url } }).ended;
      expect(opened).toMatchObject({ code: 1, stderr: expect.stringContaining("is an unfinished copy") as string });
      const refused = await fixture.start(["store", "copy", source, url], { env }).ended;
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--restart") as string });
      const restarted = await fixture.start(["store", "copy", source, url, "--restart", "--json"], { env }).ended;
      expect(restarted.stdout, restarted.stderr).toContain(`"events":${EVENTS}`);
      const listed = await fixture.start(["sessions", "--json"], { env: { ...env, ROOKERY_STORE_URL: url } }).ended;
      expect(listed.stdout).toContain(SESSION);
    },
  );
});
