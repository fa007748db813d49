import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, it, vi } from "vitest";
import { MAX_PAGE, type LogEvent, type WorkerView } from "../../src/domain/index.ts";
import { inspectPostgresStore } from "../../src/store/postgres/open.ts";
import { POSTGRES_MIGRATIONS } from "../../src/store/postgres/schema.ts";
import { builtEnvironment, temporaryFolder } from "../../src/testing/index.ts";
import { expectNothingLost, expectStoryLog } from "../fleet/checks.ts";
import { play } from "../fleet/scene.ts";
import { HTTP_STORY } from "../fleet/story-result.ts";
import { noNamespaces } from "./network.ts";
import { bundleNextVersion, NEXT_VERSION } from "./next-version/bundle.ts";
import { openCluster, type ClusterScene, type WorkerHost } from "./scene.ts";

const WAIT = { timeout: 60_000, interval: 50 };
const TEST_MS = 300_000;
const TOKEN = "the-token-of-the-cluster";
/** What a repository without local files needs: a worktree gets its .env from the setup. */
const SETUP = `echo GREETING=Hello > .env; echo "$ROOKERY_TASK uses port $ROOKERY_PORT" > .ready`;

/** Happens when the story reaches an event of a task. Accidents happen one after another. */
interface Accident {
  readonly type: LogEvent["type"];
  readonly taskId: string;
  happen(): Promise<void>;
}

async function openStoryCluster({ withStandby = false } = {}): Promise<ClusterScene> {
  const sample = (await import(fileURLToPath(new URL("../../examples/fleet/sample.mjs", import.meta.url)))) as {
    SAMPLE_FILES: Record<string, string>;
    sampleConfig: (options: { notes: string; copy: string[]; setup: string }) => string;
  };
  return openCluster({
    withStandby,
    agent: "coder",
    maxRunning: 4,
    files: sample.SAMPLE_FILES,
    config: (folder) => sample.sampleConfig({ notes: join(folder, "notes"), copy: [], setup: SETUP }),
  });
}

/** Plays the story through a server on host b, and checks what is left of it after the workers have stopped. */
async function expectStory(cluster: ClusterScene, accidents: readonly Accident[]): Promise<void> {
  const { hosts, services } = cluster;
  const url = await hosts.b.startServer(TOKEN);
  const left = [...accidents];
  let happening = Promise.resolve();
  await using home = await temporaryFolder();
  const outcome = await play({
    given: { url, token: TOKEN, repository: hosts.b.clone },
    env: builtEnvironment({ home: home.path, extra: cluster.variables }),
    command: (program, args) => services.command(program, args),
    onEvent: ({ event }) => {
      const index = left.findIndex((accident) => "taskId" in event && isAt(accident, event));
      const [accident] = index === -1 ? [] : left.splice(index, 1);
      happening = happening.then(() => accident?.happen());
      happening.catch(() => undefined); // awaited below
    },
  }).catch((cause: unknown) => {
    const printed = Object.values(hosts).map((host) => `host ${host.name}: ${host.printed().slice(-3_000)}`);
    throw new Error(`${String(cause)}\n${printed.join("\n")}`, { cause });
  });
  await happening;
  expect(left).toEqual([]);
  expect(outcome.seen.refused).toMatchObject({ outcome: "conflicts" });
  for (const host of Object.values(hosts)) await host.stop();
  await expectStoryLog(cluster.store, HTTP_STORY);
  await expectNothingLost(cluster.store, outcome);
  const history = await cluster.remoteGit("log", "--first-parent", "--format=%s", "main");
  expect(history.split("\n").slice(0, -1)).toEqual(HTTP_STORY.history.slice(0, -1).map((line) => line.slice(2)));
  for (const [file, text] of Object.entries(HTTP_STORY.tree)) {
    expect(await cluster.remoteGit("show", `main:${file}`), file).toBe(text);
  }
  for (const host of Object.values(hosts)) {
    await vi.waitFor(() => expect(host.children().map(({ command }) => command)).toEqual([]), WAIT);
  }
}

const isAt = (accident: Accident, event: LogEvent): boolean =>
  event.type === accident.type && "taskId" in event && event.taskId === accident.taskId;

/** The host that runs the task. */
async function hostOf({ store, hosts }: ClusterScene, taskId: string): Promise<WorkerHost> {
  const host = (await store.task(taskId))?.host as keyof typeof hosts;
  return hosts[host];
}

