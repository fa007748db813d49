import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MergeHow, MergeReport } from "../../domain/index.ts";
import { temporaryFolder } from "../../testing/repository.ts";
import { MARKER, expectRejection, type Scene } from "../test-scene.ts";
import { mergeBranch, predictBranchMerge, wasPublished, type MergeOptions } from "./index.ts";
import { commitChange, expectConsistent, lines, openMergeScene, readUserState } from "./test-merge-scene.ts";

const HOWS: readonly MergeHow[] = ["merge", "squash", "rebase"];
const MESSAGE = 'Merge task x: "quoted" $(touch hacked) `id`\n\n# not a comment\n--author=nobody';

function mergeTask(scene: Scene, how: MergeHow, more: Partial<MergeOptions> = {}): Promise<MergeReport> {
  const options = { branch: "task", into: "main", how, message: MESSAGE, marker: MARKER, ...more };
  return mergeBranch(scene.repository, options);
}

/** Lists the new commits of `main`, newest first, as number of parents and subject. */
async function listNewCommits({ user }: Scene, since: string): Promise<readonly string[]> {
  const text = await user.git("log", "--first-parent", "--format=%p|%s", `${since}..main`);
  return text.split("\n").map((line) => {
    const [parents = "", subject = ""] = line.split("|");
    return `${parents.split(" ").length} ${subject}`;
  });
}

const NEW_COMMITS: Record<MergeHow, readonly string[]> = {
  merge: [`2 ${MESSAGE.split("\n")[0]}`],
  squash: [`1 ${MESSAGE.split("\n")[0]}`],
  rebase: ["1 Say it twice", "1 Say it once"],
};

