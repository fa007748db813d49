import { existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, it, vi } from "vitest";
import { trust } from "../../config/index.ts";
import { RookeryError, type Store, type TaskEventBody } from "../../domain/index.ts";
import { openHosts, type HostsScene } from "./test-hosts.ts";

vi.setConfig({ testTimeout: 180_000 }); // several hosts, and git processes that wait for each other

const history = (s: HostsScene) => s.remoteGit("log", "--reverse", "--format=%s", "main");

async function readEvents(s: HostsScene, task: string): Promise<readonly TaskEventBody[]> {
  const { events } = await s.store.readTask({ taskId: task });
  return events;
}

/** Waits for an event of a task that is in its log for good. */
async function untilEvent<Type extends TaskEventBody["type"]>(
  s: HostsScene,
  task: string,
  type: Type,
  isIt: (event: Extract<TaskEventBody, { type: Type }>) => boolean = () => true,
) {
  return vi.waitFor(
    async () => {
      const events = await readEvents(s, task);
      const found = events.findLast((event) => event.type === type && isIt(event as never));
      expect(found, `${task} has no ${type}: ${events.map((event) => event.type).join(" ")}`).toBeDefined();
      return found as Extract<TaskEventBody, { type: Type }>;
    },
    { timeout: 60_000, interval: 20 },
  );
}

const MERGE = `[pipelines.merged]\nstages = [{ name = "work", agent = "robin" }, { name = "merge", merge = "squash" }]\n`;

it("runs a task from a mirror and publishes its merge to the remote", async () => {
  await using s = await openHosts({ toml: MERGE });
  const a = await s.host("a");
  const started = await a.rookery.tasks.start({
    id: "t1",
    prompt: "run: echo one > one.txt",
    pipeline: "merged",
    title: "Add one",
  });
  expect(started).toMatchObject({ status: "queued" });
  a.run();
  const done = await s.until("t1", "done", "failed");
  expect(done, done.message).toMatchObject({ status: "done", merge: { outcome: "merged", into: "main" } });
  expect(done.worktree).toMatchObject({ base: "origin/main", host: "a", saved: expect.any(String) as string });
  expect(done.worktree?.path).toContain(join(s.folder, "a/state/repositories/project-"));
  expect(await history(s)).toBe("Initial commit\nAdd one");
  expect(existsSync(join(s.user.path, ".rookery"))).toBe(false);
  expect(await s.remoteGit("for-each-ref", "refs/rookery", "--format=%(refname)")).toMatch(
    /^refs\/rookery\/wip\/t1-[0-9a-f]{8}$/,
  );
  await a.rookery.tasks.remove("t1");
  expect(await s.remoteGit("for-each-ref", "refs/rookery")).toBe("");
});

/** Fails every call after `cut`, like the store of a host that has lost its network. */
function cuttable(store: Store): { readonly store: Store; cut(): void } {
  let isCut = false;
  const proxy = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        const error = new RookeryError("store_unavailable", "the network is gone");
        if (isCut && String(name).startsWith("follow")) throw error;
        return isCut ? Promise.reject(error) : Reflect.apply(value, target, args);
      };
    },
  });
  return { store: proxy, cut: () => void (isCut = true) };
}

const LEASE = { ttlMs: 2_000, renewMs: 400 };

