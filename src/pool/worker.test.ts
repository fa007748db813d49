import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it, vi } from "vitest";
import { userConfigFile } from "../config/index.ts";
import { MAX_PAGE, type LogEvent, type Store, type StoredWorker, type TaskStatus } from "../domain/index.ts";
import { Rookery, type RunWorkerOptions } from "../rookery.ts";
import { deferred, DisposeStack, ownPidScope } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../testing/index.ts";

const SHELL = `[agents.shell]\nbackend = "command"\ncommand = ["sh", "-c", "{prompt}"]\n`;
const MISSING = `[agents.absent]\nbackend = "command"\ncommand = ["/nowhere/agent", "{prompt}"]\n`;
const TIMING = { ttlMs: 1_200, renewMs: 200 };

/** One store that several hosts share. Each host has its own home, configuration and repository. */
async function openCluster() {
  const owned = new DisposeStack();
  const store = openMemoryStore();
  owned.use(store);
  const host = async (name: string, { config = SHELL }: { readonly config?: string } = {}) => {
    const folder = owned.use(await temporaryFolder());
    const repository = owned.use(await temporaryRepository({ "a.txt": "one\n" }));
    const env = builtEnvironment({ home: folder.path, extra: { GIT_CONFIG_GLOBAL: "/dev/null" } });
    await mkdir(dirname(userConfigFile(env)), { recursive: true });
    await writeFile(userConfigFile(env), config);
    const open = async () =>
      owned.use(await Rookery.open({ env, cwd: repository.path, store, host: name, leaseTiming: TIMING }));
    const rookery = await open();
    /** Starts a worker and resolves when it is registered. */
    const work = async (options: Partial<RunWorkerOptions> = {}, of = rookery) => {
      const stop = new AbortController();
      const started = deferred<string>();
      const onStarted: RunWorkerOptions["onStarted"] = ({ id }) => started.resolve(id);
      const ended = of.runWorker({ version: "1.2.3", signal: stop.signal, onStarted, ...options });
      ended.catch((error: unknown) => started.reject(error));
      owned.defer(async () => {
        stop.abort();
        await ended.catch(() => undefined);
      });
      return { id: await started.promise, ended, stop: () => stop.abort() };
    };
    return { rookery, repository, folder: folder.path, open, work };
  };
  return { store, host, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

async function until(store: Store, rookery: Rookery, id: string, status: TaskStatus): Promise<void> {
  for await (const page of store.followFeed({ after: 0, task: id })) {
    if (page.length > 0 && (await rookery.tasks.show(id)).status === status) return;
  }
}

it("runs the tasks of a repository without a remote only on the host that has it", async () => {
  await using cluster = await openCluster();
  const [alpha, beta] = [await cluster.host("alpha"), await cluster.host("beta")];
  await beta.work();
  await alpha.rookery.startTask({ id: "here", prompt: "echo two >> a.txt", agent: "shell" });
  expect((await beta.rookery.tasks.show("here")).message).toBe(
    "waits for host alpha, which has its repository; no worker runs there",
  );
  await beta.rookery.startTask({ id: "there", prompt: "echo two >> a.txt", agent: "shell" });
  await until(cluster.store, beta.rookery, "there", "done");
  expect(await cluster.store.task("here")).toMatchObject({ phase: "queued", runs: 0, spec: { host: "alpha" } });
  await alpha.work();
  await until(cluster.store, beta.rookery, "here", "done");
  expect(await beta.rookery.tasks.show("here")).toMatchObject({ host: "alpha" });
  await expect(beta.rookery.tasks.diff("here")).rejects.toMatchObject({
    code: "other_host",
    message: expect.stringContaining("on host alpha") as string,
  });
});

it("takes only tasks whose agents are ready and whose labels it has, and says what is missing", async () => {
  await using cluster = await openCluster();
  const alpha = await cluster.host("alpha", { config: SHELL + MISSING });
  const { rookery } = alpha;
  await rookery.startTask({ id: "idle", prompt: "true", agent: "shell" });
  expect((await rookery.tasks.show("idle")).message).toBe("no worker is running: start one with rookery worker");
  await alpha.work({ labels: ["big"] });
  await until(cluster.store, rookery, "idle", "done");
  await rookery.startTask({ id: "gpu", prompt: "true", agent: "shell", labels: ["gpu", "big"] });
  await rookery.startTask({ id: "absent", prompt: "true", agent: "absent" });
  await rookery.startTask({ id: "last", prompt: "true", agent: "shell", labels: ["big"] });
  await until(cluster.store, rookery, "last", "done");
  expect(await rookery.tasks.show("gpu")).toMatchObject({ status: "queued", message: "no worker has the label gpu" });
  expect(await rookery.tasks.show("absent")).toMatchObject({ status: "queued", message: "no worker has agent absent" });
  const [worker] = await rookery.workers();
  expect(worker).toMatchObject({ host: "alpha", status: "ready", version: "1.2.3", labels: ["big"], running: [] });
  expect(worker?.agents).toContain("shell");
  expect(worker?.unreadyAgents).toContain("absent");
});

it("finishes what runs and takes nothing new when an operator on another host drains it", async () => {
  await using cluster = await openCluster();
  const [alpha, beta] = [await cluster.host("alpha"), await cluster.host("beta")];
  const worker = await alpha.work({ maxRunning: 1 });
  const wait = `until [ -e ${alpha.folder}/go ]; do sleep 0.02; done; echo two >> a.txt`;
  await alpha.rookery.startTask({ id: "long", prompt: wait, agent: "shell" });
  await until(cluster.store, alpha.rookery, "long", "running");
  await alpha.rookery.startTask({ id: "next", prompt: "true", agent: "shell" });
  const [asked] = await beta.rookery.askWorkers("alpha", "drain");
  expect(asked).toMatchObject({ id: worker.id, status: "draining", free: 0, running: [{ id: "long" }] });
  await vi.waitFor(async () => expect((await cluster.store.workers())[0]?.state).toBe("draining"), 5_000);
  await writeFile(join(alpha.folder, "go"), "");
  expect(await worker.ended).toBe("drained");
  expect(await beta.rookery.tasks.show("long")).toMatchObject({ status: "done", runs: 1 });
  expect(await beta.rookery.tasks.show("next")).toMatchObject({ status: "queued", runs: 0 });
  expect(await beta.rookery.workers()).toEqual([]);
  await expect(beta.rookery.askWorkers("alpha", "stop")).rejects.toMatchObject({ code: "worker_not_found" });
});

it("runs no more tasks on a host than the host may, whichever of its workers take them", async () => {
  await using cluster = await openCluster();
  const alpha = await cluster.host("alpha", { config: `${SHELL}[host]\nmax_running = 1\n` });
  const beta = await cluster.host("beta");
  await Promise.all([alpha.work(), alpha.work({}, await alpha.open()), beta.work()]);
  await beta.rookery.startTask({ id: "other", prompt: "sleep 300", agent: "shell" });
  await until(cluster.store, beta.rookery, "other", "running"); // does not count
  const ids = ["a", "b", "c"];
  for (const id of ids) await alpha.rookery.startTask({ id, prompt: "sleep 0.1", agent: "shell" });
  await Promise.all(ids.map((id) => until(cluster.store, alpha.rookery, id, "done")));
  const { events } = await cluster.store.readFeed({ after: 0, limit: MAX_PAGE });
  const steps = events.flatMap(({ text }) => {
    const event = JSON.parse(text) as LogEvent;
    if (!("taskId" in event) || !ids.includes(event.taskId)) return [];
    return event.type === "task.started" ? [1] : event.type === "task.ended" ? [-1] : [];
  });
  let running = 0;
  expect(steps.map((step) => (running += step))).toEqual(ids.flatMap(() => [1, 0]));
  expect((await alpha.rookery.workers()).map(({ host, maxRunning }) => [host, maxRunning])).toEqual([
    ["alpha", 1],
    ["alpha", 1],
    ["beta", 4],
  ]);
});

it("hands over what runs when an operator stops it", async () => {
  await using cluster = await openCluster();
  const alpha = await cluster.host("alpha");
  const first = await alpha.work();
  await alpha.rookery.startTask({ id: "long", prompt: "sleep 300", agent: "shell" });
  await until(cluster.store, alpha.rookery, "long", "running");
  await alpha.rookery.askWorkers(first.id, "stop");
  expect(await first.ended).toBe("stopped");
  expect(await cluster.store.task("long")).toMatchObject({ phase: "queued", host: "alpha", runs: 1 });
});

it("lists a worker that stops renewing its record as lost", async () => {
  await using cluster = await openCluster();
  const alpha = await cluster.host("alpha");
  const { id } = await alpha.work();
  const [record] = await cluster.store.workers();
  const gone = { ...(record as StoredWorker), id: "wrk_gone", host: "beta", until: Date.now() - 1 };
  await cluster.store.saveWorker(gone);
  expect((await alpha.rookery.workers()).map((worker) => [worker.id, worker.status])).toEqual([
    [id, "ready"],
    ["wrk_gone", "lost"],
  ]);
});

it("refuses a host id that a worker on another machine renews", async () => {
  await using cluster = await openCluster();
  const alpha = await cluster.host("alpha");
  await alpha.work();
  const [own] = (await cluster.store.workers()) as [StoredWorker];
  const renew = () => {
    const now = Date.now();
    return cluster.store.saveWorker({
      ...own,
      id: "wrk_copy",
      scope: "h0-1-2-alpha",
      heartbeat: now,
      until: now + 900,
    });
  };
  await renew();
  const renewing = setInterval(() => void renew(), 20);
  try {
    await expect(alpha.work({}, await alpha.open())).rejects.toMatchObject({
      code: "host_in_use",
      message: expect.stringMatching(/uses the host id alpha: process \d+ .*set another \[host\] id/) as string,
    });
  } finally {
    clearInterval(renewing);
  }
  expect((await cluster.store.workers()).map(({ id }) => id)).toEqual([own.id, "wrk_copy"]);
});

it("starts after the record of another machine with its host id has expired", async () => {
  await using cluster = await openCluster();
  const alpha = await cluster.host("alpha");
  await alpha.work();
  const [own] = (await cluster.store.workers()) as [StoredWorker];
  const until = Date.now() + 300;
  await cluster.store.saveWorker({ ...own, id: "wrk_before", scope: "h0-1-2-alpha", until });
  await alpha.work({}, await alpha.open());
  expect(Date.now()).toBeGreaterThanOrEqual(until);
});

it("starts although a record with its host id expires in a hundred years, and reports no second machine", async () => {
  await using cluster = await openCluster();
  const alpha = await cluster.host("alpha");
  await alpha.work();
  const [own] = (await cluster.store.workers()) as [StoredWorker];
  const far = Date.now() + 100 * 365 * 86_400_000;
  await cluster.store.saveWorker({ ...own, id: "wrk_before", scope: "h0-1-2-alpha", heartbeat: far, until: far + 1 });
  const problems: unknown[] = [];
  const { id } = await alpha.work({ onProblem: (error) => void problems.push(error) }, await alpha.open());
  const beat = async () => (await cluster.store.workers()).find((worker) => worker.id === id)?.heartbeat ?? 0;
  const first = await beat();
  await vi.waitUntil(async () => (await beat()) > first + TIMING.renewMs, { timeout: 5_000 });
  expect(problems).toEqual([]);
});

it("names the host in the scope of its owners, so that another host never takes it for dead", async () => {
  await using cluster = await openCluster();
  const alpha = await cluster.host("alpha.example");
  await alpha.work();
  const [worker] = await cluster.store.workers();
  expect(worker?.owner.startsWith(`${ownPidScope("alpha.example")}.`)).toBe(true);
  expect(worker?.owner).toContain("-alpha~example.");
});

it("refuses a session whose working directory is on another host, and names that host", async () => {
  await using cluster = await openCluster();
  const [alpha, beta] = [await cluster.host("alpha"), await cluster.host("beta")];
  const session = await alpha.rookery.openSession({ agent: "shell" });
  await session[Symbol.asyncDispose]();
  expect(await cluster.store.summary(session.id)).toMatchObject({ host: "alpha", cwd: alpha.repository.path });
  await expect(beta.rookery.openSession({ id: session.id })).rejects.toMatchObject({
    code: "other_host",
    message: expect.stringContaining("on host alpha, not on this host (beta)") as string,
  });
  await alpha.work();
  const ran = join(alpha.folder, "ran");
  await beta.rookery.tell(session.id, `pwd > ${ran}`); // the worker of that host delivers it
  for await (const { type } of cluster.store.follow({ sessionId: session.id, after: 0 })) {
    if (type === "turn.ended") break;
  }
  expect(await readFile(ran, "utf8")).toBe(`${alpha.repository.path}\n`);
  await vi.waitFor(async () => expect(await cluster.store.currentLease(session.id)).toBeUndefined(), 5_000);
  const moved = await beta.rookery.openSession({ id: session.id, cwd: beta.repository.path });
  expect(await cluster.store.summary(session.id)).toMatchObject({ host: "beta", cwd: beta.repository.path });
  await moved.close();
  const own = await alpha.rookery.openSession({ agent: "shell" });
  await own.close();
});
