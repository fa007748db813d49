import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import Libsql from "libsql";
import { expect, it, vi } from "vitest";
import { Rookery } from "../../src/rookery.ts";
import { DisposeStack, isAlive, isStopped, startTimeOf, type ProcessIdentity } from "../../src/stdx/index.ts";
import { openScene as openTasks } from "../../src/pool/test-scene.ts";
import { builtEnvironment, call, say, startModelServer, temporaryFolder } from "../../src/testing/index.ts";
import { bundleChild } from "./bundle.ts";
import type { FrozenChildOptions } from "./frozen-child.ts";

const TTL_MS = 600;
const TIMING = { ttlMs: TTL_MS, renewMs: TTL_MS / 3 };
/** Writes its process id, and works until it is killed. `pid` appears with its content, because a test waits for it. */
const WORKS = `echo $$ > "pid.$$"; echo $$ > next; mv next pid; while :; do echo x >> written; sleep 0.05; done`;

type Environment = Record<string, string>;

async function frozenChild(owned: DisposeStack, cwd: string, env: Environment, options: FrozenChildOptions) {
  const bundle = await bundleChild("frozen-child.ts");
  owned.defer(() => Promise.resolve(bundle[Symbol.dispose]()));
  const child = spawn(process.execPath, [bundle.file, JSON.stringify(options)], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  owned.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (JSON.parse(String((await lines.next()).value)) as { session: string }).session;
  return { child, next };
}

/**
 * Stops the process while it does not hold the lock of the database. A stopped process would keep the lock, and this test
 * is about the case without it.
 */
async function freeze(child: ChildProcess, database: string): Promise<void> {
  const pid = child.pid!;
  const identity = { pid, startTime: startTimeOf(pid)! };
  await vi.waitFor(
    async () => {
      child.kill("SIGSTOP");
      await vi.waitFor(() => expect(isStopped(identity)).toBe(true), { timeout: 10_000 });
      if (isUnlocked(database)) return;
      child.kill("SIGCONT");
      throw new Error("the process holds the lock of the database");
    },
    { timeout: 20_000 },
  );
}

function isUnlocked(database: string): boolean {
  const db = new Libsql(database);
  try {
    db.exec("BEGIN IMMEDIATE");
    db.exec("ROLLBACK");
    return true;
  } catch {
    return false;
  } finally {
    db.close();
  }
}

async function workerIn(folder: string): Promise<ProcessIdentity> {
  await vi.waitFor(() => expect(existsSync(join(folder, "pid"))).toBe(true), { timeout: 20_000 });
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
  return { pid, startTime: startTimeOf(pid)! };
}

it("continues the session of a frozen process elsewhere after ending its command, and rejects the writes of the old process", async () => {
  await using owned = new DisposeStack();
  const home = owned.use(await temporaryFolder());
  const cwd = owned.use(await temporaryFolder());
  const model = owned.use(
    await startModelServer(({ toolResults }) =>
      toolResults.length === 0 ? call("bash", { command: WORKS }) : say("ok"),
    ),
  );
  const env = { ...builtEnvironment({ home: home.path }), ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" };
  const { child, next } = await frozenChild(owned, cwd.path, env, { ttlMs: TTL_MS, tasks: false });
  const id = await next();
  const command = await workerIn(cwd.path);
  const rookery = owned.use(await Rookery.open({ env, cwd: cwd.path, leaseTiming: TIMING }));
  await expect(rookery.openSession({ id })).rejects.toMatchObject({ code: "session_in_use" });
  await freeze(child, join(home.path, ".rookery", "rookery.db"));
  const session = await vi.waitFor(() => rookery.openSession({ id }), { timeout: 20_000 });
  expect(isAlive(command)).toBe(false);
  const outcome = await session.resumed!.outcome;
  child.kill("SIGCONT");
  expect(await next()).toBe("lease_lost");
  const { events } = await rookery.store.read({ sessionId: id, limit: 10_000 });
  expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(1);
  expect(outcome.status).toBe("done");
});

it("runs the task of a frozen process elsewhere only after ending its agent", async () => {
  await using s = await openTasks();
  await using owned = new DisposeStack();
  const prompt = `run: ${WORKS}`;
  const task = await s.tasks.start({ id: "frozen", agent: "robin", prompt });
  const { child, next } = await frozenChild(owned, s.repository.path, s.env, { ttlMs: TTL_MS, tasks: true });
  await next();
  const { worktree } = await vi.waitFor(
    async () => {
      const view = await s.tasks.show(task.id);
      expect(existsSync(join(view.worktree?.path ?? "none", "pid"))).toBe(true);
      return { worktree: view.worktree!.path };
    },
    { timeout: 20_000 },
  );
  const first = await workerIn(worktree);
  await freeze(child, join(s.home, "rookery.db"));
  const successor = owned.use(await Rookery.open({ env: s.env, cwd: s.repository.path, leaseTiming: TIMING }));
  const stopping = new AbortController();
  owned.defer(() => Promise.resolve(stopping.abort()));
  void successor.runTasks({ signal: stopping.signal }).catch(() => undefined);
  await vi.waitFor(() => expect(readFileSync(join(worktree, "pid"), "utf8")).not.toBe(`${first.pid}\n`), {
    timeout: 20_000,
  });
  expect(isAlive(first)).toBe(false);
  const second = await workerIn(worktree);
  child.kill("SIGCONT");
  await s.tasks.stop(task.id);
  expect(isAlive(second)).toBe(false);
  const started = readdirSync(worktree).filter((name) => name.startsWith("pid."));
  expect(started.sort()).toEqual([`pid.${first.pid}`, `pid.${second.pid}`].sort()); // the old process started nothing after it woke up
});
