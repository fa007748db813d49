import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { deferred } from "../../stdx/deferred.ts";
import { LoginNeeded, type LoginOptions } from "../authorizer.ts";
import { type Authorizers, openAuthorizers } from "./index.ts";
import { lock } from "./lock.ts";
import { consents, startTestAuthorization, type TestAuthorization } from "./test-authorization.ts";

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

/** A person who comes to the page when they are let. */
function slow(): { ask: LoginOptions["ask"]; asked: Promise<void>; go(): void } {
  const asked = deferred();
  const let_ = deferred();
  return {
    asked: asked.promise,
    go: () => let_.resolve(),
    async ask(question, options) {
      asked.resolve();
      await let_.promise;
      return consents(question, options);
    },
  };
}

it.each([
  ["two sessions", () => open()],
  ["two that share nothing but the folder, as two processes do", () => undefined],
])("%s that need the same login do it once", async (_who, shared) => {
  const common = shared();
  const [first, second] = [(common ?? open()).for(server.spec()), (common ?? open()).for(server.spec())];
  const person = slow();
  const one = first.login({ ask: person.ask, signal });
  await person.asked;
  const ask = vi.fn<LoginOptions["ask"]>(consents);
  const other = second.login({ ask, signal });
  person.go();
  expect(await Promise.all([one, other])).toEqual([{ status: "done" }, { status: "done" }]);
  expect(ask).not.toHaveBeenCalled();
  expect(server.counts.pages).toBe(1);
});

it("who waits for the login of a session that gives it up goes on with their own, and can give up waiting", async () => {
  const authorizers = open();
  const person = slow();
  const leaving = new AbortController();
  const one = authorizers.for(server.spec()).login({ ask: person.ask, signal: leaving.signal });
  await person.asked;
  const impatient = new AbortController();
  const third = authorizers.for(server.spec()).login({ ask: consents, signal: impatient.signal });
  impatient.abort();
  expect(await third).toEqual({ status: "cancelled" });
  const other = authorizers.for(server.spec()).login({ ask: consents, signal });
  leaving.abort();
  expect(await Promise.all([one, other])).toEqual([{ status: "cancelled" }, { status: "done" }]);
});

it("the lock of a living process is waited for, and that of a dead one is taken", async () => {
  const file = join(folder, "some.lock");
  const dead = spawnSync("true", { env: { PATH: "/usr/bin:/bin" } });
  await writeFile(file, `${dead.pid}.long-ago.abc`);
  const mine = await lock(file, { signal, waitMs: 5_000 });
  await expect(lock(file, { signal, waitMs: 60 })).rejects.toThrow("another process has");
  await expect(lock(file, { signal: AbortSignal.timeout(60), waitMs: 60_000 })).rejects.toThrow(/aborted/);
  await mine[Symbol.asyncDispose]();
  await mine[Symbol.asyncDispose]();
  expect(await readdir(folder)).toEqual([]);
});

it.each<[string, (file: string, key: string) => Promise<void>]>([
  ["was changed", async (file) => writeFile(file, flipped(await readFile(file)))],
  ["was cut", async (file) => writeFile(file, (await readFile(file)).subarray(0, 20))],
  ["has lost its key", async (_file, key) => rm(key)],
  ["has another key", async (_file, key) => writeFile(key, Buffer.alloc(32))],
])("a saved login that %s is no login, and says so; another login mends it", async (_how, spoil) => {
  await open().for(server.spec()).login({ ask: consents, signal });
  const name = (await readdir(folder)).find((file) => file.endsWith(".login"));
  await spoil(join(folder, name ?? ""), join(folder, "key"));
  const vault = open().for(server.spec());
  await expect(vault.fetch(server.url)).rejects.toThrow(/vault wants a login: the (saved login cannot be read|key)/);
  expect(await vault.login({ ask: consents, signal })).toEqual({ status: "done" });
  expect((await vault.fetch(server.url, { method: "DELETE" })).status).not.toBe(401);
});

it("the saved login of one server is not that of another, whatever the file is called", async () => {
  await using other = await startTestAuthorization();
  await open().for(server.spec()).login({ ask: consents, signal });
  const [mine] = (await readdir(folder)).filter((file) => file.endsWith(".login"));
  await open().for(other.spec()).login({ ask: consents, signal });
  const theirs = (await readdir(folder)).find((file) => file.endsWith(".login") && file !== mine);
  await writeFile(join(folder, theirs ?? ""), await readFile(join(folder, mine ?? "")));
  await expect(open().for(other.spec()).fetch(other.url)).rejects.toThrow(LoginNeeded);
  await expect(open().for(other.spec()).fetch(other.url)).rejects.toThrow("of another key or server");
});

function flipped(bytes: Buffer): Buffer {
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return bytes;
}
