/** Tests the built command, because only the bundle has a cache. */
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

/** Returns the inode, which changes when the cache is replaced. */
async function kept(): Promise<number> {
  return (await stat(file)).ino;
}

it("does not create a missing home for the cache", async () => {
  await started();
  await fixture.start(["--help"]).ended;
  await expect(stat(home)).rejects.toMatchObject({ code: "ENOENT" });
});

it("writes a cache that only its user can read at the first start, and uses it at the second", async () => {
  await mkdir(home);
  const first = await started();
  const made = await kept();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await started()).toEqual(first);
  expect(await kept()).toBe(made);
  expect(await readdir(join(home, "cache"))).toEqual(["completion.v8"]);
});

it("keeps one cache per command, and none for unknown commands", async () => {
  await mkdir(home);
  await fixture.start(["--help"]).ended;
  await fixture.start(["agents"]).ended;
  await fixture.start(["agnets"]).ended;
  await fixture.start(["../../x"]).ended;
  expect((await readdir(join(home, "cache"))).sort()).toEqual(["agents.v8", "chat.v8"]);
});

describe("ignores and replaces a cache", () => {
  const HEADER_END = Buffer.from("\n");
  it.each<[string, (bytes: Buffer) => Buffer]>([
    ["that is empty", () => Buffer.alloc(0)],
    ["that has only a header", (bytes) => bytes.subarray(0, bytes.indexOf(HEADER_END) + 1)],
    ["that has no header", (bytes) => bytes.subarray(bytes.indexOf(HEADER_END) + 1)],
    ["that is truncated", (bytes) => bytes.subarray(0, bytes.length / 2)],
    ["with one flipped bit", (bytes) => withByte(bytes, bytes.length - 100, (byte) => byte ^ 1)],
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

describe("starts without a cache with", () => {
  it("a home that is not writable", async () => {
    await mkdir(home);
    for (const [path, mode] of [
      [fixture.home, 0o755],
      [home, 0o555],
    ] as const)
      await chmod(path, mode);
    await started(process.getuid?.() === 0 ? 65_534 : undefined); // root can write everywhere
    await chmod(home, 0o700);
    expect(await readdir(home)).toEqual([]);
  });

  it.each([
    ["a home that is a file", () => writeFile(home, "x")],
    ["a file in place of the cache folder", () => mkdir(home).then(() => writeFile(join(home, "cache"), "x"))],
    ["a folder in place of the cache", () => mkdir(file, { recursive: true })],
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

/** The last word of the header is the checksum, which differs between compilations. */
function headerOf(bytes: Buffer): string {
  return bytes.toString("latin1", 0, bytes.indexOf("\n"));
}
