import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/index.ts";
import { readMachineConfig } from "./host-config.ts";

async function userWith(folder: string, text: string): Promise<Record<string, string>> {
  await mkdir(join(folder, "rookery"), { recursive: true });
  await writeFile(join(folder, "rookery", "rookery.toml"), text);
  return { HOME: folder, XDG_CONFIG_HOME: folder };
}

it("derives a host id that is valid, and the same each time", async () => {
  await using folder = await temporaryFolder();
  const { host, worker, lease } = await readMachineConfig({ HOME: folder.path, ROOKERY_HOST_ID: "" });
  expect(host).toEqual({ id: host.id, isDeclared: false, root: undefined, repositories: "mirror", saveMs: 60_000 });
  expect(await readMachineConfig({ HOME: folder.path, ROOKERY_HOST_ID: host.id })).toMatchObject({
    host: { id: host.id, isDeclared: true },
  });
  expect(worker).toEqual({ maxRunning: undefined, agents: undefined, labels: [], preferLastHostMs: 60_000 });
  expect(lease).toBeUndefined();
});

it("reads the host, its workers and the leases from the user's file, and the host id from the environment first", async () => {
  await using folder = await temporaryFolder();
  const text = `
    [host]
    id = "build-1.example"
    max_running = 4
    repositories = "pinned"
    [worker]
    max_running = 8
    agents = ["claude"]
    labels = ["gpu"]
    prefer_last_host = 5
    [lease]
    ttl = 12`;
  const env = await userWith(folder.path, text);
  expect(await readMachineConfig(env)).toEqual({
    host: {
      id: "build-1.example",
      isDeclared: true,
      root: undefined,
      maxRunning: 4,
      repositories: "pinned",
      saveMs: 60_000,
    },
    worker: { maxRunning: 8, agents: ["claude"], labels: ["gpu"], preferLastHostMs: 5_000 },
    lease: { ttlMs: 12_000, renewMs: 4_000 },
  });
  expect((await readMachineConfig({ ...env, ROOKERY_HOST_ID: "build-2" })).host.id).toBe("build-2");
});

it.each([
  ['[host]\nid = "a b"', undefined, /rookery\.toml: "a b" cannot be a host id: use at most 63 letters/],
  ["", "../x", /^ROOKERY_HOST_ID: "\.\.\/x" cannot be a host id/],
  ["[lease]\nttl = 10\nrenew = 6", undefined, /lease\.renew is 6: it must be at most half of lease\.ttl, which is 10/],
  ["[lease]\nttl = 0.1", undefined, /lease\.ttl: must be 1 or more/],
  ['[worker]\nlabels = ["a b"]', undefined, /worker\.labels/],
])("rejects %j and ROOKERY_HOST_ID %j", async (text, id, message) => {
  await using folder = await temporaryFolder();
  const env = await userWith(folder.path, text);
  const read = readMachineConfig({ ...env, ...(id !== undefined && { ROOKERY_HOST_ID: id }) });
  await expect(read).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringMatching(message) as string,
  });
});
