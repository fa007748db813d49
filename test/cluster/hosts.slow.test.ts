import { writeFile } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import { MAX_PAGE, type SessionEvent, type TaskEvent, type TaskPhase } from "../../src/domain/index.ts";
import { noNamespaces } from "./network.ts";
import { openCluster, type ClusterScene, type WorkerHost } from "./scene.ts";

const WAIT = { timeout: 60_000, interval: 50 };
const TEST_MS = 180_000;
/** Reports who works, in a file and in the log, until the file `go` exists. Then changes a file. */
const BEAT =
  'while [ ! -e "$GO" ]; do echo "$HOST_NAME" >> "$LEDGER"; echo "host $HOST_NAME"; sleep 0.1; done; echo done > done.txt';

/** Starts a task on host b, which no test cuts off, and resolves with the host whose agent works on it. */
async function startBeating({ hosts, readLedger }: ClusterScene): Promise<WorkerHost> {
  await hosts.b.rookery("task", "start", `Beat\n\nrun: ${BEAT}`, "--id", "beat", "--pipeline", "merged", "--detach");
  const [name = ""] = await vi.waitFor(async () => {
    const lines = await readLedger();
    expect(lines).not.toEqual([]);
    return lines;
  }, WAIT);
  return hosts[name as keyof typeof hosts];
}

const readTask = async ({ store }: ClusterScene): Promise<readonly TaskEvent[]> =>
  (await store.readTask({ taskId: "beat", limit: MAX_PAGE })).events;

/** The hosts in the order in which they worked: a host that appears twice worked beside another one. */
async function workedInTurn({ readLedger }: ClusterScene): Promise<readonly string[]> {
  return withoutRepeats(await readLedger());
}

function withoutRepeats(hosts: readonly string[]): readonly string[] {
  return hosts.filter((host, index, all) => host !== all[index - 1]);
}

/** The hosts whose agents' output is in the log, in its order. */
function wroteInTurn(log: readonly SessionEvent[]): readonly string[] {
  const output = log.map((event) => (event.type === "output.text" ? event.text : "")).join("");
  return withoutRepeats([...output.matchAll(/host (\w)/g)].map(([, host = ""]) => host));
}

async function untilPhase({ store }: ClusterScene, ...phases: TaskPhase[]): Promise<void> {
  await vi.waitFor(async () => {
    const state = await store.task("beat");
    expect(phases, JSON.stringify(state?.message)).toContain(state?.phase);
  }, WAIT);
}

/** Waits until another host has worked for 2 s, so that a first host that still works is noticed. */
async function untilAnotherWorks({ readLedger }: ClusterScene, first: WorkerHost): Promise<void> {
  await vi.waitFor(async () => {
    const others = (await readLedger()).filter((host) => host !== first.name);
    expect(others.length).toBeGreaterThan(20);
  }, WAIT);
}

/** One writer per log, even after a takeover, each event once, a dense feed, every turn ended once, and one merge. */
async function expectOneStory(cluster: ClusterScene): Promise<void> {
  const { store } = cluster;
  const events = await readTask(cluster);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ type }) => type === "task.ended")).toHaveLength(1);
  expect(events.filter((event) => event.type === "merge.ended" && event.outcome === "merged")).toHaveLength(1);
  const sessions = await store.list({ task: "beat" });
  expect(sessions).toHaveLength(1);
  for (const { id } of sessions) {
    const log = (await store.read({ sessionId: id, limit: MAX_PAGE })).events;
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    const ends = log.filter(({ type }) => type === "turn.ended").map(({ turnId }) => turnId);
    const starts = log.filter(({ type }) => type === "turn.started").map(({ turnId }) => turnId);
    expect(ends).toEqual(starts);
    const writers = wroteInTurn(log);
    expect(writers).not.toEqual([]);
    expect(writers).toEqual([...new Set(writers)]); // a host that appears twice wrote after another one had taken over
  }
  const feed = await store.readFeed({ after: 0, limit: MAX_PAGE });
  expect(feed.events.map(({ position }) => position)).toEqual(feed.events.map((_, index) => index + 1));
  expect(await cluster.remoteGit("log", "--reverse", "--format=%s", "main")).toBe("Initial commit\nBeat");
  expect(await cluster.remoteGit("show", "main:done.txt")).toBe("done");
}

async function expectNoChildren(hosts: readonly WorkerHost[]): Promise<void> {
  for (const host of hosts) {
    const left = () => host.children().map(({ command }) => command);
    await vi.waitFor(() => expect(left(), host.name).toEqual([]), WAIT);
  }
}

describe.skipIf(noNamespaces !== undefined)(
  `three hosts in network namespaces${noNamespaces === undefined ? "" : ` (${noNamespaces})`}`,
  { timeout: TEST_MS },
  () => {
    it("continue a task of a host that lost its network, after that host has stopped its agent", async () => {
      await using cluster = await openCluster();
      const { a, b, c } = cluster.hosts;
      await Promise.all([a.start(), c.start()]);
      const first = await startBeating(cluster);
      await first.cut();
      await untilAnotherWorks(cluster, first);
      await writeFile(cluster.go, "");
      await untilPhase(cluster, "done", "failed");
      expect(await workedInTurn(cluster)).toHaveLength(2);
      await expectNoChildren([first]);
      await first.heal();
      await vi.waitFor(async () => {
        const workers = await cluster.store.workers();
        const back = workers.find(({ host }) => host === first.name);
        expect(back?.until).toBeGreaterThan(Date.now());
      }, WAIT);
      await expectOneStory(cluster);
      await expectNoChildren([a, b, c]);
    });

    it("continue a task of a worker that was killed, at once if its host has another worker", async () => {
      await using cluster = await openCluster({ leaseTtl: 60 });
      const { a } = cluster.hosts;
      await a.start();
      await startBeating(cluster);
      await a.kill();
      const killedAt = Date.now();
      await a.start();
      await vi.waitFor(async () => {
        const starts = (await readTask(cluster)).filter(({ type }) => type === "task.started");
        expect(starts).toHaveLength(2);
      }, WAIT);
      expect(Date.now() - killedAt).toBeLessThan(30_000); // the lease is valid for a minute
      await writeFile(cluster.go, "");
      await untilPhase(cluster, "done", "failed");
      await expectOneStory(cluster);
      await expectNoChildren([a]);
    });

    it("continue a task of a killed worker on another host when its lease has expired", async () => {
      await using cluster = await openCluster();
      const { a, c } = cluster.hosts;
      await a.start();
      await startBeating(cluster);
      await c.start();
      await a.kill();
      await vi.waitFor(async () => expect(await cluster.readLedger()).toContain("c"), WAIT);
      await writeFile(cluster.go, "");
      await untilPhase(cluster, "done", "failed");
      await expectOneStory(cluster);
    });

    it("refuse appends of a worker that was frozen for longer than its lease, which then ends its agent", async () => {
      await using cluster = await openCluster();
      const { a, c } = cluster.hosts;
      await a.start();
      await startBeating(cluster);
      await c.start();
      a.worker.kill("SIGSTOP");
      await vi.waitFor(async () => expect(await cluster.readLedger()).toContain("c"), WAIT);
      a.worker.kill("SIGCONT");
      await expectNoChildren([a]);
      await writeFile(cluster.go, "");
      await untilPhase(cluster, "done", "failed");
      await expectOneStory(cluster);
      await expectNoChildren([a, c]);
    });
  },
);
