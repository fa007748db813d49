import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { temporaryFolder, temporaryRepository } from "./repository.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

it("commits the files to main", async () => {
  await using repo = await temporaryRepository({ "a.txt": "one\n", "deep/b.txt": "two\n" });
  expect(await repo.git("status", "--porcelain")).toBe("");
  expect(await repo.git("branch", "--show-current")).toBe("main");
  expect(await repo.git("ls-tree", "-r", "--name-only", "HEAD")).toBe("a.txt\ndeep/b.txt");
  expect(await repo.read("deep/b.txt")).toBe("two\n");
});

it("creates the same commit for the same files", async () => {
  await using one = await temporaryRepository({ "a.txt": "one\n" });
  await using two = await temporaryRepository({ "a.txt": "one\n" });
  expect(await one.git("rev-parse", "HEAD")).toBe(await two.git("rev-parse", "HEAD"));
});

it("ignores the user's git settings", async () => {
  await using home = await temporaryFolder();
  await writeFile(path.join(home.path, ".gitconfig"), "[user]\nname = Somebody Real\n[init]\ndefaultBranch = trunk\n");
  vi.stubEnv("HOME", home.path);
  vi.stubEnv("GIT_AUTHOR_NAME", "Somebody Real");
  await using repo = await temporaryRepository();
  expect(await repo.git("log", "--format=%an <%ae> %D")).toBe("Rookery Test <test@rookery.invalid> HEAD -> main");
  expect(await repo.git("config", "--list", "--show-scope")).not.toMatch(/^(global|system)/m);
});

it("can leave the files uncommitted on another branch", async () => {
  await using repo = await temporaryRepository({ "a.txt": "one\n" }, { branch: "trunk", commit: false });
  expect(await repo.git("status", "--porcelain", "--branch")).toBe("## No commits yet on trunk\n?? a.txt");
});

it("rejects with git's error output", async () => {
  await using repo = await temporaryRepository();
  await expect(repo.git("checkout", "nowhere")).rejects.toThrow(/git checkout nowhere failed.*did not match any file/s);
});

it("rejects a file outside of the repository", async () => {
  await using repo = await temporaryRepository();
  await expect(repo.write("../escaped.txt", "")).rejects.toThrow("outside of the temporary repository");
});

it("deletes the folder and its content at the end of the block", async () => {
  let left: string;
  {
    await using folder = await temporaryFolder();
    left = folder.path;
    await mkdir(path.join(left, "deep"));
    await writeFile(path.join(left, "deep", "file"), "");
    expect(existsSync(left)).toBe(true);
  }
  expect(existsSync(left)).toBe(false);
});
