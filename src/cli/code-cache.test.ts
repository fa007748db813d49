/** Through the built command, which is the only thing that has a cache. */
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CommandResult, openCommandFixture, type CommandFixture } from "./test-command.ts";

let fixture: CommandFixture;
let home: string;
let file: string;
beforeEach(async () => {
  fixture = await openCommandFixture([], { codeCache: false });
  home = join(fixture.home, ".rookery");
  file = join(home, "cache", "completion.v8");
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function started(uid?: number): Promise<CommandResult> {
  const ended = await fixture.start(["completion", "bash"], { cwd: "/", ...(uid !== undefined && { uid }) }).ended;
  expect(ended).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("_rookery()") });
  return ended;
}

/** A cache that is replaced is another file afterwards. */
async function kept(): Promise<number> {
  return (await stat(file)).ino;
}

it("a home that is not there is not made for it", async () => {
  await started();
  await fixture.start(["--help"]).ended;
  await expect(stat(home)).rejects.toMatchObject({ code: "ENOENT" });
});

it("the first start keeps a cache for its user alone, and the second uses it", async () => {
  await mkdir(home);
  const first = await started();
  const made = await kept();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await started()).toEqual(first);
  expect(await kept()).toBe(made);
  expect(await readdir(join(home, "cache"))).toEqual(["completion.v8"]);
});

it("each command has its own, and what was typed wrongly has none", async () => {
  await mkdir(home);
  await fixture.start(["--help"]).ended;
  await fixture.start(["agents"]).ended;
  await fixture.start(["agnets"]).ended;
  await fixture.start(["../../x"]).ended;
  expect((await readdir(join(home, "cache"))).sort()).toEqual(["agents.v8", "other.v8"]);
});

describe("a cache is passed over and replaced", () => {
  const HEADER_END = Buffer.from("\n");
  it.each<[string, (bytes: Buffer) => Buffer]>([
    ["that is empty", () => Buffer.alloc(0)],
    ["that has a header only", (bytes) => bytes.subarray(0, bytes.indexOf(HEADER_END) + 1)],
    ["that has no header", (bytes) => bytes.subarray(bytes.indexOf(HEADER_END) + 1)],
    ["that was cut short", (bytes) => bytes.subarray(0, bytes.length / 2)],
    ["with one bit turned over", (bytes) => withByte(bytes, bytes.length - 100, (byte) => byte ^ 1)],
    ["of another version", (bytes) => withByte(bytes, 0, (byte) => byte + 1)],
    ["that is another kind of file", () => Buffer.from("#!/bin/sh\n")],
  ])("%s", async (_, damage) => {
    await mkdir(home);
    const first = await started();
    const good = await readFile(file);
    await writeFile(file, damage(good));
    const damaged = await kept();
    expect(await started()).toEqual(first);
    const replaced = await kept();
    expect(replaced).not.toBe(damaged);
    expect(
      headerOf(await readFile(file))
        .split(" ")
        .slice(0, -1),
    ).toEqual(headerOf(good).split(" ").slice(0, -1));
    await started();
    expect(await kept()).toBe(replaced);
  });
});

describe("no harm is done by", () => {
  it("a home that cannot be written", async () => {
    await mkdir(home);
    for (const [path, mode] of [
      [fixture.home, 0o755],
      [home, 0o555],
    ] as const)
      await chmod(path, mode);
    await started(process.getuid?.() === 0 ? 65_534 : undefined); // root writes everywhere
    await chmod(home, 0o700);
    expect(await readdir(home)).toEqual([]);
  });

  it.each([
    ["a home that is a file", () => writeFile(home, "x")],
    ["a file in fixture of the cache's folder", () => mkdir(home).then(() => writeFile(join(home, "cache"), "x"))],
    ["a folder in fixture of the cache", () => mkdir(file, { recursive: true })],
  ])("%s", async (_, prepare) => {
    await prepare();
    await started();
    expect(await readdir(join(home, "cache")).catch(() => [])).not.toContainEqual(expect.stringMatching(/\.\d+$/));
    await rm(home, { recursive: true });
  });
});

function withByte(bytes: Buffer, at: number, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = change(copy[at] ?? 0);
  return copy;
}

/** The last word is the sum of the bytes, which differs from one compilation to the next. */
function headerOf(bytes: Buffer): string {
  return bytes.toString("latin1", 0, bytes.indexOf("\n"));
}