async function untilLost({ store }: ClusterScene, name: string): Promise<void> {
  await vi.waitFor(async () => {
    const living = (await store.workers()).filter(({ host, kind, until }) => {
      return host === name && kind === "worker" && until > Date.now();
    });
    expect(living).toEqual([]);
  }, WAIT);
}

async function failOver({ databases }: ClusterScene): Promise<void> {
  const [primary, standby] = databases;
  await primary?.crash();
  const client = new pg.Client({ connectionString: standby?.url });
  await client.connect();
  await client.query("select pg_promote(true)");
  await client.end();
}

/** Drains the worker of a host from another one, and starts the next version when it has ended. Resolves with what it ran. */
async function upgrade({ hosts }: ClusterScene, host: WorkerHost, cli: string): Promise<WorkerView["running"]> {
  const other = host === hosts.a ? hosts.b : hosts.a;
  const ended = once(host.worker, "exit");
  const asked = (await other.rookery("workers", "drain", host.name, "--json")).trimEnd().split("\n");
  const worker = asked.map((line) => JSON.parse(line) as WorkerView).find(({ kind }) => kind === "worker");
  expect(await ended, host.printed()).toEqual([0, null]);
  await host.start({ cli });
  return worker?.running ?? [];
}

describe.skipIf(noNamespaces !== undefined)(
  `the fleet story on three hosts${noNamespaces === undefined ? "" : ` (${noNamespaces})`}`,
  { timeout: TEST_MS },
  () => {
    it("ends as on one machine although a worker is killed, one freezes, and a host is cut off", async () => {
      await using cluster = await openStoryCluster();
      const { a, b, c } = cluster.hosts;
      await Promise.all([a.start(), b.start(), c.start()]);
      await expectStory(cluster, [
        {
          ...{ type: "stage.started", taskId: "name" },
          async happen() {
            const host = await hostOf(cluster, "name");
            host.worker.kill("SIGKILL");
            await host.start();
          },
        },
        {
          ...{ type: "stage.started", taskId: "licence" },
          async happen() {
            const host = await hostOf(cluster, "licence");
            host.worker.kill("SIGSTOP");
            await untilLost(cluster, host.name);
            host.worker.kill("SIGCONT");
          },
        },
        {
          ...{ type: "task.started", taskId: "release" },
          async happen() {
            await c.cut();
            await untilLost(cluster, "c");
            await c.heal();
          },
        },
      ]);
    });

    it("ends as on one machine although the primary of the database dies and its standby takes over", async () => {
      await using cluster = await openStoryCluster({ withStandby: true });
      const { a, b, c } = cluster.hosts;
      await Promise.all([a.start(), b.start(), c.start()]);
      await expectStory(cluster, [
        { ...{ type: "stage.started", taskId: "licence" }, happen: () => failOver(cluster) },
      ]);
    });

    it("ends as on one machine while each host gets the next version, and no turn is interrupted", async () => {
      using next = await bundleNextVersion();
      await using cluster = await openStoryCluster();
      const { store, hosts } = cluster;
      const { a, b, c } = hosts;
      await Promise.all([a.start(), b.start(), c.start()]);
      const accident = {
        ...({ type: "stage.started", taskId: "languages" } as const), // which waits until the story stops it
        async happen() {
          const first = await hostOf(cluster, "languages");
          const running = await upgrade(cluster, first, next.file);
          expect(running.map(({ id }) => id)).toContain("languages");
          for (const host of [a, b, c]) if (host !== first) await upgrade(cluster, host, next.file);
          await b.startServer(TOKEN, { cli: next.file });
          await vi.waitFor(async () => {
            const ready = (await store.workers()).filter(({ state, until }) => state === "ready" && until > Date.now());
            expect(ready.map(({ host, kind, version }) => `${host} ${kind} ${version}`).sort()).toEqual(
              ["a worker", "b serve", "b worker", "c worker"].map((name) => `${name} ${NEXT_VERSION}`),
            );
          }, WAIT);
        },
      };
      await expectStory(cluster, [accident]);
      expect(await inspectPostgresStore({ url: cluster.databaseUrl })).toMatchObject({
        version: POSTGRES_MIGRATIONS.length + 1,
      });
      for (const { id, runs } of await store.tasks({ limit: MAX_PAGE })) {
        expect(runs, id).toBe(HTTP_STORY.resumed.includes(id) ? 2 : 1);
      }
    });
  },
);
