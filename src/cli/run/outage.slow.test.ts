import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openFaultyProxy } from "../../store/postgres/fixtures/proxy.ts";
import { hasTestPostgres, testSchemas } from "../../store/postgres/fixtures/schemas.ts";
import { call, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

const schemas = testSchemas();
const WAIT = "echo $$ > pid; until [ -e go ]; do sleep 0.05; done";

it.skipIf(!hasTestPostgres)(
  "continues a turn after the database was away for longer than the lease",
  { timeout: 120_000 },
  async () => {
    const { url, schema } = await schemas.next();
    await using proxy = await openFaultyProxy(url);
    await using fixture = await openCommandFixture(({ messages }) =>
      messages.some(({ role }) => role === "assistant")
        ? say("after the outage")
        : call("bash", { command: WAIT }, { text: "before the outage" }),
    );
    const env = { ROOKERY_STORE_URL: proxy.url, ROOKERY_STORE_SCHEMA: schema };
    const running = fixture.rookery(["run", "go", "--agent", "anthropic", "--permissions", "all"], { env });
    const file = (name: string) => join(fixture.repository.path, name);
    await vi.waitFor(() => expect(readFileSync(file("pid"), "utf8")).toMatch(/\n$/), 30_000);
    const pid = readFileSync(file("pid"), "utf8").trim();
    proxy.refuse();
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), { timeout: 40_000, interval: 100 });
    writeFileSync(file("go"), "");
    proxy.heal();
    const { code, stdout, stderr } = await running;
    expect(code, stderr).toBe(0);
    expect(stdout.match(/before the outage|after the outage/g)).toEqual(["before the outage", "after the outage"]);
    expect(stderr).toContain("the log was unreachable for too long, so the agent was stopped; waiting to continue");
  },
);