it("continues on another host with the uncommitted work of the last snapshot", async () => {
  await using s = await openHosts({
    toml: `${MERGE}[host]\nsave_interval = 1\n[worktree]\nsetup = "echo $(basename $HOME) > set-up.txt"\n`,
    files: { ".gitignore": "set-up.txt\n" },
  });
  const network = cuttable(s.store);
  const a = await s.host("a", "", { store: network.store, leaseTiming: LEASE });
  const b = await s.host("b", "", { leaseTiming: LEASE });
  const script =
    "if [ -e half.txt ]; then cat half.txt set-up.txt > whole.txt; else echo $PPID > half.txt; while :; do sleep 0.05; done; fi";
  await b.rookery.tasks.start({ id: "t1", prompt: `run: ${script}`, pipeline: "merged", title: "Whole" });
  a.run();
  const isHalf = async (commit: string) =>
    (await s.remoteGit("ls-tree", "--name-only", commit)).split("\n").includes("half.txt");
  let saved = "";
  await vi.waitFor(
    async () => {
      saved = (await b.rookery.tasks.show("t1")).worktree?.saved ?? "";
      expect(saved !== "" && (await isHalf(saved))).toBe(true);
    },
    { timeout: 30_000, interval: 50 },
  );
  const before = await b.rookery.tasks.show("t1");
  expect(before.worktree).toMatchObject({ host: "a" });
  network.cut();
  b.run();
  const done = await s.until("t1", "done", "failed");
  expect(done, done.message).toMatchObject({
    status: "done",
    runs: 2,
    worktree: { host: "b" },
    merge: { outcome: "merged" },
  });
  expect(done.worktree?.path).toContain(join(s.folder, "b/state/repositories"));
  expect(await s.remoteGit("show", "main:whole.txt")).toMatch(/^\d+\nb$/); // the setup ran again
  expect(await history(s)).toBe("Initial commit\nWhole");
  const made = (await readEvents(s, "t1")).filter((event) => event.type === "worktree.made");
  expect(made.map(({ host, anew }) => [host, anew])).toEqual([
    ["a", true],
    ["b", true],
  ]);
  expect(made[1]?.restored).toMatch(/^[0-9a-f]{40}$/);
  // The session continues in the worktree of the new host.
  const sessions = new Set(done.sessions.map(({ id }) => id));
  expect(sessions.size).toBe(1);
  expect((await s.store.summary(done.sessions[0]?.id ?? ""))?.cwd).toBe(done.worktree?.path);
  // The first host has ended its agent and cannot save any more.
  expect(await readFile(join(before.worktree?.path ?? "", "half.txt"), "utf8")).toMatch(/^\d+\n$/);
  const pid = Number((await s.remoteGit("show", "main:half.txt")).trim());
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), { timeout: 20_000 });
});

it("runs stages while the remote is unreachable, says that the merge waits, and publishes it when the remote is back", async () => {
  await using s = await openHosts({ toml: MERGE });
  const a = await s.host("a");
  const script = `echo one > one.txt; until [ -e "${s.folder}/go" ]; do sleep 0.05; done`;
  await a.rookery.tasks.start({ id: "t1", prompt: `run: ${script}`, pipeline: "merged", title: "Add one" });
  a.run();
  await untilEvent(s, "t1", "stage.started");
  await rename(s.remote, `${s.remote}.away`);
  await writeFile(join(s.folder, "go"), "");
  await untilEvent(s, "t1", "stage.ended", ({ name, passed }) => name === "work" && passed);
  await untilEvent(
    s,
    "t1",
    "notice",
    ({ code, message }) => code === "remote_unreachable" && message.includes("could not be saved"),
  );
  const waiting = await untilEvent(s, "t1", "merge.waiting");
  expect(waiting).toMatchObject({
    code: "remote_unreachable",
    message: expect.stringMatching(/^git remote unreachable: /) as string,
  });
  expect(await a.rookery.tasks.show("t1")).toMatchObject({
    status: "running",
    merge: { outcome: undefined, message: expect.stringContaining("git remote unreachable") as string },
  });
  await rename(`${s.remote}.away`, s.remote);
  const done = await s.until("t1", "done", "failed");
  expect(done, done.message).toMatchObject({ status: "done", merge: { outcome: "merged", message: undefined } });
  expect(await history(s)).toBe("Initial commit\nAdd one");
  const waits = (await readEvents(s, "t1")).filter(({ type }) => type === "merge.waiting");
  expect(waits).toHaveLength(1);
});

it("shows the diff of a task on another host, predicts its merge and removes it there", async () => {
  await using s = await openHosts({ toml: "[host]\nsave_interval = 1\n" });
  const [a, b] = [await s.host("a"), await s.host("b")];
  const script = `echo one > one.txt; git add one.txt; git commit -qm One; echo two > two.txt; until [ -e "${s.folder}/go" ]; do sleep 0.05; done`;
  await a.rookery.tasks.start({ id: "t1", prompt: `run: ${script}`, title: "Add one" });
  const stop = a.run();
  await vi.waitFor(
    async () => {
      const { files, commits, uncommitted, patch } = await b.rookery.tasks.diff("t1");
      expect(files.map(({ path, change }) => `${path} ${change}`)).toEqual(["one.txt added", "two.txt added"]);
      expect(commits.map(({ subject }) => subject)).toEqual(["One"]);
      expect(uncommitted).toBe(true);
      expect(patch).toContain("+two");
    },
    { timeout: 30_000, interval: 200 },
  );
  expect((await b.rookery.tasks.show("t1")).worktree).toMatchObject({ host: "a" }); // reading moves nothing
  await expect(b.rookery.tasks.predictMerge("t1")).rejects.toMatchObject({ code: "other_host" });
  await writeFile(join(s.folder, "go"), "");
  await s.until("t1", "done", "failed");
  await stop();
  expect(await b.rookery.tasks.predictMerge("t1")).toMatchObject({ outcome: "merged" });
  await expect(b.rookery.tasks.remove("t1")).rejects.toMatchObject({ code: "worktree_unmerged" });
  await b.rookery.tasks.remove("t1", { force: true });
  expect(await s.remoteGit("for-each-ref", "refs/rookery")).toBe("");
});

