import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import type { EventBody } from "../../domain/index.ts";
import { openSqliteStore } from "../../store/index.ts";
import { ownIdentity } from "../../stdx/index.ts";
import { temporaryFolder } from "../../testing/index.ts";
import { runAction } from "../test-io.ts";
import { listSessionsCommand } from "./list.ts";
import { showSessionCommand } from "./show.ts";

const AT = "2026-01-01T00:00:00.000Z";
const UNTIL = "2026-01-01T05:00:05.000Z";
const LOCALLY = new Date(UNTIL).toLocaleString("sv");
const ID = "ses_1";

let home: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  home = await temporaryFolder();
  return () => home[Symbol.asyncDispose]();
});

/** Creates a session with these events. `driven`: a live process holds its lease. */
async function logged(events: readonly (EventBody & { agent?: string })[], { driven = false } = {}): Promise<void> {
  await using store = await openSqliteStore({ path: join(home.path, "rookery.db") });
  const opened = { type: "session.opened", cwd: "/", backend: "api", permissions: "ask" } as const;
  const all = [opened, ...events].map((body) => ({ agent: "claude", ...body, at: AT, turnId: "trn_1" }));
  await store.append({ sessionId: ID, id: "app_1", expectedHead: 0, events: all });
  if (!driven) return;
  const { pid, startTime } = ownIdentity();
  const now = Date.now();
  await store.acquireLease({ sessionId: ID, owner: `${pid}.${startTime}.x/1`, now, until: now + 60_000 });
}

const PARKED: EventBody[] = [
  { type: "turn.started", input: [{ type: "text", text: "go" }] },
  { type: "turn.parked", until: UNTIL, message: "5-hour limit reached" },
];
const used = (agent: string): EventBody & { agent: string } => ({
  type: "usage.reported",
  inputTokens: 1000,
  outputTokens: 10,
  agent,
  costUsd: 1,
  costBy: "computed",
});

it.each([[true], [false]])("lists a parked session with its time (driven: %j)", async (driven) => {
  await logged(PARKED, { driven });
  expect(await runAction(listSessionsCommand, home.path)).toMatch(`1  parked until ${LOCALLY}  claude`);
  expect(await runAction(listSessionsCommand, home.path, { options: { status: "parked" } })).toContain("claude");
  expect(await runAction(listSessionsCommand, home.path, { options: { status: "running" } })).not.toContain("claude");
});

it("lists a session that was closed while parked as closed", async () => {
  await logged([...PARKED, { type: "session.closed" }]);
  expect(await runAction(listSessionsCommand, home.path)).toMatch(`1  closed  claude`);
});

it("shows a parked session with the command that continues it if no process drives it", async () => {
  await logged(PARKED);
  const text = await runAction(showSessionCommand, home.path, { args: [ID] });
  expect(text).toContain(`parked until ${LOCALLY}; no process drives it; continue it with: rookery run --session 1\n`);
});

it("shows a parked session without that command if a process drives it", async () => {
  await logged(PARKED, { driven: true });
  expect(await runAction(showSessionCommand, home.path, { args: [ID] })).toMatch(
    new RegExp(`^status +parked until ${LOCALLY}$`, "m"),
  );
});

it("shows usage by agent if there was more than one", async () => {
  await logged([used("claude"), used("codex")]);
  const text = await runAction(showSessionCommand, home.path, { args: [ID] });
  expect(text).toMatch(/^used +2,000 tokens in · 20 out · \$2\.00 \(computed\)$/m);
  expect(text).toMatch(/^used by claude +1,000 tokens in · 10 out · \$1\.00 \(computed\)$/m);
  expect(text).toMatch(/^used by codex +1,000 tokens in · 10 out · \$1\.00 \(computed\)$/m);
});

it("shows usage once if there was one agent", async () => {
  await logged([used("claude"), used("claude")]);
  expect(await runAction(showSessionCommand, home.path, { args: [ID] })).not.toContain("used by");
});
