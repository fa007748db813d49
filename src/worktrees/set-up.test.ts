import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { processesMarked } from "../stdx/index.ts";
import { temporaryFolder } from "../testing/repository.ts";
import { leaseWorktree } from "./lease.ts";
import { setUpWorktree, type SetUpOptions } from "./set-up.ts";
import { openScene, expectRejection, type Scene } from "./test-scene.ts";

const MARKER = `setup-test-${process.pid}`;

async function setUpIn(scene: Scene, more: Partial<SetUpOptions>) {
  const worktree = await leaseWorktree(scene.repository, { id: "t1", branch: "rookery/t1" });
  const outputs: string[] = [];
  const options = { copy: [], timeoutMs: 60_000, env: { ...scene.env, ROOKERY_TASK: "t1" }, marker: MARKER, ...more };
  const done = setUpWorktree(worktree, scene.repository, { onOutput: (text) => outputs.push(text), ...options });
  return { path: worktree.path, done, outputs };
}

it("copies untracked files with their modes and only reports a missing one", async () => {
  await using scene = await openScene({ "a.txt": "a", ".gitignore": ".env\ncerts\n" });
  await scene.user.write(".env", "SECRET=1\n");
  await chmod(join(scene.user.path, ".env"), 0o600);
  await scene.user.write("certs/deep/key.pem", "key");
  await symlink("/etc", join(scene.user.path, "certs/etc"));
  const { path, done, outputs } = await setUpIn(scene, { copy: [".env", "certs", ".env.local"] });
  await done;
  expect(await readFile(join(path, ".env"), "utf8")).toBe("SECRET=1\n");
  expect((await stat(join(path, ".env"))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(path, "certs/deep/key.pem"), "utf8")).toBe("key");
  expect(existsSync(join(path, "certs/etc"))).toBe(false);
  expect(outputs).toEqual([`.env.local does not exist in ${scene.user.path}, so it was not copied\n`]);
  await (
    await setUpIn(scene, { copy: [".env"] })
  ).done;
});

it.each(["../outside", "/etc/passwd", "link/secret", ".", ".rookery", "into/x"])("does not copy %s", async (path) => {
  await using scene = await openScene({ "a.txt": "a" });
  await using outside = await temporaryFolder();
  await writeFile(join(outside.path, "secret"), "secret");
  await symlink(outside.path, join(scene.user.path, "link"));
  const { path: tree, done } = await setUpIn(scene, {});
  await done;
  await mkdir(join(scene.user.path, "into"));
  await writeFile(join(scene.user.path, "into/x"), "x");
  await symlink(outside.path, join(tree, "into"));
  await expectRejection((await setUpIn(scene, { copy: [path] })).done, "setup_failed", /could not be copied/);
  expect(existsSync(join(outside.path, "x"))).toBe(false);
});

it("runs the command in the worktree with the task's variables and passes on its output", async () => {
  await using scene = await openScene();
  const { path, done, outputs } = await setUpIn(scene, { command: "pwd; echo $ROOKERY_TASK; touch made" });
  await done;
  expect(outputs.join("")).toBe(`${path}\nt1\n`);
  expect(existsSync(join(path, "made"))).toBe(true);
});

it("reports the exit code and last lines of a failed command", async () => {
  await using scene = await openScene();
  const { done } = await setUpIn(scene, { command: "echo no such package; exit 7" });
  await expectRejection(done, "setup_failed", /exit code 7:\nno such package/);
});

it("kills a command that times out, with everything it started", async () => {
  await using scene = await openScene();
  const { done } = await setUpIn(scene, { command: "setsid sleep 1000 & sleep 1000", timeoutMs: 300 });
  await expectRejection(done, "setup_failed", /within 0.3 seconds/);
  expect(processesMarked(MARKER)).toEqual([]);
});