it("keeps the worktree of a task that another host has taken over, and merges what changed after its end", async () => {
  await using s = await openHosts();
  const [a, b] = [await s.host("a"), await s.host("b")];
  for (const id of ["t1", "t2"]) await a.rookery.tasks.start({ id, prompt: "run: true", title: id });
  const stop = a.run();
  await s.until("t1", "done");
  await s.until("t2", "done");
  await stop();
  expect(await b.rookery.tasks.predictMerge("t1")).toMatchObject({ outcome: "nothing" }); // b has it now
  const { worktree } = await b.rookery.tasks.show("t1");
  expect(worktree).toMatchObject({ host: "b" });
  await a.rookery.tasks.collect({ quota: 0 });
  expect(await b.rookery.tasks.show("t1")).toMatchObject({ worktree: { host: "b", removed: false } });
  await writeFile(join(worktree?.path ?? "", "later.txt"), "later\n");
  expect(await b.rookery.tasks.merge("t1", { how: "squash", message: "Later" })).toMatchObject({ outcome: "merged" });
  const saved = (await readEvents(s, "t1")).findLast((event) => event.type === "worktree.saved");
  expect(await s.remoteGit("show", `${saved?.commit ?? ""}:later.txt`)).toBe("later");
});

it("finishes the merge of an ended task by itself when the remote is back, from another host", async () => {
  await using s = await openHosts();
  const [a, b] = [await s.host("a"), await s.host("b")];
  await a.rookery.tasks.start({ id: "t1", prompt: "run: echo one > one.txt", title: "Add one" });
  const stop = a.run();
  await s.until("t1", "done");
  await stop();
  expect(await b.rookery.tasks.predictMerge("t1")).toMatchObject({ outcome: "merged", commits: 1 });
  const first = b.rookery.tasks.merge("t1", { how: "squash", message: "One" });
  expect(await first).toMatchObject({ outcome: "merged" });
  expect((await b.rookery.tasks.show("t1")).worktree).toMatchObject({ host: "b" });
  await b.rookery.tasks.resume("t1", { prompt: "run: echo two > two.txt" });
  b.run();
  await s.until("t1", "done");
  await rename(s.remote, `${s.remote}.away`);
  await expect(b.rookery.tasks.merge("t1", { how: "squash", message: "Two" })).rejects.toMatchObject({
    code: "remote_unreachable",
    message: expect.stringMatching(/not merged into main yet: git remote unreachable.*will try again/) as string,
  });
  await rename(`${s.remote}.away`, s.remote);
  await vi.waitFor(async () => expect(await history(s)).toBe("Initial commit\nOne\nTwo"), {
    timeout: 30_000,
    interval: 100,
  });
  await untilEvent(s, "t1", "merge.ended", ({ outcome }) => outcome === "merged");
});

it("replaces a corrupt mirror, says so in the log, and runs the task", async () => {
  await using s = await openHosts();
  const a = await s.host("a");
  const stop = a.run();
  await a.rookery.tasks.start({ id: "t1", prompt: "run: true" });
  const { worktree } = await s.until("t1", "done");
  await stop();
  const checkout = join(worktree?.path ?? "", "../../..");
  const mirror = join(checkout, "../../mirrors", basename(checkout), "mirror.git");
  await rm(join(mirror, "objects"), { recursive: true });
  await a.rookery.tasks.start({ id: "t2", prompt: "run: echo two > two.txt" });
  a.run();
  const done = await s.until("t2", "done", "failed");
  expect(done, done.message).toMatchObject({ status: "done" });
  const notices = (await readEvents(s, "t2")).filter((event) => event.type === "notice");
  expect(notices).toMatchObject([{ level: "warning", message: expect.stringContaining("was corrupt") as string }]);
});

