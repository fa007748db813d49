import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Rookery } from "../rookery.ts";
import { startS3TestServer, TEST_CREDENTIALS, type S3TestServer } from "../store/blobs/s3/fixtures/s3-server.ts";
import { openOwnedPrograms } from "./acp/owned-programs.ts";
import type { Io } from "./io.ts";
import { openCommandFixture, type CommandFixture } from "./test-command.ts";

let fixture: CommandFixture;
let server: S3TestServer;
let env: Record<string, string>;
beforeEach(async () => {
  server = await startS3TestServer();
  fixture = await openCommandFixture([]);
  env = {
    ROOKERY_BLOBS_URL: server.url,
    AWS_ACCESS_KEY_ID: TEST_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: TEST_CREDENTIALS.secretAccessKey,
    AWS_SESSION_TOKEN: TEST_CREDENTIALS.sessionToken ?? "",
  };
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

function expectNoSecret({ stdout, stderr }: { stdout: string; stderr: string }): void {
  for (const secret of Object.values(TEST_CREDENTIALS)) expect(stdout + stderr).not.toContain(secret);
}

it("stores large blobs in the bucket and finds them again, without a key in any file", async () => {
  const open = () => Rookery.open({ env: { ...fixture.env, ...env }, cwd: fixture.repository.path });
  const [small, large] = [new Uint8Array(1_000_000).fill(1), new Uint8Array(1_000_001).fill(2)];
  let hashes: string[];
  {
    await using rookery = await open();
    const refs = [await rookery.store.putBlob(small), await rookery.store.putBlob(large)];
    hashes = refs.map(({ hash }) => hash);
  }
  expect([...server.objects.values()].map(({ length }) => length)).toEqual([1_000_001]);
  await using rookery = await open();
  const read = await Promise.all(hashes.map((hash) => rookery.store.getBlob(hash)));
  expect(read.map((bytes) => [bytes?.byteLength, bytes?.at(-1)])).toEqual([
    [1_000_000, 1],
    [1_000_001, 2],
  ]);
});

it("reports the bucket in doctor, including the built command", async () => {
  const checked = await fixture.start(["doctor"], { env }).ended; // the bundled library
  expect(checked.stdout).toMatch(
    /^ok +blobs +the bucket test-bucket at 127\.0\.0\.1:\d+, above 1\.0 MB; wrote and read an object in \d+ ms$/m,
  );
  expect(server.objects.size).toBe(0);
  expectNoSecret(checked);
});

it.each([
  ["a wrong secret", { AWS_SECRET_ACCESS_KEY: "other" }, /rejected the signature: correct the secret access key/],
  [
    "no keys",
    { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_SESSION_TOKEN: "" },
    /there are no credentials for/,
  ],
  ["a wrong URL", { ROOKERY_BLOBS_URL: "https://bucket" }, /the URL of the blobs is not a URL of S3/],
])("reports %s as a problem in doctor", async (_, changed, message) => {
  const checked = await fixture.rookery(["doctor"], { env: { ...env, ...changed } });
  expect(checked.code).toBe(1);
  expect(checked.stdout).toMatch(new RegExp(`^problem +blobs +${/.*/.source}${message.source}`, "m"));
  expectNoSecret(checked);
});

it("needs no keys and no server until a large blob is used", async () => {
  const unused = { ROOKERY_BLOBS_URL: "s3://bucket?endpoint=http://127.0.0.1:1" };
  expect(await fixture.rookery(["sessions"], { env: unused })).toMatchObject({ code: 0, stderr: "" });
  const wrong = await fixture.rookery(["sessions"], { env: { ROOKERY_BLOBS_URL: "s3://a" } });
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("names no valid bucket") as string });
});

it("does not pass the keys to an agent, even if it may use any provider", async () => {
  const dump = join(fixture.home, "dump");
  const folder = join(fixture.env["XDG_CONFIG_HOME"] ?? "", "rookery");
  const agent = `[agents.dumping]\nbackend = "acp"\ncommand = ["sh", "-c", "env > '${dump}'"]\nmcp = []\n`;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "rookery.toml"), agent);
  const names = async (more: Record<string, string>): Promise<string[]> => {
    await fixture.rookery(["run", "hi", "--agent", "dumping", "--cwd", fixture.home], { env: { ...env, ...more } });
    const text = await readFile(dump, "utf8");
    return Object.keys(env).filter((name) => new RegExp(`^${name}=`, "m").test(text));
  };
  expect(await names({})).toEqual([]);
  expect(await names({ ROOKERY_BLOBS_URL: "" })).toEqual(Object.keys(env).filter((name) => name.startsWith("AWS_")));
});

it("does not pass the keys to programs of `rookery acp`", async () => {
  const open = (more: Record<string, string>) => {
    const all = { ...fixture.env, ...env, ...more };
    return openOwnedPrograms({ env: all, cwd: () => fixture.home, stderr: process.stderr } as unknown as Io);
  };
  const names = async (more: Record<string, string>): Promise<string[]> => {
    await using programs = await open(more);
    const { env: given } = programs.command(["agent"]);
    return Object.keys(env).filter((name) => name in given);
  };
  expect(await names({})).toEqual([]);
  expect(await names({ ROOKERY_BLOBS_URL: "" })).toHaveLength(3);
});
