import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { deferred } from "../../stdx/deferred.ts";
import { LoginNeeded, type LoginOptions } from "../authorizer.ts";
import { type Authorizers, openAuthorizers } from "./index.ts";
import { acquireLock } from "./lock.ts";
import { consentingUser, startTestAuthorization, type TestAuthorization } from "./test-authorization.ts";

let server: TestAuthorization;
let folder: string;
const opened: Authorizers[] = [];
const signal = new AbortController().signal;

beforeEach(async () => {
  server = await startTestAuthorization();
  folder = await mkdtemp(join(tmpdir(), "rookery-oauth-"));
});

afterEach(async () => {
  for (const authorizers of opened.splice(0)) await authorizers[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function open(): Authorizers {
  const authorizers = openAuthorizers({ folder });
  opened.push(authorizers);
  return authorizers;
}

/** A user who opens the page when `go` is called. */
function slow(): { ask: LoginOptions["ask"]; asked: Promise<void>; go(): void } {
  const asked = deferred();
  const let_ = deferred();
  return {
    asked: asked.promise,
    go: () => let_.resolve(),
    async ask(question, options) {
      asked.resolve();
      await let_.promise;
      return consentingUser(question, options);
    },
  };
}

it.each([
  ["two sessions", () => open()],
  ["two processes that share only the folder", () => undefined],
])("logs in once for %s", async (_who, shared) => {
  const common = shared();
  const [first, second] = [(common ?? open()).for(server.spec()), (common ?? open()).for(server.spec())];
  const person = slow();
  const one = first.login({ ask: person.ask, signal });
  await person.asked;
  const ask = vi.fn<LoginOptions["ask"]>(consentingUser);
  const other = second.login({ ask, signal });
  person.go();
  expect(await Promise.all([one, other])).toEqual([{ status: "done" }, { status: "done" }]);
  expect(ask).not.toHaveBeenCalled();
  expect(server.counts.pages).toBe(1);
});

it("starts its own login if the one it waits for is cancelled, and can stop waiting", async () => {
  const authorizers = open();
  const person = slow();
  const leaving = new AbortController();
  const one = authorizers.for(server.spec()).login({ ask: person.ask, signal: leaving.signal });
  await person.asked;
  const impatient = new AbortController();
  const third = authorizers.for(server.spec()).login({ ask: consentingUser, signal: impatient.signal });
  impatient.abort();
  expect(await third).toEqual({ status: "cancelled" });
  const other = authorizers.for(server.spec()).login({ ask: consentingUser, signal });
  leaving.abort();
  expect(await Promise.all([one, other])).toEqual([{ status: "cancelled" }, { status: "done" }]);
});

it("waits for the lock of a live process and takes over that of a dead one", async () => {
  const file = join(folder, "some.lock");
  const dead = spawnSync("true", { env: { PATH: "/usr/bin:/bin" } });
  await writeFile(file, `${dead.pid}.long-ago.abc`);
  const mine = await acquireLock(file, { signal, waitMs: 5_000 });
  await expect(acquireLock(file, { signal, waitMs: 60 })).rejects.toThrow("another process has");
  await expect(acquireLock(file, { signal: AbortSignal.timeout(60), waitMs: 60_000 })).rejects.toThrow(/aborted/);
  await mine[Symbol.asyncDispose]();
  await mine[Symbol.asyncDispose]();
  expect(await readdir(folder)).toEqual([]);
});

it.each<[string, (file: string, key: string) => Promise<void>]>([
  ["was changed", async (file) => writeFile(file, flipped(await readFile(file)))],
  ["was truncated", async (file) => writeFile(file, (await readFile(file)).subarray(0, 20))],
  ["has lost its key", async (_file, key) => rm(key)],
  ["has another key", async (_file, key) => writeFile(key, Buffer.alloc(32))],
])("reports a saved login that %s and replaces it at the next login", async (_how, spoil) => {
  await open().for(server.spec()).login({ ask: consentingUser, signal });
  const name = (await readdir(folder)).find((file) => file.endsWith(".login"));
  await spoil(join(folder, name ?? ""), join(folder, "key"));
  const vault = open().for(server.spec());
  await expect(vault.fetch(server.url)).rejects.toThrow(/vault requires a login: the (saved login cannot be read|key)/);
  expect(await vault.login({ ask: consentingUser, signal })).toEqual({ status: "done" });
  expect((await vault.fetch(server.url, { method: "DELETE" })).status).not.toBe(401);
});

it("does not accept a saved login of another server, even under its file name", async () => {
  await using other = await startTestAuthorization();
  await open().for(server.spec()).login({ ask: consentingUser, signal });
  const [mine] = (await readdir(folder)).filter((file) => file.endsWith(".login"));
  await open().for(other.spec()).login({ ask: consentingUser, signal });
  const theirs = (await readdir(folder)).find((file) => file.endsWith(".login") && file !== mine);
  await writeFile(join(folder, theirs ?? ""), await readFile(join(folder, mine ?? "")));
  await expect(open().for(other.spec()).fetch(other.url)).rejects.toThrow(LoginNeeded);
  await expect(open().for(other.spec()).fetch(other.url)).rejects.toThrow("belongs to another key or server");
});

function flipped(bytes: Buffer): Buffer {
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return bytes;
}
