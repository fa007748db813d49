import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MergeHow } from "../../domain/index.ts";
import { MARKER, openScene, type Scene } from "../test-scene.ts";
import { mergeBranch, predictBranchMerge } from "./index.ts";
import { commitChange, expectConsistent, lines, readUserState } from "./test-merge-scene.ts";

type Change = (scene: Scene) => Promise<unknown>;

function mergeTask({ repository }: Scene, how: MergeHow) {
  return mergeBranch(repository, { branch: "task", into: "main", how, message: "Merge", marker: MARKER });
}

/** Commits different changes on both branches. `main` is checked out. */
async function diverge(files: Record<string, string>, ofTask: Change, ofMain: Change): Promise<Scene> {
  const scene = await openScene(files);
  const { user } = scene;
  await user.git("branch", "task");
  for (const [branch, does] of [
    ["task", ofTask],
    ["main", ofMain],
  ] as const) {
    await user.git("checkout", "--quiet", branch);
    await does(scene);
    await user.git("add", "--all");
    await user.git("commit", "--quiet", "--allow-empty", `--message=Of ${branch}`);
  }
  return scene;
}

describe("reports a conflict for", () => {
  const odd = ' -spaced "ünï"\ttab ';
  const cases: Record<
    string,
    [files: Record<string, string>, task: Change, main: Change, conflicts: readonly string[]]
  > = {
    "a file name with quotes, spaces and Unicode": [
      { [odd]: "1\n" },
      ({ user }) => user.write(odd, "2\n"),
      ({ user }) => user.write(odd, "3\n"),
      [odd],
    ],
    "a file renamed on one side and deleted on the other": [
      { "a.txt": lines() },
      ({ user }) => user.git("mv", "a.txt", "b.txt"),
      ({ user }) => user.git("rm", "--quiet", "a.txt"),
      ["b.txt"],
    ],
    "a file changed on one side and deleted on the other": [
      { "a.txt": lines() },
      ({ user }) => user.write("a.txt", lines({ 3: "x" })),
      ({ user }) => user.git("rm", "--quiet", "a.txt"),
      ["a.txt"],
    ],
    "a file added on both sides": [
      {},
      ({ user }) => user.write("a.txt", "1\n"),
      ({ user }) => user.write("a.txt", "2\n"),
      ["a.txt"],
    ],
    "a binary file": [
      { "a.bin": "a\0b" },
      ({ user }) => user.write("a.bin", "a\0c"),
      ({ user }) => user.write("a.bin", "a\0d"),
      ["a.bin"],
    ],
    "a submodule": [
      { "a.txt": "" },
      (scene) => gitlink(scene, "1".repeat(40)),
      (scene) => gitlink(scene, "2".repeat(40)),
      ["sub"],
    ],
  };

  it.each(Object.entries(cases))("%s", async (_, [files, ofTask, ofMain, conflicts]) => {
    await using scene = await diverge(files, ofTask, ofMain);
    const before = await readUserState(scene);
    for (const how of ["merge", "squash", "rebase"] as const) {
      expect(await mergeTask(scene, how)).toMatchObject({ outcome: "conflicts", conflicts });
      expect(await predictBranchMerge(scene.repository, { branch: "task", into: "main", how })).toMatchObject({
        conflicts,
      });
    }
    expect(await readUserState(scene)).toEqual(before);
  });
});

/** Adds a gitlink to the index. Its folder stays empty. */
async function gitlink({ user }: Scene, commit: string): Promise<void> {
  await mkdir(join(user.path, "sub"), { recursive: true });
  await user.git("update-index", "--add", "--cacheinfo", `160000,${commit},sub`);
}

