import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DisposeStack } from "../../stdx/dispose-stack.ts";
import { parseExposition } from "../../telemetry/test-exposition.ts";
import {
  builtEnvironment,
  temporaryFolder,
  type TemporaryRepository,
  temporaryRepository,
} from "../../testing/index.ts";
import type { EnvironmentVariables } from "../../stdx/environment.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import type { Io } from "../io.ts";
import { executeCommand } from "../execute.ts";
import { collectingIo } from "../test-io.ts";

const CONFIG = `[defaults]\nagent = "shell"\n[agents.shell]\nbackend = "command"\ncommand = ["sh", "-c", "{prompt}"]\n`;

let owned: DisposeStack;
let home: string;
let repository: TemporaryRepository;
beforeEach(async () => {
  owned = new DisposeStack();
  ({ path: home } = owned.use(await temporaryFolder()));
  repository = owned.use(await temporaryRepository({ "a.txt": "one\n" }));
  await mkdir(join(home, ".config", "rookery"), { recursive: true });
  await writeFile(join(home, ".config", "rookery", "rookery.toml"), CONFIG);
});
afterEach(() => owned[Symbol.asyncDispose]());

function ioHere(more: EnvironmentVariables = {}): Io & { text(): string } {
  const env = { ...builtEnvironment({ home }), ...more };
  return Object.assign(collectingIo(home), { env, cwd: () => repository.path, version: "1.2.3" });
}

async function rookery(words: readonly string[], env?: EnvironmentVariables): Promise<[ExitCode, string]> {
  const io = ioHere(env);
  return [await executeCommand(io, words), io.text()];
}

interface Serving {
  readonly url: string;
  text(): string;
  /** Stops the server and resolves with its exit code. */
  end(): Promise<ExitCode>;
  /** Resolves with the exit code without stopping the server. */
  readonly ended: Promise<ExitCode>;
}

async function serving(...words: string[]): Promise<Serving> {
  const io = ioHere();
  const ended = executeCommand(io, ["serve", "--port", "0", ...words]);
  let over = false;
  void ended.finally(() => (over = true));
  const end = async (): Promise<ExitCode> => {
    if (!over) process.emit("SIGTERM");
    return ended;
  };
  owned.defer(end);
  const url = await vi.waitFor(
    () => {
      const found = /http:\/\/[\w.:]+/.exec(io.text())?.[0];
      if (found === undefined) throw new Error(`the server has not printed its URL: ${io.text()}`);
      return found;
    },
    { timeout: 30_000 }, // the first start compiles everything
  );
  return { url, text: () => io.text(), end, ended };
}

const homeFile = (name: string) => join(home, ".rookery", name);

it("doctor names a ready agent without a version once", async () => {
  const [, text] = await rookery(["doctor"]);
  expect(text).toMatch(/^ok +agents +ready: shell; claude /m);
});

