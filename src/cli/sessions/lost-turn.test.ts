import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { EventBody } from "../../domain/index.ts";
import { openSqliteStore } from "../../store/index.ts";
import { temporaryFolder } from "../../testing/index.ts";
import { answerCommand } from "../answer.ts";
import { runAction } from "../test-io.ts";
import { listSessionsCommand } from "./list.ts";
import { showSessionCommand } from "./show.ts";

const ID = "ses_1";
const ASKED: EventBody[] = [
  { type: "turn.started", input: [{ type: "text", text: "go" }] },
  {
    type: "permission.requested",
    requestId: "r1",
    toolId: "t1",
    tool: "Bash",
    title: "ls",
    kind: "execute",
    input: { command: "ls" },
  },
];

let home: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  home = await temporaryFolder();
  return () => home[Symbol.asyncDispose]();
});

/** Creates a session whose process was killed while its agent waited for an answer. */
async function killed(backend: string): Promise<void> {
  await using store = await openSqliteStore({ path: join(home.path, "rookery.db") });
  const opened = { type: "session.opened", cwd: "/", backend, permissions: "ask" } as const;
  const all = [opened, ...ASKED].map((body) => ({ ...body, agent: "a", at: "2026-01-01T00:00:00.000Z", turnId: "t" }));
  await store.append({ sessionId: ID, id: "app_1", expectedHead: 0, events: all });
}

describe.each([
  ["the built-in agent continues its turn", "api", "rookery run --session 1", true],
  ["a program needs another prompt", "claude-code", 'rookery run "…" --session 1', false],
])("after its process was killed, %s", (_, backend, command, hears) => {
  it("sessions show prints the command that continues it", async () => {
    await killed(backend);
    const text = await runAction(showSessionCommand, home.path, { args: [ID] });
    expect(text).toContain(`interrupted (was waiting); continue it with: ${command}\n`);
    expect(text.includes("rookery answer 1 r1 allow")).toBe(hears);
  });

  it("answer prints the command that continues it", async () => {
    await killed(backend);
    const text = await runAction(answerCommand, home.path, { args: [ID, "r1", "allow"] });
    expect(text).toContain(`; continue it with: ${command}\n`);
    expect(text.includes("the answer has no effect")).toBe(!hears);
  });
});

it.each([
  ["interrupted", true],
  ["waiting", false],
  ["idle", false],
])("sessions list --status %s lists it: %j", async (status, isListed) => {
  await killed("api");
  const text = await runAction(listSessionsCommand, home.path, { options: { status } });
  expect(text.startsWith("1  interrupted  a  1 turn")).toBe(isListed);
  expect(text.startsWith("no such sessions; ")).toBe(!isListed);
});