describe("a rebase", () => {
  it("keeps author, date and message of each commit and does not change the branch", async () => {
    await using scene = await diverge({ "a.txt": "a\n" }, commitAsZoe, ({ user }) => user.write("b.txt", "b\n"));
    const { user } = scene;
    const task = await user.git("rev-parse", "task");
    const what = ["log", "--format=%an|%ae|%aI|%B", "--max-count=2"];
    const before = await user.git(...what, "task");
    expect(await mergeTask(scene, "rebase")).toMatchObject({ outcome: "merged", commits: 2 });
    expect(await user.git(...what, "main")).toBe(before);
    expect(before).toContain("Zoë|zoe@rookery.invalid|2001-02-03T04:05:06+05:00|Grüße");
    expect(await user.git("rev-parse", "task")).toBe(task);
    expect(await user.git("log", "--merges", "--format=%h", "main")).toBe("");
    await expectConsistent(scene);
  });

  it("fast-forwards to the same commits if the target has not moved", async () => {
    await using scene = await openScene();
    await scene.user.git("checkout", "--quiet", "-b", "task");
    await commitChange(scene, "b.txt", "b\n", "Add b");
    await scene.user.git("checkout", "--quiet", "main");
    const commit = await scene.user.git("rev-parse", "task");
    expect(await mergeTask(scene, "rebase")).toMatchObject({ outcome: "merged", commit });
  });

  it("skips commits that the target already has", async () => {
    await using scene = await openScene({ "a.txt": lines() });
    const { user } = scene;
    await user.git("checkout", "--quiet", "-b", "task");
    await commitChange(scene, "b.txt", "b\n", "Add b");
    await commitChange(scene, "c.txt", "c\n", "Add c");
    await user.git("checkout", "--quiet", "main");
    await commitChange(scene, "a.txt", lines({ 1: "x" }), "Advance main");
    await user.git("cherry-pick", "task~1");
    expect(await mergeTask(scene, "rebase")).toMatchObject({ outcome: "merged", commits: 2 });
    expect(await user.git("log", "--format=%s", "--max-count=3")).toBe("Add c\nAdd b\nAdvance main");
  });

  it("fails only if changes of a merge commit would be lost", async () => {
    for (const evil of [true, false]) {
      await using scene = await diverge(
        { "a.txt": "a\n" },
        ({ user }) => user.write("b.txt", "b\n"),
        ({ user }) => user.write("c.txt", "c\n"),
      );
      const { user } = scene;
      await user.git("checkout", "--quiet", "task");
      await user.git("merge", "--quiet", "--no-commit", "--no-ff", "main");
      if (evil) await user.write("only-here.txt", "made while merging\n");
      await user.git("add", "--all");
      await user.git("commit", "--quiet", "--message=Catch up");
      await user.git("checkout", "--quiet", "main");
      await commitChange(scene, "d.txt", "d\n", "Advance main");
      const report = await mergeTask(scene, "rebase");
      if (evil)
        expect(report).toMatchObject({
          outcome: "failed",
          message: expect.stringContaining("would lose changes") as string,
        });
      else expect(report).toMatchObject({ outcome: "merged" });
      if (evil) expect(await mergeTask(scene, "squash")).toMatchObject({ outcome: "merged" });
      expect(await user.git("ls-files")).toBe(
        ["a.txt", "b.txt", "c.txt", "d.txt", ...(evil ? ["only-here.txt"] : [])].join("\n"),
      );
    }
  });
});

async function commitAsZoe({ user }: Scene): Promise<void> {
  await user.write("z.txt", "z\n");
  await user.git("add", "--all");
  const who = ["--author=Zoë <zoe@rookery.invalid>", "--date=2001-02-03T04:05:06+05:00"];
  await user.git("commit", "--quiet", ...who, "--cleanup=verbatim", "--message=Grüße\n\n  indented\n# kept\n");
  await user.write("y.txt", "y\n");
}

it("uses the merge attributes of the branch", async () => {
  const files = { "list.txt": "1\n", ".gitattributes": "list.txt merge=union\n" };
  for (const how of ["merge", "squash", "rebase"] as const) {
    await using scene = await diverge(
      files,
      ({ user }) => user.write("list.txt", "1\ntask\n"),
      ({ user }) => user.write("list.txt", "1\nmain\n"),
    );
    expect(await mergeTask(scene, how)).toMatchObject({ outcome: "merged" });
    expect((await scene.user.read("list.txt")).split("\n").sort()).toEqual(["", "1", "main", "task"]);
  }
});

it("keeps line endings that differ in the checkout", async () => {
  await using scene = await diverge(
    { "a.txt": "1\r\n2\r\n", "b.txt": "b\n" },
    ({ user }) => user.write("b.txt", "b, by the task\n"),
    ({ user }) => user.write("c.txt", "c\n"),
  );
  await scene.user.git("config", "core.autocrlf", "input");
  for (const how of ["squash", "rebase"] as const) {
    expect(await mergeTask(scene, how)).toMatchObject({ outcome: how === "squash" ? "merged" : "nothing" });
  }
  expect(await scene.user.git("show", "main:a.txt")).toBe("1\r\n2\r");
});
