import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { homeFolder } from "../config/home.ts";
import { openHttp } from "../server/http/test-scene.ts";
import { ownIdentity } from "../stdx/index.ts";
import { temporaryFolder } from "../testing/index.ts";
import { connectLocal } from "./index.ts";

const OWN = { url: "http://127.0.0.1:1", token: "t", ...ownIdentity() };

async function announce(home: string, content: unknown): Promise<void> {
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "server.json"), typeof content === "string" ? content : JSON.stringify(content), {
    mode: 0o600,
  });
}

it("finds the server of a home directory and its token", async () => {
  await using scene = await openHttp();
  for (const options of [{ home: scene.home }, { env: { ROOKERY_HOME: scene.home } }]) {
    const client = await connectLocal(options);
    expect(client.url).toBe(scene.server.url);
    expect((await client.GET("/v1/sessions")).data).toEqual({ sessions: [] });
  }
});

it.each<[string, Record<string, string>]>([
  ["ROOKERY_HOME", { ROOKERY_HOME: "/nowhere/a", XDG_STATE_HOME: "/nowhere/b", HOME: "/nowhere/c" }],
  ["XDG_STATE_HOME", { XDG_STATE_HOME: "/nowhere/b", HOME: "/nowhere/c" }],
  ["HOME", { ROOKERY_HOME: "", XDG_STATE_HOME: "relative", HOME: "/nowhere/c" }],
])("looks for the home directory where the server does (%s)", async (_, env) => {
  await expect(connectLocal({ env })).rejects.toMatchObject({
    code: "server_unreachable",
    message: expect.stringContaining(`${homeFolder(env)}: start it with rookery serve`) as string,
  });
});

it.each<[string, unknown, string]>([
  ["a server that has ended", { ...OWN, pid: 2 ** 30 }, "has ended"],
  ["a server whose process ID another process has now", { ...OWN, startTime: "boot-5" }, "has ended"],
  ["a port without a server", OWN, "does not answer"],
  ["a damaged file", "{", "cannot be read"],
  ["a file of another shape", { url: 5 }, "cannot be read"],
])("rejects %s with server_unreachable", async (_, content, message) => {
  await using home = await temporaryFolder();
  await announce(home.path, content);
  await expect(connectLocal({ home: home.path })).rejects.toMatchObject({
    code: "server_unreachable",
    message: expect.stringContaining(message) as string,
  });
});

it("sends no token to another program that has the port now", async () => {
  const heard: unknown[] = [];
  const other = createServer((request, response) => {
    heard.push(request.headers.authorization);
    response.end('{"pid":1}');
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  await using home = await temporaryFolder();
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  await announce(home.path, { ...OWN, url, token: "secret" });
  await expect(connectLocal({ home: home.path })).rejects.toMatchObject({ code: "server_unreachable" });
  expect(heard).toEqual([undefined]);
  other.close();
});

it("rejects a file that other users could have written with unauthorized", async () => {
  await using home = await temporaryFolder();
  await announce(home.path, OWN);
  await chmod(join(home.path, "server.json"), 0o666);
  await expect(connectLocal({ home: home.path })).rejects.toMatchObject({ code: "unauthorized" });
});
