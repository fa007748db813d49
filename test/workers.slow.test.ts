import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BUILT_COMMAND } from "../src/cli/test-command.ts";
import { isEnded, newId, type LogEvent, type Store, type TaskState } from "../src/domain/index.ts";
import { DisposeStack, isAlive, startTimeOf } from "../src/stdx/index.ts";
import { hasTestPostgres, testSchemas } from "../src/store/postgres/fixtures/schemas.ts";
import { openPostgresStore } from "../src/store/index.ts";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../src/testing/index.ts";

/** Runs the lines of the prompt that start with `run:` and ignores the rest. Works for resume prompts too. */
const AGENT = `printf '%s\\n' "$1" | sed -n 's/^run: //p' > "$TMPDIR/script.$$"; exec sh "$TMPDIR/script.$$"`;
/** For `unshare`: its processes have a PID scope of their own, like those of a container. */
const PID_NAMESPACE = ["--pid", "--fork", "--kill-child", "--mount-proc"];
const noPidNamespaces = process.platform !== "linux" || spawnSync("unshare", [...PID_NAMESPACE, "true"]).status !== 0;
const TTL_MS = 3_000;
/** Longer than any wait of these tests. */
const LONG_TTL_MS = 120_000;

interface WorkerProcess {
  readonly child: ChildProcess;
  readonly id: string;
  readonly exited: Promise<unknown>;
  readonly stderr: () => string;
}

const schemas = testSchemas();
let owned: DisposeStack;
let store: Store;
let folder: string;
let ttlMs: number;
let database: { readonly url: string; readonly schema: string };
let repository: Awaited<ReturnType<typeof temporaryRepository>>;

beforeEach(async () => {
  owned = new DisposeStack();
  ttlMs = TTL_MS;
  ({ path: folder } = owned.use(await temporaryFolder()));
  repository = owned.use(await temporaryRepository({ "a.txt": "one\n" }));
  database = await schemas.next();
  store = owned.use(await openPostgresStore(database));
});
afterEach(() => owned[Symbol.asyncDispose]());

/** The environment of a host: its own home and host ID, and the shared database. */
async function hostEnvironment(host: string): Promise<Record<string, string>> {
  const home = join(folder, host);
  await mkdir(join(home, ".config", "rookery"), { recursive: true });
  await writeFile(join(folder, "agent.sh"), AGENT);
  const config = `[lease]\nttl = ${ttlMs / 1000}\nrenew = 0.5\n[agents.shell]\nbackend = "command"\ncommand = ["sh", "${folder}/agent.sh", "{prompt}"]\n`;
  await writeFile(join(home, ".config", "rookery", "rookery.toml"), config);
  const { url, schema } = database;
  const extra = { ROOKERY_STORE_URL: url, ROOKERY_STORE_SCHEMA: schema, ROOKERY_HOST_ID: host, TMPDIR: folder };
  const gitConfig = join(home, "gitconfig");
  await writeFile(gitConfig, "[user]\n  name = Robin\n  email = robin@example.com\n"); // for mirrors
  return builtEnvironment({ home, extra: { ...extra, GIT_CONFIG_GLOBAL: gitConfig } });
}