it("starts no task from commits that the remote does not have, and says what to do", async () => {
  await using s = await openHosts();
  const a = await s.host("a");
  await s.user.git("commit", "--quiet", "--allow-empty", "--message=Local");
  await expect(a.rookery.tasks.start({ prompt: "run: true" })).rejects.toMatchObject({
    code: "base_not_found",
    message: expect.stringMatching(
      /main has a commit that origin does not have.*git push origin main.*--base.*pinned/,
    ) as string,
  });
  const there = await a.rookery.tasks.start({ prompt: "run: true", base: "origin/main" });
  expect((await s.store.task(there.id))?.spec).toMatchObject({ base: "origin/main", remote: s.remote });
  await s.user.git("push", "--quiet", "origin", "main");
  const pushed = await a.rookery.tasks.start({ id: "pushed", prompt: "run: true" });
  expect((await s.store.task(pushed.id))?.spec).toMatchObject({ base: "origin/main" });
});

it("keeps a repository without a remote on its host, and stores no credentials of a URL", async () => {
  await using s = await openHosts();
  const a = await s.host("a");
  await s.user.git("remote", "set-url", "origin", "https://me:secret@example.invalid/project.git");
  const { id } = await a.rookery.tasks.start({ id: "t1", prompt: "run: true" });
  expect((await s.store.task(id))?.spec.remote).toBe("https://example.invalid/project.git");
  expect(JSON.stringify(await readEvents(s, "t1"))).not.toContain("secret");
  await s.user.git("remote", "remove", "origin");
  await a.rookery.tasks.start({ id: "t2", prompt: "run: true" });
  const spec = (await s.store.task("t2"))?.spec;
  expect(spec?.remote).toBeUndefined();
  expect(spec?.host).toBe("a");
});

it("keeps a repository with files of Git LFS on its host", async () => {
  await using s = await openHosts({
    files: { "assets/.gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n" },
  });
  const a = await s.host("a");
  await a.rookery.tasks.start({ id: "t1", prompt: "run: true" });
  expect((await s.store.task("t1"))?.spec.remote).toBeUndefined();
});

it("uses the configuration of the remote where it is trusted, and leaves the task to such a host", async () => {
  const toml = `[worktree]\nsetup = "echo set up > set-up.txt"\n`;
  await using s = await openHosts({ files: { "rookery.toml": toml, ".gitignore": "set-up.txt\n" } });
  const [b, a] = [await s.host("b"), await s.host("a")];
  await trust(s.user.path, a.env);
  await a.rookery.tasks.start({ id: "t1", prompt: "run: cat set-up.txt > copy.txt" });
  b.run();
  const queued = await untilEvent(s, "t1", "task.queued");
  expect(queued).toMatchObject({
    why: "unavailable",
    message: expect.stringMatching(/not trusted.*rookery trust .*project-/) as string,
  });
  a.run();
  const done = await s.until("t1", "done", "failed");
  expect(done, done.message).toMatchObject({ status: "done", worktree: { host: "a" } });
  expect(await readFile(join(done.worktree?.path ?? "", "copy.txt"), "utf8")).toBe("set up\n");
});

it("stops and removes a task while its merge waits for the remote, and says what is left there", async () => {
  await using s = await openHosts({ toml: MERGE });
  const a = await s.host("a");
  const script = `echo one > one.txt; until [ -e "${s.folder}/go" ]; do sleep 0.05; done`;
  await a.rookery.tasks.start({ id: "t1", prompt: `run: ${script}`, pipeline: "merged" });
  a.run();
  await untilEvent(s, "t1", "stage.started");
  await rename(s.remote, `${s.remote}.away`);
  await writeFile(join(s.folder, "go"), "");
  await untilEvent(s, "t1", "merge.waiting");
  expect(await a.rookery.tasks.stop("t1")).toMatchObject({ status: "stopped", merge: { outcome: "failed" } });
  await a.rookery.tasks.remove("t1", { force: true });
  const left = await untilEvent(s, "t1", "notice", ({ message }) => message.includes("stays on the remote"));
  expect(left.message).toMatch(
    /^refs\/rookery\/wip\/t1-[0-9a-f]{8} stays on the remote .*delete it: git push .* :refs\/rookery/,
  );
  await rename(`${s.remote}.away`, s.remote);
  expect(await history(s)).toBe("Initial commit");
});
