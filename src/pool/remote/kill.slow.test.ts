import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openSqliteStore } from "../../store/index.ts";
import { temporaryFolder } from "../../testing/repository.ts";
import type { HostChildOptions } from "./test-host-child.ts";
import { openHosts, type PoolHost } from "./test-hosts.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LEASE = { ttlMs: 3_000, renewMs: 500 };
const children = new Set<ChildProcess>();
let folder = "";

/** Node.js 20 cannot run TypeScript, so the child program is built first. */
beforeAll(async () => {
  const cache = join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "rookery-host-"));
  const input = fileURLToPath(new URL("./test-host-child.ts", import.meta.url));
  const external = (id: string) => !id.startsWith(".") && !isAbsolute(id) && !id.startsWith("@oxc-project/");
  await build({
    input,
    platform: "node",
    external,
    transform: { target: "node20" },
    output: { dir: folder, entryFileNames: "child.mjs", chunkFileNames: "[name]-[hash].mjs" },
    logLevel: "silent",
  });
}, 60_000);

afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function startHost({ name, env }: PoolHost, cwd: string, database: string): ChildProcess {
  const options: HostChildOptions = { host: name, cwd, database, leaseTiming: LEASE };
  const child = spawn(process.execPath, [join(folder, "child.mjs"), JSON.stringify(options)], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.add(child);
  return child;
}

it(
  "continues a stage on another host after the process of the first one was killed",
  { timeout: 180_000 },
  async () => {
    await using data = await temporaryFolder();
    const database = join(data.path, "shared.db");
    await using store = await openSqliteStore({ path: database });
    const toml =
      `[host]\nsave_interval = 1\n` +
      `[pipelines.merged]\nstages = [{ name = "work", agent = "robin" }, { name = "merge", merge = "merge" }]\n`;
    await using s = await openHosts({ toml, store });
    const [a, b] = [await s.host("a"), await s.host("b", "", { leaseTiming: LEASE })];
    const script =
      "if [ -e half.txt ]; then cp half.txt whole.txt; else echo $$ > half.txt; while :; do sleep 0.05; done; fi";
    await b.rookery.tasks.start({ id: "t1", prompt: `run: ${script}`, pipeline: "merged", title: "Whole" });
    const child = startHost(a, s.user.path, database);
    const half = await vi.waitFor(
      async () => {
        const { worktree } = await b.rookery.tasks.show("t1");
        return await s.remoteGit("show", `${worktree?.saved ?? "none"}:half.txt`);
      },
      { timeout: 60_000, interval: 100 },
    );
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    process.kill(Number(half), "SIGKILL"); // the host is dead, so its agent is too
    b.run();
    const done = await s.until("t1", "done", "failed");
    expect(done, done.message).toMatchObject({
      status: "done",
      runs: 2,
      worktree: { host: "b" },
      merge: { outcome: "merged" },
    });
    expect(await s.remoteGit("log", "--first-parent", "--reverse", "--format=%s", "main")).toBe(
      "Initial commit\nMerge task t1: Whole",
    );
    expect(await s.remoteGit("ls-tree", "--name-only", "main")).toBe("README.md\nhalf.txt\nwhole.txt");
    expect(await s.remoteGit("show", "main:whole.txt")).toBe(half);
    const { events } = await s.store.readTask({ taskId: "t1" });
    const started = events.filter((event) => event.type === "task.started");
    expect(started.map(({ host }) => host)).toEqual(["a", "b"]);
  },
);
