import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { MergeHow } from "../../domain/index.ts";
import { killMarked } from "../../stdx/index.ts";
import { temporaryFolder } from "../../testing/repository.ts";
import { MARKER, type Scene } from "../test-scene.ts";
import { mergeBranch, sweepMerges, wasPublished, type MergeOptions } from "./index.ts";
import type { ChildOptions, ChildMessage } from "./test-child.ts";
import { expectConsistent, lines, openMergeScene, readUserState } from "./test-merge-scene.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const children = new Set<ChildProcessWithoutNullStreams>();
let folder = "";

/** Node.js 20 cannot run TypeScript, so the child program is built first. */
beforeAll(async () => {
  const cache = join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "rookery-merge-"));
  const input = fileURLToPath(new URL("./test-child.ts", import.meta.url));
  const output = { file: join(folder, "child.mjs"), codeSplitting: false };
  await build({ input, platform: "node", transform: { target: "node20" }, output, logLevel: "silent" });
});

afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function startChild(scene: Scene, options: Omit<ChildOptions, "path">, path = "") {
  const env = { ...scene.env, PATH: `${path}${scene.env["PATH"] ?? ""}` };
  const argument = JSON.stringify({ ...options, path: scene.user.path } satisfies ChildOptions);
  const child = spawn(process.execPath, [join(folder, "child.mjs"), argument], { env });
  children.add(child);
  child.stderr.pipe(process.stderr);
  const output = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async readMessage(name: string): Promise<string> {
      const next = await output.next();
      const line = next.done === true ? {} : (JSON.parse(next.value) as ChildMessage);
      expect(Object.keys(line)).toEqual([name]);
      return String(Object.values(line)[0]);
    },
    async kill() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      children.delete(child);
    },
  };
}

function mergeHere({ repository }: Scene, how: MergeHow, more: Partial<MergeOptions> = {}) {
  return mergeBranch(repository, {
    branch: "task",
    into: "main",
    how,
    message: "Merge task x",
    marker: MARKER,
    ...more,
  });
}

async function expectMergedOnce(scene: Scene, how: MergeHow, before: string): Promise<void> {
  const { user } = scene;
  const count = await user.git("rev-list", "--count", "--first-parent", `${before}..main`);
  expect(count).toBe(how === "rebase" ? "2" : "1");
  expect(await user.git("show", "main:a.txt")).toBe(lines({ 2: "by the task" }).trimEnd());
  expect(await user.git("status", "--porcelain")).toBe("");
  await expectConsistent(scene);
}

describe.each(["merge", "squash", "rebase"] as const)("a %s whose process is killed", (how) => {
  it("before publishing changes nothing, and the next run merges", async () => {
    await using scene = await openMergeScene();
    const before = await readUserState(scene);
    const main = await scene.user.git("rev-parse", "main");
    const child = startChild(scene, { how, stopAt: "prepared" });
    await child.readMessage("marker");
    const commit = await child.readMessage("prepared");
    await child.kill();
    expect(await readUserState(scene)).toEqual(before);
    expect(await wasPublished(scene.repository, { into: "main", commit })).toBe(false);
    expect(await mergeHere(scene, how, { earlier: commit })).toMatchObject({ outcome: "merged", commits: 2 });
    await expectMergedOnce(scene, how, main);
  });

  it("after publishing counts as merged", async () => {
    await using scene = await openMergeScene();
    const main = await scene.user.git("rev-parse", "main");
    const child = startChild(scene, { how, stopAt: "merged" });
    await child.readMessage("marker");
    const commit = await child.readMessage("prepared");
    expect(await child.readMessage("merged")).toBe(commit);
    await child.kill();
    expect(await wasPublished(scene.repository, { into: "main", commit })).toBe(true);
    expect(await mergeHere(scene, how, { earlier: commit })).toMatchObject({ outcome: "merged", commit });
    await expectMergedOnce(scene, how, main);
  });

  it.each(["main", "other"])("while git publishes is published exactly once, with %s checked out", async (on) => {
    await using scene = await openMergeScene();
    await using place = await temporaryFolder();
    const { user, repository } = scene;
    await user.git("checkout", "--quiet", on);
    const main = await user.git("rev-parse", "main");
    const held = holdGit(place.path);
    const child = startChild(scene, { how }, `${place.path}:`);
    const marker = await child.readMessage("marker");
    const commit = await child.readMessage("prepared");
    await held.reached();
    await child.kill();
    await killMarked(marker); // like the next process that starts
    expect(await wasPublished(repository, { into: "main", commit })).toBe(false);
    const report = await mergeHere(scene, how, {
      earlier: commit,
      onPrepared: async () => {
        await held.resume();
        await vi.waitFor(
          async () => expect(await wasPublished(repository, { into: "main", commit })).toBe(true),
          9_000,
        );
      },
    });
    expect(report).toMatchObject({ outcome: "merged", commit });
    await expectMergedOnce(scene, how, main);
  });
});

it("removes a temporary checkout only after its owner is dead", async () => {
  await using scene = await openMergeScene();
  await using place = await temporaryFolder();
  const { user, repository } = scene;
  const before = await readUserState(scene);
  const pipe = join(place.path, "reached");
  execFileSync("mkfifo", [pipe, join(place.path, "never")]);
  const gate = `mkdir -p deep/er; chmod 500 deep; echo here > ${pipe}; read x < ${join(place.path, "never")}`;
  const child = startChild(scene, { how: "merge", gate });
  const marker = await child.readMessage("marker");
  await readFile(pipe);
  expect(await sweepMerges(repository)).toBe(0);
  expect(await readdir(join(user.path, ".rookery", "merging"))).toEqual([`${marker}-1`]);
  await child.kill();
  expect(await killMarked(marker)).toBeGreaterThan(0);
  expect(await sweepMerges(repository)).toBe(1);
  expect(await sweepMerges(repository)).toBe(0);
  expect(await readUserState(scene)).toEqual(before);
  await expectConsistent(scene);
});

/** Installs a git that pauses before it publishes until `resume` is called. */
function holdGit(folder: string) {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const [reached, go] = [join(folder, "reached"), join(folder, "go")];
  execFileSync("mkfifo", [reached, go]);
  const script = [
    "#!/bin/sh",
    'case " $* " in',
    `*" --ff-only "* | *" update-ref "*) echo here > '${reached}'; read line < '${go}' ;;`,
    "esac",
    `exec '${real}' "$@"`,
  ];
  writeFileSync(join(folder, "git"), script.join("\n"), { mode: 0o755 });
  return { reached: () => readFile(reached), resume: () => writeFile(go, "go\n") };
}
