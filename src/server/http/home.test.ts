import { chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ownIdentity } from "../../stdx/index.ts";
import { temporaryFolder, type TemporaryFolder } from "../../testing/index.ts";
import { findServer, readOrMakeToken } from "./index.ts";
import { announceServer } from "./running.ts";
import { openHttp } from "./test-scene.ts";

let folder: TemporaryFolder;
let home: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  home = join(folder.path, "home");
});
afterEach(() => folder[Symbol.asyncDispose]());

it("creates a token once, readable by its owner only", async () => {
  const token = readOrMakeToken(home);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(readOrMakeToken(home)).toBe(token);
  expect((await stat(join(home, "token"))).mode & 0o777).toBe(0o600);
  expect(await readdir(home)).toEqual(["token"]);
});

it("keeps the first token when two processes create one", async () => {
  await mkdir(home);
  await writeFile(join(home, "token"), `${"f".repeat(43)}\n`, { mode: 0o600 });
  expect(readOrMakeToken(home)).toBe("f".repeat(43));
});

it.each([
  ["that other users can read", (file: string) => chmod(file, 0o644)],
  [
    "that is a symbolic link",
    async (file: string) => {
      await rm(file);
      await writeFile(`${file}-elsewhere`, "x".repeat(43), { mode: 0o600 });
      await symlink(`${file}-elsewhere`, file);
    },
  ],
  ["that is empty", (file: string) => writeFile(file, "", { mode: 0o600 })],
])("rejects a token file %s with unauthorized and a fix", async (_, spoil) => {
  readOrMakeToken(home);
  await spoil(join(home, "token"));
  expect(() => readOrMakeToken(home)).toThrow(
    expect.objectContaining({ code: "unauthorized", message: expect.stringContaining("remove it") }),
  );
});

it("announces its URL, refuses a second server, and removes the announcement on close", async () => {
  await using scene = await openHttp();
  const { url, token } = scene.server;
  expect(findServer(scene.home)).toMatchObject({ url, token, pid: process.pid, version: "1.2.3" });
  expect((await stat(join(scene.home, "server.json"))).mode & 0o777).toBe(0o600);
  await expect(scene.serve()).rejects.toMatchObject({ code: "server_running", message: expect.stringContaining(url) });
  expect(findServer(scene.home)).toMatchObject({ url });
  await scene.server.close();
  await scene.server.close();
  expect(findServer(scene.home)).toBeUndefined();
  await using again = await scene.serve();
  expect(findServer(scene.home)).toMatchObject({ url: again.url });
});

it("ignores the announcement of a dead server and an invalid file", async () => {
  await mkdir(home);
  const left = { url: "http://127.0.0.1:1", token: "x", version: "0", pid: ownIdentity().pid, startTime: "long ago" };
  for (const text of [JSON.stringify(left), "{", '{"url":1}']) {
    await writeFile(join(home, "server.json"), text, { mode: 0o600 });
    expect(findServer(home)).toBeUndefined();
    using _ = announceServer(home, { url: "http://127.0.0.1:2", token: "y", version: "1" });
    expect(findServer(home)).toMatchObject({ url: "http://127.0.0.1:2" });
  }
  expect(await readdir(home)).toEqual([]);
});

it("ignores an announcement that other users could have written", async () => {
  using _ = announceServer(home, { url: "http://127.0.0.1:2", token: "y", version: "1" });
  await chmod(join(home, "server.json"), 0o666);
  expect(findServer(home)).toBeUndefined();
  expect(JSON.parse(await readFile(join(home, "server.json"), "utf8"))).toMatchObject({ token: "y" });
});

it("names the port that is in use, and rejects a host that is not on this machine", async () => {
  await using scene = await openHttp();
  await using other = await openHttp();
  await other.server.close();
  await expect(other.serve({ port: scene.server.port })).rejects.toMatchObject({ code: "port_unavailable" });
  await expect(other.serve({ host: "192.0.2.1" })).rejects.toMatchObject({ code: "input_invalid" });
  await expect(other.serve({ token: "short" })).rejects.toMatchObject({ code: "input_invalid" });
  expect(findServer(other.home)).toBeUndefined();
});
