import { mkdir, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MergeHow } from "../../domain/index.ts";
import { temporaryFolder, temporaryRepository } from "../../testing/repository.ts";
import { MARKER, openScene, expectRejection, testEnvironment, testGitOptions, type Scene } from "../test-scene.ts";
import { openRepository } from "../repository.ts";
import { mergeBranch, predictBranchMerge, type MergeOptions } from "./index.ts";
import { commitChange, expectConsistent, openMergeScene, readUserState } from "./test-merge-scene.ts";

function mergeTask({ repository }: Pick<Scene, "repository">, more: Partial<MergeOptions> = {}) {
  const options = { branch: "task", into: "main", how: "merge" as MergeHow, message: "Merge", marker: MARKER };
  return mergeBranch(repository, { ...options, ...more });
}

describe("the branches of a merge", () => {
  it("are rejected if either name is invalid or not a branch", async () => {
    await using scene = await openMergeScene();
    await scene.user.git("tag", "v1");
    const before = await readUserState(scene);
    const impossible = [
      "-f",
      "--output=x",
      "a b",
      "a\nb",
      "a\0b",
      "a\x07b",
      "main..task",
      "main@{1}",
      "main~1",
      "../main",
    ];
    const cases = [
      ...[...impossible, "x.lock", "", "x".repeat(5_000)].map(
        (name) => [name, "input_invalid", /not a valid branch name/] as const,
      ),
      ["mian", "base_not_found", /did you mean main/],
      ["HEAD", "input_invalid", /not a branch/],
      ["v1", "input_invalid", /"v1" is not a branch.*name a branch/],
    ] as const;
    for (const [name, code, message] of cases) {
      await expectRejection(mergeTask(scene, { into: name }), code, message);
      await expectRejection(mergeTask(scene, { branch: name }), code, message);
      await expectRejection(
        predictBranchMerge(scene.repository, { branch: "task", into: name, how: "merge" }),
        code,
        message,
      );
    }
    expect(await readUserState(scene)).toEqual(before);
  });

  it("cannot be a commit, or the same branch twice", async () => {
    await using scene = await openMergeScene();
    const commit = await scene.user.git("rev-parse", "main");
    await expectRejection(mergeTask(scene, { into: commit }), "input_invalid", /not a branch/);
    await expectRejection(mergeTask(scene, { into: "task" }), "input_invalid", /into itself/);
  });

  it("may have names with shell and git syntax", async () => {
    await using scene = await openMergeScene();
    const { user } = scene;
    for (const name of ["ünï/côde", "$(touch${IFS}hacked)", "a;b|c&d", "refs/heads/main", "main'\"`"]) {
      await user.git("branch", name, "main");
      expect(await mergeTask(scene, { into: name })).toMatchObject({ outcome: "merged", into: name });
      expect(await user.git("show", `refs/heads/${name}:new.txt`)).toBe("new");
    }
    expect(Object.keys(await readUserState(scene))).not.toContain("hacked");
    await expectConsistent(scene);
  });

  it("follow a symbolic ref to the branch it points to", async () => {
    await using scene = await openMergeScene();
    await scene.user.git("symbolic-ref", "refs/heads/trunk", "refs/heads/main");
    expect(await mergeTask(scene, { into: "trunk" })).toMatchObject({ outcome: "merged" });
    expect(await scene.user.git("symbolic-ref", "refs/heads/trunk")).toBe("refs/heads/main");
    expect(await scene.user.git("status", "--porcelain")).toBe("");
    expect(await scene.user.read("new.txt")).toBe("new\n");
  });

  it("must have a common ancestor", async () => {
    await using scene = await openMergeScene();
    const tree = await scene.user.git("rev-parse", "main^{tree}");
    await scene.user.git("branch", "alien", await scene.user.git("commit-tree", tree, "-m", "from elsewhere"));
    for (const how of ["merge", "squash", "rebase"] as const) {
      const report = await mergeTask(scene, { branch: "alien", how });
      expect(report).toMatchObject({ outcome: "failed", message: expect.stringContaining("in common") as string });
    }
  });

  it("need a committer identity", async () => {
    await using user = await temporaryRepository({ "a.txt": "a" });
    await user.git("branch", "task");
    await user.git("config", "--unset", "user.email");
    const repository = await openRepository(user.path, { env: testEnvironment(user.path), marker: MARKER });
    await expectRejection(mergeTask({ repository }), "identity_missing");
  });
});

