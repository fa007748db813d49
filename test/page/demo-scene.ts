/** A server with a small fleet: tasks of a real repository, and sessions with one of everything. For pictures and checks of every screen. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect, vi } from "vitest";
import { userConfigFile } from "../../src/config/index.ts";
import type { Store, TaskStatus } from "../../src/domain/index.ts";
import { Rookery } from "../../src/rookery.ts";
import { serveHttp } from "../../src/server/http/index.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { builtEnvironment, startModelServer, temporaryFolder } from "../../src/testing/index.ts";
import { startBrowser } from "./browser.ts";
import { DEMO_EVENTS, DEMO_PERMISSION, DEMO_QUESTION } from "./demo-events.ts";
import { DEMO_FILES, DEMO_PROMPTS, makeDemoScript } from "./demo-repository.ts";
import { SessionLog } from "./session-log.ts";

export type DemoScene = Awaited<ReturnType<typeof openDemoScene>>;

const CONFIG = `[defaults]
agent = "sonnet"
[agents.sonnet]
backend = "api"
model = "anthropic/claude-sonnet-5"
mcp = []
[agents.haiku]
backend = "api"
model = "anthropic/claude-haiku-4-5"
mcp = []
[pipelines.checked]
stages = [
  { name = "write", agent = "sonnet" },
  { name = "test", run = "echo '1..1'; echo 'ok 1 - keeps a job that is pushed while it drains'" },
]
[pipelines.migrated]
stages = [
  { name = "write", agent = "haiku" },
  { name = "test", run = "echo 'error: src/store.ts has no export named open'; exit 1" },
]
[mcp.issues]
url = "http://127.0.0.1:9/issues"
[mcp.files]
command = ["files-server", "."]
`;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export async function openDemoScene() {
  await using opening = new DisposeStack();
  const folder = opening.use(await temporaryFolder());
  const repository = join(folder.path, "tern");
  const env = await prepareRepository(folder.path, repository);
  let endWork = (): void => undefined;
  const working = new Promise<void>((resolve) => (endWork = resolve));
  const model = opening.use(await startModelServer(makeDemoScript(working)));
  Object.assign(env, { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" });
  const rookery = opening.use(await Rookery.open({ env, cwd: repository }));
  const log = (): void => undefined;
  const server = opening.use(await serveHttp(rookery, { port: 0, version: "1.2.3", env, cwd: repository, log }));
  const stopping = new AbortController();
  const running = rookery.runTasks({ signal: stopping.signal }).catch(() => undefined);
  opening.defer(async () => {
    stopping.abort();
    endWork();
    await running;
  });
  const sessionId = await writeSessions(rookery.store, repository);
  await runTasks(rookery);
  const browser = await startBrowser(folder.path);
  opening.defer(() => browser.close());
  const owned = opening.move();
  return {
    rookery,
    server,
    browser,
    /** A session with one of everything. */
    sessionId,
    /** Opens a page in a new profile, signed in. */
    async open(path: string, options: Parameters<typeof browser.newContext>[0] = {}): Promise<Page> {
      const page = await (await browser.newContext({ reducedMotion: "reduce", ...options })).newPage();
      await page.goto(server.makeSignInLink().url);
      await page.getByRole("heading", { name: "Roster" }).waitFor();
      await page.goto(`${server.url}${path}`);
      return page;
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

async function prepareRepository(home: string, repository: string): Promise<Record<string, string>> {
  const env = { ...builtEnvironment({ home }), GIT_CONFIG_GLOBAL: "/dev/null" };
  for (const [file, text] of Object.entries(DEMO_FILES)) {
    await mkdir(dirname(join(repository, file)), { recursive: true });
    await writeFile(join(repository, file), text);
  }
  const commands = [
    ["init", "--quiet", "--initial-branch=main"],
    ["config", "user.name", "A"],
    ["config", "user.email", "a@example.org"],
    ["add", "."],
    ["commit", "--quiet", "--message=Start"],
  ];
  for (const args of commands) await promisify(execFile)("git", args, { cwd: repository, env });
  await mkdir(dirname(userConfigFile(env)), { recursive: true });
  await writeFile(userConfigFile(env), CONFIG);
  return env;
}

/** Ends with one task in each group of the roster. */
async function runTasks({ tasks }: Rookery): Promise<void> {
  const start = (id: string, title: string, prompt: string, more: Parameters<typeof tasks.start>[0] | object = {}) =>
    tasks.start({ id, title, prompt, permissions: "all", ...more });
  const until = (id: string, status: TaskStatus) =>
    vi.waitFor(async () => expect((await tasks.show(id)).status).toBe(status), { timeout: 30_000, interval: 50 });
  await start("fix-drain", "Keep jobs that are pushed while the queue drains", DEMO_PROMPTS.fix, {
    pipeline: "checked",
  });
  await until("fix-drain", "done");
  await start("readme-tests", "Write down how to run the tests", DEMO_PROMPTS.merge, { agent: "haiku" });
  await until("readme-tests", "done");
  expect(await tasks.merge("readme-tests")).toMatchObject({ outcome: "merged" });
  await start("new-store", "Move the queue to the new store API", DEMO_PROMPTS.fail, { pipeline: "migrated" });
  await start("publish", "Publish version 1.4.0", DEMO_PROMPTS.ask, { permissions: "ask" });
  await until("publish", "waiting");
  await start("timeouts", "Add a timeout to every call of the store", DEMO_PROMPTS.work);
  await until("timeouts", "running");
  await start("metrics", "Count the jobs that time out", "Count them.", { needs: ["timeouts"], agent: "haiku" });
}

/** Returns the ID of the session with one of everything. */
async function writeSessions(store: Store, cwd: string): Promise<string> {
  const now = Date.now();
  await writeUsage(store, cwd, now);
  const parked = await new SessionLog(store, { start: now - 50 * MINUTE, agent: "codex" }).open(
    cwd,
    "Port the benchmarks",
  );
  await parked.add([
    { type: "turn.started", input: [{ type: "text", text: "Port the benchmarks to the new runner." }] },
    { type: "turn.parked", until: new Date(now + 90 * MINUTE).toISOString(), message: "The usage limit is reached" },
  ]);
  const question = await new SessionLog(store, { start: now - 9 * MINUTE, agent: "claude" }).open(
    cwd,
    "Plan the release",
  );
  await question.add([{ type: "turn.started", input: [{ type: "text", text: "Plan the release." }] }, DEMO_QUESTION]);
  const demo = await new SessionLog(store, { start: now - 4 * MINUTE, agent: "claude" }).open(
    cwd,
    "Find the lost item",
  );
  await demo.add([...DEMO_EVENTS, DEMO_PERMISSION]);
  return demo.id;
}

/** Three weeks of work of three agents. */
async function writeUsage(store: Store, cwd: string, now: number): Promise<void> {
  const agents = [
    ["claude", "claude-sonnet-5", 0.9, "Speed up the search"],
    ["codex", "gpt-5.4", 0.5, "Review the pull request"],
    ["gemini", "gemini-3.1-pro", 0.3, "Translate the manual"],
  ] as const;
  for (let day = 20; day >= 1; day -= 1) {
    const [agent, model, usd, title] = agents[day % agents.length] ?? agents[0];
    const log = await new SessionLog(store, { start: now - day * DAY, agent }).open(cwd, `${title}, part ${21 - day}`);
    const size = 1 + ((day * 7) % 11) / 3;
    const [inputTokens, outputTokens] = [Math.round(90_000 * size), Math.round(6_500 * size)];
    await log.add([
      { type: "turn.started", input: [{ type: "text", text: title }] },
      { type: "message.completed", messageId: "m1", text: "All of it is done." },
      { type: "usage.reported", model, inputTokens, outputTokens, costUsd: usd * size, costBy: "reported" },
      { type: "turn.ended", outcome: { status: "done" } },
    ]);
  }
}