describe.each(HOWS)("%s", (how) => {
  it("merges into a checked-out branch and updates its checkout", async () => {
    await using scene = await openMergeScene();
    const { user, repository } = scene;
    const before = await user.git("rev-parse", "main");
    const predicted = await readUserState(scene).then(async (state) => {
      const report = await predictBranchMerge(repository, { branch: "task", into: "main", how });
      expect(await readUserState(scene)).toEqual(state);
      return report;
    });
    expect(predicted).toMatchObject({ outcome: "merged", how, into: "main", dryRun: true, commits: 2, conflicts: [] });
    expect(predicted).toMatchObject({ commit: undefined });
    const prepared: string[] = [];
    const report = await mergeTask(scene, how, {
      onPrepared: async (commit) => {
        expect(await user.git("rev-parse", "main")).toBe(before);
        prepared.push(commit);
      },
    });
    expect(report).toEqual({
      outcome: "merged",
      how,
      into: "main",
      dryRun: false,
      commit: await user.git("rev-parse", "main"),
      conflicts: [],
      commits: 2,
    });
    expect(prepared).toEqual([report.commit]);
    expect(await listNewCommits(scene, before)).toEqual(NEW_COMMITS[how]);
    expect(await user.read("a.txt")).toBe(lines({ 2: "by the task" }));
    expect([await user.read("new.txt"), await user.read("c.txt")]).toEqual(["new\n", "c, changed\n"]);
    expect(await user.git("status", "--porcelain")).toBe("");
    expect(await wasPublished(repository, { into: "main", commit: report.commit! })).toBe(true);
    await expectConsistent(scene);
  });

  it("changes nothing on a conflict and names the files", async () => {
    await using scene = await openMergeScene();
    const { repository } = scene;
    await commitChange(scene, "a.txt", lines({ 2: "by someone else" }), "Say it differently");
    const before = await readUserState(scene);
    const report = await mergeTask(scene, how, { onPrepared: () => Promise.reject(new Error("must not prepare")) });
    expect(report).toMatchObject({ outcome: "conflicts", conflicts: ["a.txt"], commits: 2, dryRun: false });
    expect(report.message).toContain("a.txt");
    const predicted = await predictBranchMerge(repository, { branch: "task", into: "main", how });
    expect(predicted).toEqual({ ...report, dryRun: true });
    expect(await readUserState(scene)).toEqual(before);
    await expectConsistent(scene);
  });

  it("runs the gate on the result and changes nothing if it fails", async () => {
    await using scene = await openMergeScene();
    const before = await readUserState(scene);
    let output = "";
    const gate = {
      command: "cat a.txt c.txt new.txt; git log -1 --format=%s; exit 7",
      timeoutMs: 20_000,
      env: scene.env,
      onOutput: (text: string) => void (output += text),
    };
    const report = await mergeTask(scene, how, {
      gate,
      onPrepared: () => Promise.reject(new Error("must not prepare")),
    });
    expect(report).toMatchObject({ outcome: "gate_failed", commits: 2 });
    expect(report.commit).toBeUndefined();
    expect(report.message).toContain("failed with exit code 7");
    expect(output).toBe(`${lines({ 2: "by the task" })}c, changed\nnew\n${NEW_COMMITS[how][0]!.slice(2)}\n`);
    expect(await readUserState(scene)).toEqual(before);
    await expectConsistent(scene);
  });

  it("merges if the gate passes", async () => {
    await using scene = await openMergeScene();
    const gate = { command: "echo trash > trash; rm a.txt; test -f new.txt", timeoutMs: 20_000, env: scene.env };
    const report = await mergeTask(scene, how, { gate: { ...gate, onOutput: () => undefined } });
    expect(report).toMatchObject({ outcome: "merged" });
    expect(await scene.user.git("status", "--porcelain")).toBe("");
    expect(await scene.user.read("a.txt")).toBe(lines({ 2: "by the task" }));
    await expectConsistent(scene);
  });

  it("keeps the user's changed, staged and untracked files", async () => {
    await using scene = await openMergeScene();
    const { user } = scene;
    await user.write("b.txt", "being written\n");
    await user.write("staged.txt", "staged\n");
    await user.git("add", "staged.txt");
    await user.write("untracked.txt", "mine\n");
    const status = await user.git("status", "--porcelain");
    expect(await mergeTask(scene, how)).toMatchObject({ outcome: "merged" });
    expect(await user.git("status", "--porcelain")).toBe(status);
    expect(await Promise.all(["b.txt", "staged.txt", "untracked.txt"].map((file) => user.read(file)))).toEqual([
      "being written\n",
      "staged\n",
      "mine\n",
    ]);
    expect(await user.read("new.txt")).toBe("new\n");
    await expectConsistent(scene);
  });

  // All three publish the same way, so one of them covers every case.
  it.each(how === "merge" ? ["changed", "staged", "deleted", "untracked", "ignored"] : ["changed"])(
    "is rejected without changes if it would overwrite a file that the user has %s",
    async (what) => {
      await using scene = await openMergeScene();
      const { user, repository } = scene;
      const file = what === "untracked" || what === "ignored" ? "new.txt" : "a.txt";
      if (what === "deleted") await user.git("rm", "--quiet", file);
      else await user.write(file, "the user's\n");
      if (what === "staged") await user.git("add", file);
      if (what === "ignored") await writeFile(join(user.path, ".git", "info", "exclude"), "new.txt\n");
      const before = await readUserState(scene);
      await expectRejection(
        mergeTask(scene, how),
        "checkout_dirty",
        new RegExp(`${user.path}.*overwrite ${file};.*stash`),
      );
      expect(await readUserState(scene)).toEqual(before);
      if (what !== "ignored") {
        const predicted = await predictBranchMerge(repository, { branch: "task", into: "main", how });
        expect(predicted).toMatchObject({ outcome: "merged", message: expect.stringContaining(file) as string });
        const gate = {
          command: "touch ../../../gate-ran",
          timeoutMs: 20_000,
          env: scene.env,
          onOutput: () => undefined,
        };
        await expectRejection(mergeTask(scene, how, { gate }), "checkout_dirty");
      }
      expect(await readUserState(scene)).toEqual(before);
      await expectConsistent(scene);
    },
  );

  it("moves a branch that is not checked out without changing files", async () => {
    await using scene = await openMergeScene();
    const { user } = scene;
    await user.git("checkout", "--quiet", "other");
    await user.write("a.txt", "the user's\n");
    const before = await readUserState(scene);
    const main = await user.git("rev-parse", "main");
    const report = await mergeTask(scene, how);
    expect(report).toMatchObject({ outcome: "merged", commit: await user.git("rev-parse", "main") });
    expect(await listNewCommits(scene, main)).toEqual(NEW_COMMITS[how]);
    expect(await user.git("show", "main:new.txt")).toBe("new");
    const after = await readUserState(scene);
    expect({ ...after, "the branches": "" }).toEqual({ ...before, "the branches": "" });
    await expectConsistent(scene);
  });

  it("updates another worktree that has the branch", async () => {
    await using scene = await openMergeScene();
    await using place = await temporaryFolder();
    const { user } = scene;
    await user.git("checkout", "--quiet", "other");
    const folder = join(place.path, "a wörktree");
    await user.git("worktree", "add", "--quiet", folder, "main");
    await writeFile(join(folder, "b.txt"), "being written\n");
    expect(await mergeTask(scene, how)).toMatchObject({ outcome: "merged" });
    expect(await readFile(join(folder, "new.txt"), "utf8")).toBe("new\n");
    expect(await user.git("-C", folder, "status", "--porcelain")).toBe(" M b.txt");
    await expectConsistent(scene);
  });

  it("retries if the target branch moves during the merge", async () => {
    await using scene = await openMergeScene();
    const { user } = scene;
    const before = await user.git("rev-parse", "main");
    const prepared: string[] = [];
    const report = await mergeTask(scene, how, {
      onPrepared: async (commit) => {
        prepared.push(commit);
        if (prepared.length === 1) await commitChange(scene, "b.txt", "b, changed\n", "Concurrent change");
      },
    });
    expect(report).toMatchObject({ outcome: "merged", commit: prepared[1] });
    expect(prepared).toHaveLength(2);
    expect(await listNewCommits(scene, before)).toEqual([...NEW_COMMITS[how], "1 Concurrent change"]);
    expect([await user.read("b.txt"), await user.read("new.txt")]).toEqual(["b, changed\n", "new\n"]);
    expect(await user.git("status", "--porcelain")).toBe("");
    await expectConsistent(scene);
  });

  it("fails after five attempts if the target branch keeps moving", async () => {
    for (const on of how === "merge" ? ["main", "other"] : ["other"]) {
      await using scene = await openMergeScene();
      const { user } = scene;
      await user.git("checkout", "--quiet", on);
      let times = 0;
      const prepared = async (): Promise<void> => {
        const tree = await user.git("rev-parse", "main^{tree}");
        times += 1;
        await user.git(
          "update-ref",
          "refs/heads/main",
          await user.git("commit-tree", tree, "-p", "main", "-m", "again"),
        );
      };
      const report = await mergeTask(scene, how, { onPrepared: prepared });
      expect(report).toMatchObject({ outcome: "failed", message: expect.stringContaining("moved 5 times") as string });
      expect(times).toBe(5);
      expect(await user.git("status", "--porcelain")).toBe("");
      await expectConsistent(scene);
    }
  });

  it("reports nothing to do the second time", async () => {
    await using scene = await openMergeScene();
    const { repository } = scene;
    await mergeTask(scene, how);
    const before = await readUserState(scene);
    if (how === "merge") expect(await mergeTask(scene, how)).toMatchObject({ outcome: "nothing", commits: 0 });
    else expect(await mergeTask(scene, how)).toMatchObject({ outcome: "nothing", commits: 2 });
    expect(await predictBranchMerge(repository, { branch: "task", into: "main", how })).toMatchObject({
      outcome: "nothing",
    });
    expect(await readUserState(scene)).toEqual(before);
  });

  it("runs no hook and asks for no signature", async () => {
    await using scene = await openMergeScene();
    const { user } = scene;
    const hooks = join(user.path, ".git", "hooks");
    await mkdir(hooks, { recursive: true });
    const names = [
      "pre-merge-commit",
      "post-merge",
      "post-checkout",
      "reference-transaction",
      "pre-rebase",
      "commit-msg",
    ];
    for (const name of names) await writeFile(join(hooks, name), `#!/bin/sh\ntouch hooked\nexit 1\n`, { mode: 0o755 });
    await user.git("config", "commit.gpgsign", "true");
    await user.git("config", "gpg.program", "false");
    await user.git("config", "merge.verifySignatures", "true");
    await user.git("config", "merge.autoStash", "true");
    await user.git("config", "branch.main.mergeOptions", "--no-ff --squash");
    expect(await mergeTask(scene, how)).toMatchObject({ outcome: "merged" });
    expect(Object.keys(await readUserState(scene))).not.toContain("hooked");
    await expectConsistent(scene);
  });
});
