import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { builtEnvironment } from "../environment.ts";
import { temporaryFolder, type TemporaryFolder } from "../repository.ts";
import { acpAgentCommand, acpRecorded, readAcpRecord, writeAcpAgent, type AcpScript } from "./index.ts";
import { LineClient } from "./test-client.ts";

let folder: TemporaryFolder;
/** Ends the processes that a failed test may have left. */
const pids = new Set<number>();
let agents = 0;

beforeEach(async () => void (folder = await temporaryFolder()));
afterEach(async () => {
  for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  pids.clear();
  await folder[Symbol.asyncDispose]();
});

const inside = (name: string): string => join(folder.path, name);

async function start(script: AcpScript, extraArgs: readonly string[] = [], extra: Record<string, string> = {}) {
  const { command, record } = await writeAcpAgent(folder.path, script, `agent-${++agents}`);
  const [program, ...args] = command;
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(program, [...args, ...extraArgs], {
    cwd: folder.path,
    env: builtEnvironment({ home: folder.path, extra }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  if (child.pid !== undefined) pids.add(child.pid);
  child.stdin.on("error", () => undefined); // it may die before it has read all
  const client = new LineClient((text) => void child.stdin.write(text), {});
  const chunks: Buffer[] = [];
  const decoder = new TextDecoder();
  child.stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    client.take(decoder.decode(chunk, { stream: true }));
  });
  child.stdout.on("close", () => client.end());
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const exited = once(child, "exit") as Promise<[code: number | null, signal: string | null]>;
  return { child, client, chunks, record, exited, stderr: () => stderr };
}

describe("a scripted agent as a process", () => {
  it("uses its pipes, records its input, and exits when its input ends", async () => {
    const { child, client, record, exited } = await start({ prompts: [[{ say: "hello" }]] });
    await client.prompt(await client.newSession());
    expect(client.text()).toBe("hello");
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    const entries = await readAcpRecord(record);
    expect(entries.map(({ type }) => type)).toEqual(["started", "received", "received", "eof"]);
    expect(entries[0]).toMatchObject({ pid: child.pid, cwd: folder.path, args: [] });
    expect(entries[1]).toMatchObject({ message: { method: "session/new", params: { cwd: "/project" } } });
  });

  it.each([
    ["a code", { code: 7 }, [7, null]],
    ["a signal", { signal: "SIGKILL" }, [null, "SIGKILL"]],
    ["a signal that it also handles", { signal: "SIGTERM" }, [null, "SIGTERM"]],
  ] as const)("exits with %s during a prompt, after all its output", async (_, exit, expected) => {
    const words = "x".repeat(300_000);
    const { client, exited, stderr } = await start({
      prompts: [[{ stderr: "the cause\n" }, { say: words }, { exit }]],
    });
    const response = client.prompt(await client.newSession());
    await expect(response).rejects.toThrow("the agent ended");
    expect(await exited).toEqual(expected);
    expect(client.text()).toBe(words);
    expect(stderr()).toBe("the cause\n");
  });

  it("ignores the end of its input and SIGTERM, if the script says so", async () => {
    const stubborn = { ignoreEof: true, ignoreSigterm: true };
    const { child, client, record, exited } = await start({ process: stubborn, on: { _ping: {} } });
    child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"_ping"}\n');
    await acpRecorded(record, ({ type }) => type === "eof");
    child.kill("SIGTERM");
    await acpRecorded(record, ({ type }) => type === "signal");
    expect((await client.first(({ id }) => id === 1)).result).toEqual({});
    expect(child.exitCode).toBeNull();
    child.kill("SIGKILL");
    expect(await exited).toEqual([null, "SIGKILL"]);
  });

  it("exits on SIGTERM and records it by default", async () => {
    const { child, client, record, exited } = await start({ prompts: [[{ say: "begun" }, { hang: true }]] });
    void client.prompt(await client.newSession());
    await client.until(() => (client.text() === "begun" ? true : undefined));
    child.kill("SIGTERM");
    expect(await exited).toEqual([null, "SIGTERM"]);
    expect((await readAcpRecord(record)).at(-1)).toEqual({ type: "signal", signal: "SIGTERM" });
  });

  it("never reads its input, if the script says so", async () => {
    const { child, client } = await start({ process: { deaf: true }, onStart: [{ send: { ready: true } }] });
    await client.first((message) => "ready" in message);
    const line = `${JSON.stringify({ text: "x".repeat(1_000_000) })}\n`;
    let passed = false;
    child.stdin.write(line, () => (passed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(passed).toBe(false);
    expect(child.stdin.writableLength).toBeGreaterThan(0);
  });

  it("splits a character between two chunks of the pipe", async () => {
    const { client, chunks } = await start({ onStart: [{ cut: { text: "日本", pauseMs: 300 } }] });
    await client.until(() => client.messages[0]);
    expect(client.text()).toBe("日本");
    expect(chunks[0]?.at(-1)).toBe(0xe6);
    expect(chunks).toHaveLength(2);
  });

  it("starts a grandchild that outlives it and keeps its output open", async () => {
    const pidFile = inside("grandchild.pid");
    const { client, child, exited } = await start({
      prompts: [[{ grandchild: { pidFile, holdsOutput: true, ignoresSigterm: true } }, { say: "left" }]],
    });
    await client.prompt(await client.newSession());
    const pid = Number(await readFile(pidFile, "utf8"));
    pids.add(pid);
    child.kill("SIGKILL");
    await exited;
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, "SIGTERM");
    expect(isAlive(pid)).toBe(true);
    expect(child.stdout.readableEnded).toBe(false);
    const closed = once(child.stdout, "close");
    process.kill(pid, "SIGKILL");
    await closed;
  });

  it("waits for a file, and creates one that a test can wait for", async () => {
    const [gate, here] = [inside("gate"), inside("here")];
    const { client } = await start(
      { prompts: [[{ touch: here }, { waitForFile: gate }, { environment: "WORD" }]] },
      [],
      {
        WORD: "open",
      },
    );
    const response = client.prompt(await client.newSession());
    await expect.poll(() => existsSync(here)).toBe(true);
    expect(client.text()).toBe("");
    const opener = await start({ onStart: [{ touch: gate }] });
    opener.child.stdin.end();
    await response;
    expect(client.text()).toBe("WORD=open");
  });

  it("accepts a client that logged in through a terminal", async () => {
    const method = { type: "terminal", id: "login", name: "Log in", args: ["--login"] };
    const script = { auth: { methods: [method], file: inside("token") } };
    const { client, child } = await start(script);
    const setUp = { cwd: "/project", mcpServers: [] };
    expect((await client.request("session/new", setUp)).error?.code).toBe(-32000);
    const login = await start(script, method.args);
    expect(await login.exited).toEqual([0, null]);
    expect(login.client.lines).toEqual(["Logged in."]);
    expect((await client.request("session/new", setUp)).result).toEqual({ sessionId: "session-1" });
    child.stdin.end();
  });

  it("exits with a message if its script is invalid", async () => {
    const { exited, stderr } = await start({ prompts: [[{ sya: "hi" } as never]] });
    expect(await exited).toEqual([2, null]);
    expect(stderr()).toBe('unknown step in the script of an ACP agent: {"sya":"hi"}\n');
  });
});

it("finds its program in the built package", async () => {
  const [, program = ""] = acpAgentCommand("script.json");
  expect(existsSync(program)).toBe(true);
  const built = (await import(pathToFileURL(join(program, "..", "index.js")).href)) as {
    acpAgentCommand: typeof acpAgentCommand;
  };
  expect(built.acpAgentCommand("script.json")).toEqual([process.execPath, program, "script.json"]);
});

it("lists the recorded entries when a wait times out", async () => {
  const waited = acpRecorded(inside("none.ndjson"), () => true, 20);
  await expect(waited).rejects.toThrow(/no matching entry within 20 ms; .*none\.ndjson has \[\]/);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
