import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder, temporaryRepository } from "../../testing/index.ts";
import { readBranch } from "./screen/branch.ts";
import { FileList } from "./input/files.ts";
import { PromptHistory } from "./input/history.ts";
import { changesSince, restoreSnapshot, takeSnapshot } from "./snapshots.ts";

it("restores changed, deleted and new files, but nothing that was changed before the snapshot", async () => {
  await using repository = await temporaryRepository({ "a.txt": "a\n", "b.txt": "b\n", ".gitignore": "ignored\n" });
  const at = (name: string) => join(repository.path, name);
  await writeFile(at("a.txt"), "mine\n");
  await writeFile(at("new.txt"), "mine too\n");
  const snapshot = await takeSnapshot(repository.path, process.env);
  if (snapshot === undefined) throw new Error("no snapshot");
  await writeFile(at("a.txt"), "the agent's\n");
  await rm(at("b.txt"));
  await mkdir(at("folder"));
  await writeFile(at("folder/more.txt"), "more\n");
  await writeFile(at("ignored"), "built\n");
  const changes = await changesSince(snapshot, process.env);
  expect(changes).toEqual([
    { path: "a.txt", status: "changed" },
    { path: "b.txt", status: "deleted" },
    { path: "folder/more.txt", status: "added" },
  ]);
  await restoreSnapshot(snapshot, changes, process.env);
  expect(await readFile(at("a.txt"), "utf8")).toBe("mine\n");
  expect(await readFile(at("b.txt"), "utf8")).toBe("b\n");
  expect(await readFile(at("new.txt"), "utf8")).toBe("mine too\n");
  expect(await readFile(at("ignored"), "utf8")).toBe("built\n");
  await expect(stat(at("folder/more.txt"))).rejects.toThrow("ENOENT");
  expect(await repository.git("status", "--porcelain")).toContain(" M a.txt"); // the index is untouched
});

it("has no snapshot outside of a repository", async () => {
  await using folder = await temporaryFolder();
  expect(await takeSnapshot(folder.path, process.env)).toBeUndefined();
  expect(await readBranch(folder.path)).toBeUndefined();
});

it("lists files for completion without those that git ignores", async () => {
  await using repository = await temporaryRepository({ "src/a.ts": "", ".gitignore": "dist\n" });
  await mkdir(join(repository.path, "dist"));
  await writeFile(join(repository.path, "dist", "x.js"), "");
  await writeFile(join(repository.path, "new.md"), "");
  const paths = await new FileList(repository.path, process.env).list();
  expect([...paths].sort()).toEqual([".gitignore", "new.md", "src/", "src/a.ts"]);
});

it("keeps the prompts of a directory, bounded and readable only by the user", async () => {
  await using home = await temporaryFolder();
  const history = new PromptHistory(home.path, "/some/where");
  for (let index = 0; index < 250; index += 1) await history.add(`prompt ${index}`);
  await history.add("x".repeat(20_000));
  const entries = await new PromptHistory(home.path, "/some/where").load();
  expect(entries).toHaveLength(200);
  expect(entries.at(-1)).toBe("prompt 249");
  expect(await new PromptHistory(home.path, "/else").load()).toEqual([]);
  const { readdir } = await import("node:fs/promises");
  const [name = ""] = await readdir(join(home.path, "chat-history"));
  expect((await stat(join(home.path, "chat-history", name))).mode & 0o777).toBe(0o600);
});
