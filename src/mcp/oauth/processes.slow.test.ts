/** Real processes that share only the folder of logins. */
import { createInterface } from "node:readline";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DisposeStack, startGroup } from "../../stdx/index.ts";
import { startTestAuthorization, type TestAuthorization } from "./test-authorization.ts";

const PROCESS = fileURLToPath(new URL("./test-login-process.mjs", import.meta.url));

let scene: DisposeStack;
let server: TestAuthorization;
let home: string;
let folder: string;

beforeEach(async () => {
  scene = new DisposeStack();
  home = await mkdtemp(join(tmpdir(), "rookery-oauth-"));
  scene.defer(() => rm(home, { recursive: true }));
  folder = join(home, "mcp");
  server = scene.use(await startTestAuthorization());
});
afterEach(() => scene[Symbol.asyncDispose]());

interface LoginProcess {
  tell(word: string): void;
  /** Reads the next word that it prints. */
  readonly heard: () => Promise<string>;
  kill(): Promise<void>;
}

async function start(): Promise<LoginProcess> {
  const env = { PATH: process.env["PATH"], HOME: home };
  const options = { cwd: home, env, marker: "test-login", stdin: "pipe" } as const;
  const group = scene.use(await startGroup(process.execPath, [PROCESS, folder, server.url], options));
  group.child.stderr?.resume();
  const lines = createInterface({ input: group.child.stdout! })[Symbol.asyncIterator]();
  const heard = async (): Promise<string> => String((await lines.next()).value);
  expect(await heard()).toBe("up");
  return {
    heard,
    tell: (word) => void group.child.stdin?.write(`${word}\n`),
    async kill() {
      group.child.kill("SIGKILL");
      await group.ended;
    },
  };
}

it("logs in once and refreshes once for two processes", async () => {
  const both = await Promise.all([start(), start()]);
  for (const one of both) one.tell("login");
  const words = await Promise.all(both.map(wordsOfLogin));
  expect(words.sort()).toEqual([["asked", "done"], ["done"]]);
  expect(server.counts).toMatchObject({ pages: 1, registrations: 1, exchanges: 1 });
  server.expireTokens();
  for (const one of both) one.tell("fetch");
  expect(await Promise.all(both.map((one) => one.heard()))).toEqual(["let in", "let in"]);
  expect(server.counts).toMatchObject({ refreshes: 1, reuses: 0 });
});

async function wordsOfLogin({ heard }: LoginProcess): Promise<string[]> {
  const words = [await heard()];
  if (words[0] === "asked") words.push(await heard());
  return words;
}

it("lets another process log in after the first is killed", async () => {
  const [first, second] = await Promise.all([start(), start()]);
  first.tell("hang");
  expect(await first.heard()).toBe("asked");
  second.tell("login");
  await first.kill();
  expect(await second.heard()).toBe("asked");
  expect(await second.heard()).toBe("done");
  expect((await readdir(folder)).filter((name) => !/^([0-9a-f]{32}\.login|key)$/.test(name))).toEqual([]);
});