describe("a checkout that is in use", () => {
  it("is not changed during a merge, rebase or cherry-pick", async () => {
    for (const doing of [["merge"], ["rebase"], ["cherry-pick"]]) {
      await using scene = await openMergeScene();
      const { user } = scene;
      await user.git("branch", "clash", "main");
      await commitChange(scene, "b.txt", "one side\n", "One side");
      await user.git("checkout", "--quiet", "clash");
      await commitChange(scene, "b.txt", "other side\n", "Other side");
      await user.git("checkout", "--quiet", "main");
      await expect(user.git(...doing, "clash")).rejects.toThrow(/failed/);
      const before = await readUserState(scene);
      await expectRejection(mergeTask(scene), "checkout_dirty", /in progress/);
      expect(await readUserState(scene)).toEqual(before);
    }
  });

  it("is not changed if the branch is checked out twice", async () => {
    await using scene = await openMergeScene();
    await using place = await temporaryFolder();
    const second = join(place.path, "second");
    await scene.user.git("worktree", "add", "--quiet", "--force", second, "main");
    const before = await readUserState(scene);
    await expectRejection(mergeTask(scene), "checkout_dirty", /second.*only one/);
    expect(await readUserState(scene)).toEqual(before);
  });

  it("is ignored if its folder was deleted", async () => {
    await using scene = await openMergeScene();
    await using place = await temporaryFolder();
    await scene.user.git("checkout", "--quiet", "other");
    const gone = join(place.path, "gone");
    await scene.user.git("worktree", "add", "--quiet", gone, "main");
    await place[Symbol.asyncDispose]();
    expect(await mergeTask(scene)).toMatchObject({ outcome: "merged" });
  });

  it("is rejected with repository_locked if its index stays locked", async () => {
    await using scene = await openScene({ "a.txt": "a\n" });
    const { user, env } = scene;
    await user.git("checkout", "--quiet", "-b", "task");
    await commitChange(scene, "b.txt", "b\n", "Add b");
    await user.git("checkout", "--quiet", "main");
    const repository = await openRepository(user.path, { env, marker: MARKER, lockMs: 100 });
    const lock = join(user.path, ".git", "index.lock");
    await writeFile(lock, "");
    const before = await readUserState(scene);
    await expectRejection(mergeTask({ repository }), "repository_locked", /index\.lock is \d+ seconds old/);
    expect(await readUserState(scene)).toEqual(before);
  });
});

describe("the gate", () => {
  it("is killed after its timeout, and nothing is merged", async () => {
    await using scene = await openMergeScene();
    const before = await readUserState(scene);
    const gate = { command: "echo begun; sleep 600", timeoutMs: 300, env: scene.env, onOutput: () => undefined };
    const report = await mergeTask(scene, { gate });
    expect(report).toMatchObject({
      outcome: "gate_failed",
      message: expect.stringMatching(/not finish.*begun/) as string,
    });
    expect(await readUserState(scene)).toEqual(before);
    await expectConsistent(scene);
  });

  it("is killed when the merge is aborted, and its checkout is removed", async () => {
    await using scene = await openMergeScene();
    const before = await readUserState(scene);
    const own = new AbortController();
    const gate = { command: "echo begun; sleep 600", timeoutMs: 60_000, env: scene.env };
    const merging = mergeTask(scene, {
      gate: { ...gate, onOutput: () => own.abort(new Error("aborted")) },
      signal: own.signal,
    });
    await expect(merging).rejects.toThrow("aborted");
    expect(await readUserState(scene)).toEqual(before);
    await expectConsistent(scene);
  });

  it("does not follow a symbolic link in place of the folder of temporary checkouts", async () => {
    for (const link of [".rookery", ".rookery/merging"]) {
      await using scene = await openMergeScene();
      await using elsewhere = await temporaryFolder();
      if (link !== ".rookery") await mkdir(join(scene.user.path, ".rookery"));
      await symlink(elsewhere.path, join(scene.user.path, link));
      const gate = { command: "true", timeoutMs: 60_000, env: scene.env, onOutput: () => undefined };
      await expectRejection(mergeTask(scene, { gate }), "worktree_missing", /not a regular folder/);
      expect(await readdir(elsewhere.path)).toEqual([]);
    }
  });
});

it("changes nothing if the merge is aborted before it is published", async () => {
  await using scene = await openMergeScene();
  const before = await readUserState(scene);
  const own = new AbortController();
  const prepared = async (): Promise<void> => own.abort(new Error("aborted"));
  await expect(mergeTask(scene, { onPrepared: prepared, signal: own.signal })).rejects.toThrow("aborted");
  await expect(mergeTask(scene, { signal: own.signal })).rejects.toThrow("aborted");
  expect(await readUserState(scene)).toEqual(before);
});

it.each<[string, (scene: Scene) => Promise<string>]>([
  [
    "its git folder is elsewhere",
    async ({ user }) => {
      await user.git("init", "--quiet", "--separate-git-dir", join(user.path, "../", `${basename(user.path)}.git`));
      return user.path;
    },
  ],
  [
    "it is a submodule",
    async ({ user }) => {
      const above = join(user.path, "above");
      await user.git("init", "--quiet", above);
      await user.git("-C", above, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", user.path, "sub");
      return join(above, "sub");
    },
  ],
])("updates a checkout even if %s", async (_, make) => {
  await using scene = await openMergeScene();
  const path = await make(scene);
  const who = Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => [
      [`GIT_${role}_NAME`, "x"],
      [`GIT_${role}_EMAIL`, "x@y.invalid"],
    ]),
  ) as Record<string, string>;
  const repository = await openRepository(path, testGitOptions(path, who));
  if (path !== scene.user.path) await repository.git(["branch", "--quiet", "task", "origin/task"]);
  const options = { branch: "task", into: "main", how: "merge", message: "Merge", marker: MARKER } as const;
  expect(await mergeBranch(repository, options)).toMatchObject({ outcome: "merged" });
  expect(await readFile(join(path, "new.txt"), "utf8")).toBe("new\n");
  expect(await repository.git(["status", "--porcelain", "--untracked-files=no"])).toBe("");
  await rm(`${scene.user.path}.git`, { recursive: true, force: true });
});

it("ignores the user's merge options of a branch", async () => {
  await using scene = await openMergeScene();
  await scene.user.git("config", "branch.main.mergeOptions", "-s ours --no-ff");
  expect(await mergeTask(scene)).toMatchObject({ outcome: "merged" });
  expect(await scene.user.read("new.txt")).toBe("new\n");
  expect(await scene.user.git("log", "--first-parent", "--format=%s")).toBe("Merge\nChange c\nInitial commit");
});