describe("a server", () => {
  it("prints its address and how to use it, and requires the token", async () => {
    const server = await serving();
    await vi.waitFor(() => expect(server.text()).toContain("Ctrl-C stops the server"));
    const token = (await readFile(homeFile("token"), "utf8")).trim();
    expect((await stat(homeFile("token"))).mode & 0o777).toBe(0o600);
    expect(server.text()).toContain(homeFile("token"));
    expect(server.text()).toContain(`${server.url}/openapi.json`);
    expect(server.text()).not.toContain(token);
    expect((await fetch(`${server.url}/v1/tasks`)).status).toBe(401);
    const answer = await fetch(`${server.url}/v1/tasks`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    expect(await server.end()).toBe(EXIT.done);
    await expect(fetch(`${server.url}/v1/health`)).rejects.toThrow();
  });

  it("has metrics of its process and of the cluster", async () => {
    await rookery(["task", "start", "echo two >> a.txt", "--id", "t", "--detach"]);
    const server = await serving("--token", "the-token-of-this-server");
    await rookery(["task", "logs", "t", "-f"]);
    const headers = { authorization: "Bearer the-token-of-this-server" };
    const families = parseExposition(await (await fetch(`${server.url}/metrics`, { headers })).text());
    const value = (name: string, labels: Record<string, string> = {}) =>
      families.get(name)?.samples.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels))?.value;
    expect(value("rookery_tasks", { phase: "done" })).toBe(1);
    expect(value("rookery_sessions", { status: "idle" })).toBe(1);
    expect(value("rookery_tasks_claimed_total")).toBe(1);
    expect(value("rookery_turns_ended_total", { outcome: "done" })).toBe(1);
    expect(value("rookery_tasks_ended_total", { outcome: "done" })).toBe(1);
    const names = ["append_duration_seconds", "append_group_size", "follow_lag_seconds"];
    for (const name of names) expect([name, families.get(`rookery_${name}`)?.samples.length]).not.toEqual([name, 0]);
  });

  it("exits with an error if its database is deleted", async () => {
    const server = await serving();
    await vi.waitFor(() => expect(server.text()).toContain("Ctrl-C stops the server"));
    await rm(homeFile("rookery.db"));
    expect(await server.ended).toBe(EXIT.failed);
    expect(server.text()).toContain(`${homeFile("rookery.db")} was deleted while this process used it`);
    const again = await serving();
    expect(await again.end()).toBe(EXIT.done);
  });

  it("runs tasks that were queued before its start and tasks that commands submit", async () => {
    await rookery(["task", "start", "echo two >> a.txt", "--id", "before", "--detach"]);
    const server = await serving();
    const [code, text] = await rookery(["task", "start", "echo three >> a.txt", "--id", "after", "--needs", "before"]);
    expect([code, text]).toEqual([
      EXIT.done,
      expect.stringContaining(`task after is queued on the server at ${server.url}`),
    ]);
    const [followed, log] = await rookery(["task", "logs", "after", "-f"]);
    expect(followed).toBe(EXIT.done);
    expect(log).toMatch(/› [^\n]*echo three >> a\.txt\n[^]*\n✓ task done\n$/);
    const [, events] = await rookery(["task", "logs", "after", "--events"]);
    expect(events).toMatch(/task\.created[^]*turn\.ended[^]*task\.ended +done/);
    expect((await rookery(["task"]))[1]).toMatch(/^before +done[^]*|^after +done/m);
    expect((await rookery(["task", "show", "bef"]))[1]).toMatch(/^status +done$/m);
    expect((await rookery(["task", "diff", "after"]))[1]).toContain("+three\n");
    expect((await rookery(["task", "merge", "before"]))[0]).toBe(EXIT.done);
    expect(await repository.read("a.txt")).toBe("one\ntwo\n");
    expect(await rookery(["task", "merge", "after"])).toEqual([EXIT.failed, expect.stringContaining("  a.txt\n")]);
    expect(await rookery(["task", "show", "nothing"])).toEqual([
      EXIT.failed,
      expect.stringMatching(/^rookery: no task nothing[^\n]*\n$/),
    ]);
    expect(await rookery(["task", "stop", "after"])).toEqual([
      EXIT.failed,
      expect.stringMatching(/^rookery: task after [^\n]*\n$/),
    ]);
    expect((await rookery(["task", "remove", "before"]))[0]).toBe(EXIT.done);
  });

  it("rejects a second server in the same home, and names the first", async () => {
    const server = await serving();
    expect(await rookery(["serve", "--port", "0"])).toEqual([
      EXIT.failed,
      expect.stringMatching(new RegExp(`^rookery: [^\n]*${server.url}[^\n]*\n$`)),
    ]);
  });

  it("prints JSON without the token with --json", async () => {
    const token = "a-token-that-nobody-may-see";
    const server = await serving("--json", "--token", token);
    await fetch(`${server.url}/v1/tasks?after=secret`, { headers: { authorization: `Bearer ${token}` } });
    await vi.waitFor(() => expect(server.text()).toContain('"/v1/tasks"'));
    await server.end();
    const lines = server
      .text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(expect.objectContaining({ url: server.url, pid: process.pid, version: "1.2.3" }));
    expect(lines).toContainEqual(expect.objectContaining({ method: "GET", path: "/v1/tasks" }));
    expect(server.text()).not.toContain(token);
    expect(server.text()).not.toContain("secret");
  });

  it("warns if other machines can reach it", async () => {
    const server = await serving("--host", "0.0.0.0");
    await vi.waitFor(() =>
      expect(server.text()).toMatch(/rookery: .* is reachable from other machines without encryption/),
    );
  });

  it("is used by --server only with its token", async () => {
    const server = await serving("--token", "the-token-of-this-server");
    const elsewhere = { ROOKERY_HOME: join(home, "other"), ROOKERY_SERVER: server.url };
    expect(await rookery(["task", "list"], elsewhere)).toEqual([
      EXIT.failed,
      expect.stringContaining("set ROOKERY_TOKEN"),
    ]);
    const wrong = await rookery(["task", "list"], { ...elsewhere, ROOKERY_TOKEN: "another-token-altogether" });
    expect(wrong).toEqual([EXIT.failed, expect.stringMatching(/^rookery: [^\n]+\n$/)]);
    const right = await rookery(["task", "list"], { ...elsewhere, ROOKERY_TOKEN: "the-token-of-this-server" });
    expect(right).toEqual([EXIT.done, expect.stringContaining("no tasks")]);
  });
});

describe("prints one line for invalid options", () => {
  it.each<[string[], number, RegExp]>([
    [["--port", "70000"], 2, /--port must be at most 65535, not 70000/],
    [["--port", "http"], 2, /--port must be a whole number of at least 0/],
    [["--token", "short"], 2, /token/],
    [["--host", "256.1.1.1", "--port", "0"], 2, /--host/],
    [["--show-token"], 2, /--show-token needs a terminal/],
    [["--prot", "1"], 2, /unknown option --prot \(did you mean --port\?\)/],
  ])("%j", async (words, code, says) => {
    const [exit, text] = await rookery(["serve", ...words]);
    expect(text).toMatch(/^rookery: [^\n]+\n$/);
    expect(text).toMatch(says);
    expect(exit).toBe(code);
  });

  it("rejects a port that is in use", async () => {
    const server = await serving();
    const { port } = new URL(server.url);
    expect(await rookery(["serve", "--port", port], { ROOKERY_HOME: join(home, "other") })).toEqual([
      EXIT.failed,
      expect.stringMatching(new RegExp(`^rookery: port ${port} [^\n]*in use[^\n]*--port[^\n]*\n$`)),
    ]);
  });

  it("rejects a --server URL without a server", async () => {
    const env = { ROOKERY_SERVER: "http://127.0.0.1:9", ROOKERY_TOKEN: "a-token-that-is-long-enough" };
    expect(await rookery(["task", "list"], env)).toEqual([
      EXIT.failed,
      expect.stringMatching(/^rookery: [^\n]*http:\/\/127\.0\.0\.1:9[^\n]*\n$/),
    ]);
  });
});
