import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openScene, type Scene } from "../test-scene.ts";
import { isIgnored, parseIgnoreFile } from "./ignore-rules.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

function write(file: string, text = ""): void {
  mkdirSync(dirname(scene.at(file)), { recursive: true });
  writeFileSync(scene.at(file), text);
}

function git(...args: readonly string[]): string {
  const env = { PATH: process.env["PATH"], HOME: scene.folder, GIT_CONFIG_GLOBAL: "/dev/null" };
  return execFileSync("git", args, { cwd: scene.folder, env, encoding: "utf8" });
}

const FILES = [
  "a.log",
  "keep.log",
  "build/x.o",
  "build/keep/y.o",
  "src/build/z.o",
  "src/a.log",
  "src/deep/er/a.ts",
  "src/deep/er/b.ts",
  "docs/a/b/c.md",
  "docs/c.md",
  "foo bar",
  "#hash",
  "!bang",
  "trail ",
  "x1",
  "x2",
  "x-",
  "ünï/ö.txt",
  "tmp/a",
  "a/x/b",
  "a/b",
  "a/x/y/b",
  "[odd]",
  "*star",
  ".env",
  ".hidden/a",
];

/** The files that git reports as not ignored. */
function expected(): string[] {
  const names = git("ls-files", "-z", "--others", "--exclude-standard").split("\0");
  return names.filter((name) => name !== "").sort();
}

async function found(path = "."): Promise<string[]> {
  const { text } = await scene.run("glob", { pattern: "**", path });
  return text.startsWith("no file") ? [] : text.split("\n").sort();
}

describe("the search tools skip the same files as git for", () => {
  it.each([
    ["names and suffixes", "*.log\n!keep.log\n"],
    ["folders", "build/\n"],
    ["an anchored folder", "/build\n"],
    ["a nested folder", "src/build/\n"],
    ["a folder with re-included content", "build/*\n!build/keep\n"],
    ["an ignored folder whose content cannot be re-included", "build\n!build/keep/y.o\n"],
    ["two leading stars", "**/c.md\n"],
    ["two stars in the middle", "a/**/b\n"],
    ["two trailing stars", "docs/**\n"],
    ["two stars in a name", "src/**.ts\nx**\n"],
    ["one star that does not match a slash", "docs/*/c.md\nsrc/*.ts\n"],
    ["character sets", "x[0-1]\n[!a-z]env\nx[]-]\n"],
    ["unclosed brackets", "x[0\n[odd\n"],
    ["question marks", "x?\n"],
    ["escapes", "\\#hash\n\\!bang\n\\*star\n\\[odd]\n"],
    ["spaces and comments", "foo bar  \n# a.log\ntrail\\ \n\n"],
    ["CRLF line endings", "*.log\r\n/tmp\r\n"],
    ["a byte order mark", "\ufeff*.log\n"],
    ["non-ASCII names", "ünï\n"],
    ["everything except some files", "*\n!*/\n!*.ts\n"],
    ["only a slash, a bang or a star", "/\n!\n"],
    ["patterns for folders only", "a.log/\n*/\n"],
  ])("%s", async (_, text) => {
    git("init", "--quiet");
    for (const file of FILES) write(file);
    write(".gitignore", text);
    expect(await found()).toEqual(expected());
  });

  it("nested .gitignore files, the repository's excludes and the user's", async () => {
    git("init", "--quiet");
    for (const file of FILES) write(file);
    write(".gitignore", "*.log\n*.o\n");
    write("src/.gitignore", "!a.log\n/deep/*/b.ts\n");
    write("build/.gitignore", "!x.o\n");
    write(".git/info/exclude", "/tmp\nfoo*\n");
    expect(await found()).toEqual(expected());
    expect(await found("src/deep")).toEqual(["src/deep/er/a.ts"]);
    await using other = await openScene({ env: { HOME: scene.folder } });
    mkdirSync(other.at(".git"));
    writeFileSync(other.at(".git/HEAD"), "ref: refs/heads/main\n");
    for (const name of ["a.swp", "b"]) writeFileSync(other.at(name), "");
    write(".gitconfig", "[core]\n\texcludesFile = ~/.mine\n");
    write(".mine", "*.swp\n");
    expect((await other.run("list", {})).text).toBe("b");
  });

  it("an ignored folder, unless ignored files are included", async () => {
    git("init", "--quiet");
    write("out/a", "x");
    write(".gitignore", "out\n");
    expect(await found("out")).toEqual([]);
    expect((await scene.run("glob", { pattern: "**", path: "out", ignored: true })).text).toBe("out/a");
  });

  it("a linked worktree and a nested repository with their own rules", async () => {
    git("init", "--quiet");
    git("-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "--quiet", "--allow-empty", "-m", "One");
    write(".git/info/exclude", "/linked\n*.tmp\n");
    write(".gitignore", "*.log\n");
    git("worktree", "add", "--quiet", "linked");
    for (const file of ["linked/a.tmp", "linked/a.log", "inner/a.log", "inner/b.o", "inner/c"]) write(file);
    execFileSync("git", ["init", "--quiet", scene.at("inner")], { env: { PATH: process.env["PATH"], HOME: "/" } });
    write("inner/.gitignore", "*.o\n");
    expect(await found()).toEqual([".gitignore", "inner/.gitignore", "inner/a.log", "inner/c"]);
    expect(await found("linked")).toEqual(["linked/a.log"]);
  });
});

it("does not read a .gitignore that is a symlink", async () => {
  git("init", "--quiet");
  writeFileSync(join(scene.outside, "rules"), "a\n");
  symlinkSync(join(scene.outside, "rules"), scene.at(".gitignore"));
  write("a", "x");
  expect(await found()).toEqual([".gitignore", "a"]);
});

it.each([
  ["characters", `*${"a".repeat(120)}?b`, "a".repeat(250), 300],
  ["folders", `**/${"a/".repeat(60)}b`, Array.from({ length: 200 }, () => "a").join("/"), 200],
])("matches rules with many %s in bounded time and yields to other work", async (_, rule, path, lines) => {
  const file = parseIgnoreFile(`${rule}\n`.repeat(lines), "");
  let [turns, isOver] = [0, false];
  const look = (): void => {
    turns += 1;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const began = performance.now();
  expect(await isIgnored([file, file], path, false)).toBe(false);
  isOver = true;
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(turns).toBeGreaterThanOrEqual(3);
});