async function rookery(host: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [BUILT_COMMAND, ...args], {
    cwd: repository.path,
    env: await hostEnvironment(host),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  expect(code, stderr).toBe(0);
  return stdout;
}

async function startWorker(host: string): Promise<WorkerProcess> {
  const env = await hostEnvironment(host);
  const child = spawn(process.execPath, [BUILT_COMMAND, "worker", "--json"], { cwd: repository.path, env });
  const exited = once(child, "close");
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  owned.defer(async () => {
    child.kill("SIGCONT");
    child.kill("SIGKILL");
    await exited;
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", resolve);
    exited.then(() => reject(new Error(`the worker ended: ${stderr}`)), reject);
  });
  return { child, id: (JSON.parse(line) as { id: string }).id, exited, stderr: () => stderr };
}

/** Queues a task that any host can run, because its repository has a remote. */
async function queueTask(id: string, prompt: string): Promise<void> {
  const remote = join(folder, "origin.git");
  await repository.git("clone", "--quiet", "--bare", repository.path, remote);
  await repository.git("remote", "add", "origin", remote);
  await repository.git("fetch", "--quiet", "origin");
  await rookery("alpha", "task", "start", prompt, "--agent", "shell", "--id", id, "--detach");
}

/** Follows the log until the condition holds, and resolves with the state. */
async function untilTask(id: string, holds: (state: TaskState) => boolean): Promise<TaskState> {
  for await (const page of store.followFeed({ after: 0, task: id })) {
    const state = page.length === 0 ? undefined : await store.task(id);
    if (state !== undefined && holds(state)) return state;
  }
  throw new Error("the feed ended");
}

async function countEvents(task: string, type: LogEvent["type"]): Promise<number> {
  const { events } = await store.readFeed({ after: 0, task });
  return events.filter(({ text }) => (JSON.parse(text) as LogEvent).type === type).length;
}

const waitingPrompt = () =>
  `run: echo $$ >> ${folder}/starts; until [ -e ${folder}/go ]; do sleep 0.05; done; echo two >> a.txt`;
const agentPids = () =>
  existsSync(join(folder, "starts")) ? readFileSync(join(folder, "starts"), "utf8").trim().split("\n").map(Number) : [];
const untilStarted = (count: number) =>
  vi.waitFor(() => expect(agentPids()).toHaveLength(count), { timeout: 30_000, interval: 20 });

describe.skipIf(!hasTestPostgres)("workers on two hosts with one database", () => {
  it("run the tasks of their own repositories, and are listed from any host", async () => {
    const [alpha, beta] = [await startWorker("alpha"), await startWorker("beta")];
    for (const host of ["alpha", "beta"]) {
      await rookery(host, "task", "start", `run: echo ${host} >> a.txt`, "--agent", "shell", "--id", host, "--detach");
    }
    for (const host of ["alpha", "beta"]) {
      expect(await untilTask(host, isEnded)).toMatchObject({ phase: "done", host, spec: { host } });
    }
    const listed = await rookery("alpha", "workers");
    expect(listed).toMatch(new RegExp(`^${alpha.id} +alpha +ready +0/4 `, "m"));
    expect(listed).toMatch(new RegExp(`^${beta.id} +beta +ready +0/4 `, "m"));
    await rookery("alpha", "workers", "stop", "beta");
    expect(await beta.exited).toEqual([0, null]);
    alpha.child.kill("SIGTERM");
    expect(await alpha.exited).toEqual([0, null]);
    expect(await rookery("beta", "workers")).toMatch(new RegExp(`^${alpha.id} +alpha +stopped `, "m"));
  });

  it("resume a killed worker's task at once on its own host", async () => {
    ttlMs = LONG_TTL_MS;
    const first = await startWorker("alpha");
    await queueTask("t", waitingPrompt());
    await untilStarted(1);
    first.child.kill("SIGKILL");
    await first.exited;
    const killedAt = performance.now();
    await startWorker("alpha");
    await untilStarted(2);
    const tookMs = performance.now() - killedAt;
    await writeFile(join(folder, "go"), "");
    expect(await untilTask("t", isEnded)).toMatchObject({ phase: "done", host: "alpha", runs: 2 });
    expect(isAlive({ pid: agentPids()[0] ?? 0, startTime: startTimeOf(agentPids()[0] ?? 0) ?? "gone" })).toBe(false);
    console.log(`resumed on the same host ${Math.round(tookMs)} ms after the kill, including the start of the worker`);
  });

  it("continue a killed worker's task on another host after the lease, not before", async () => {
    ttlMs = 2 * TTL_MS; // longer than it takes to find a task of a dead process
    const first = await startWorker("alpha");
    await startWorker("beta");
    await queueTask("t", waitingPrompt());
    await untilStarted(1);
    const [killed, other] =
      (await untilTask("t", ({ host }) => host !== undefined)).host === "alpha" ? ["alpha", "beta"] : ["beta", "alpha"];
    const victim =
      killed === "alpha" ? first.child.pid : (await store.workers()).find(({ host }) => host === "beta")?.pid;
    process.kill(victim ?? 0, "SIGKILL");
    const killedAt = performance.now();
    await untilStarted(2);
    const tookMs = performance.now() - killedAt;
    expect(tookMs).toBeGreaterThan(ttlMs - 1_000); // the last renewal was up to half a second before
    await writeFile(join(folder, "go"), "");
    expect(await untilTask("t", isEnded)).toMatchObject({ phase: "done", host: other, runs: 2 });
    console.log(`continued on another host ${Math.round(tookMs)} ms after the kill, with a lease of ${ttlMs} ms`);
  });

  it("refuse appends of a worker that was frozen for longer than its lease, which then ends its agent", async () => {
    const first = await startWorker("alpha");
    await queueTask("t", waitingPrompt());
    await untilStarted(1);
    const [pid = 0] = agentPids();
    const frozen = { pid, startTime: startTimeOf(pid) ?? "gone" };
    first.child.kill("SIGSTOP");
    await startWorker("beta");
    await untilStarted(2);
    expect(isAlive(frozen)).toBe(true); // only its own host could end it
    first.child.kill("SIGCONT");
    await vi.waitFor(() => expect(isAlive(frozen)).toBe(false), { timeout: 10_000, interval: 20 });
    await writeFile(join(folder, "go"), "");
    expect(await untilTask("t", isEnded)).toMatchObject({ phase: "done", host: "beta", runs: 2 });
    expect([await countEvents("t", "task.ended"), await countEvents("t", "task.started")]).toEqual([1, 2]);
    expect((await rookery("beta", "task", "diff", "t")).match(/^\+two$/gm)).toHaveLength(1);
  });

  it.skipIf(noPidNamespaces)(
    `refuse the host id of a worker in another container${noPidNamespaces ? " (this user may not make a PID namespace)" : ""}`,
    async () => {
      const first = await startWorker("alpha");
      const args = [...PID_NAMESPACE, process.execPath, BUILT_COMMAND, "worker", "--json"];
      const env = { ...(await hostEnvironment("copy")), ROOKERY_HOST_ID: "alpha" };
      const second = spawn("unshare", args, { cwd: repository.path, env, stdio: ["ignore", "ignore", "pipe"] });
      let stderr = "";
      second.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      expect(await once(second, "close")).toEqual([1, null]);
      expect(stderr).toMatch(/another machine or container uses the host id alpha: process \d+ .*ROOKERY_HOST_ID/);
      expect((await store.workers()).map(({ id, host }) => [id, host])).toEqual([[first.id, "alpha"]]);
    },
  );

  it("stop when another host asks them to", async () => {
    await startWorker("alpha");
    await queueTask("t", waitingPrompt());
    await untilStarted(1);
    const [pid = 0] = agentPids();
    const running = { pid, startTime: startTimeOf(pid) ?? "gone" };
    const askedAt = performance.now();
    await store.appendTaskAtHead({
      taskId: "t",
      id: newId("app"),
      decide: () => [{ type: "task.stop_asked", at: new Date().toISOString() }],
    });
    await untilTask("t", isEnded);
    console.log(`stopped ${Math.round(performance.now() - askedAt)} ms after the request`);
    expect(await store.task("t")).toMatchObject({ phase: "stopped" });
    expect(isAlive(running)).toBe(false);
  });
});
