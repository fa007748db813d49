import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateTerminalRequest } from "@agentclientprotocol/sdk";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { deferred, processesMarked } from "../../stdx/index.ts";
import { builtEnvironment } from "../../testing/environment.ts";
import { temporaryFolder, type TemporaryFolder } from "../../testing/repository.ts";
import type { PeerError } from "../errors.ts";
import {
  serveTerminals,
  type Gate,
  type GateRequest,
  type ServeTerminalsOptions,
  type ServedTerminals,
} from "./index.ts";

let folder: TemporaryFolder;
let outside: TemporaryFolder;
let terminals: ServedTerminals;
let run = 0;
beforeEach(async () => {
  run += 1;
  [folder, outside] = await Promise.all([temporaryFolder(), temporaryFolder()]);
  terminals = served();
});
afterEach(async () => {
  await terminals[Symbol.asyncDispose]();
  expect(left()).toBe(0);
  await folder[Symbol.asyncDispose]();
  await outside[Symbol.asyncDispose]();
});

const sessionId = "s1";
const context = { signal: new AbortController().signal };
const marker = () => `terminals-${process.pid}-${run}`;
const left = () => processesMarked(marker()).length;

function served(more: Partial<ServeTerminalsOptions> = {}): ServedTerminals {
  const env = { ...builtEnvironment({ home: folder.path }), GIVEN: "by the client", BOTH: "client" };
  return serveTerminals({ roots: [folder.path], env, marker: marker(), ...more });
}

async function start(script: string, more: Partial<CreateTerminalRequest> = {}) {
  const { terminalId } = await terminals.create({ sessionId, command: "sh", args: ["-c", script], ...more }, context);
  return { sessionId, terminalId };
}

const exitOf = (terminal: { sessionId: string; terminalId: string }) => terminals.waitForExit(terminal, context);
/** Polls as an agent would, because the protocol has no event for output. */
const saying = (terminal: { sessionId: string; terminalId: string }, text: string) =>
  vi.waitFor(async () => expect((await terminals.output(terminal)).output).toContain(text));

it("runs a command and returns its output on both streams and its exit code", async () => {
  const terminal = await start("echo out; echo err >&2; exit 3");
  expect(await exitOf(terminal)).toEqual({ exitCode: 3, signal: null });
  const { output, ...rest } = await terminals.output(terminal);
  expect(output.split("\n").sort()).toEqual(["", "err", "out"]);
  expect(rest).toEqual({ truncated: false, exitStatus: { exitCode: 3, signal: null } });
});

it("reports the signal that ended the command", async () => {
  expect(await exitOf(await start("kill -9 $$"))).toEqual({ exitCode: null, signal: "SIGKILL" });
});

it("has no exit status while the command runs", async () => {
  const terminal = await start("echo up; sleep 60");
  await saying(terminal, "up");
  expect((await terminals.output(terminal)).exitStatus).toBeNull();
});

it("runs the program with exactly the given arguments, without a shell", async () => {
  const params = { sessionId, command: "printf", args: ["%s|", "$HOME", "a b", "*", ""] };
  const { terminalId } = await terminals.create(params, context);
  await exitOf({ sessionId, terminalId });
  expect((await terminals.output({ sessionId, terminalId })).output).toBe("$HOME|a b|*||");
});

it("adds the requested environment to the client's", async () => {
  const env = [
    { name: "BOTH", value: "agent" },
    { name: "ASKED", value: "by the agent" },
  ];
  const terminal = await start('echo "$GIVEN, $ASKED, $BOTH"', { env });
  await exitOf(terminal);
  expect((await terminals.output(terminal)).output).toBe("by the client, by the agent, agent\n");
});

it("starts in the working directory or in a requested directory within it", async () => {
  mkdirSync(join(folder.path, "below"));
  const [first, second] = [await start("pwd"), await start("pwd", { cwd: join(folder.path, "below") })];
  await Promise.all([exitOf(first), exitOf(second)]);
  expect((await terminals.output(first)).output).toBe(`${folder.path}\n`);
  expect((await terminals.output(second)).output).toBe(`${folder.path}/below\n`);
});

it("refuses every other directory", async () => {
  symlinkSync(outside.path, join(folder.path, "out"));
  writeFileSync(join(folder.path, "file"), "");
  for (const cwd of ["below", outside.path, join(folder.path, "out"), join(folder.path, "..")]) {
    await expect(start("true", { cwd }), cwd).rejects.toMatchObject({ code: -32602 });
  }
  await expect(start("true", { cwd: join(folder.path, "none") })).rejects.toMatchObject({ code: -32002 });
  await expect(start("true", { cwd: join(folder.path, "file") })).rejects.toThrow("is not a directory");
});

it("reports why a program cannot be started, and that there is no shell", async () => {
  const create = (command: string, args?: string[]) =>
    terminals.create({ sessionId, command, ...(args && { args }) }, context);
  await expect(create("no-such-program")).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining("no such program on the PATH") as string,
  });
  await expect(create("echo hello && ls")).rejects.toThrow("commands run without a shell");
  await expect(create("no such", ["x"])).rejects.not.toThrow("without a shell");
});

it.each([
  null,
  "x",
  {},
  { sessionId },
  { sessionId, command: "" },
  { sessionId, command: "ls", args: "x" },
  { sessionId, command: "a\0" },
])("refuses %j as invalid params", async (params: unknown) => {
  await expect(terminals.create(params as CreateTerminalRequest, context)).rejects.toMatchObject({ code: -32602 });
});

it.each([
  ["all of it", 100, "a€b€c", false],
  ["with the exact limit", 9, "a€b€c", false],
  ["cut between characters", 5, "b€c", true],
  ["cut within a character", 6, "b€c", true],
  ["cut within the second to last character", 3, "c", true],
  ["with a limit of zero", 0, "", true],
  ["with the largest limit", 18_446_744_073_709_551_615, "a€b€c", false],
])("keeps the end of the output, %s", async (_, outputByteLimit, output, truncated) => {
  const terminal = await start("printf 'a€b€c'", { outputByteLimit });
  await exitOf(terminal);
  expect(await terminals.output(terminal)).toMatchObject({ output, truncated });
});

it("keeps the end of a flood, and a character that arrived in two chunks", async () => {
  const flood = await start("seq 1 200000; printf '\\342\\202'; sleep 0.05; printf '\\254'", { outputByteLimit: 50 });
  await exitOf(flood);
  const { output, truncated } = await terminals.output(flood);
  expect(truncated).toBe(true);
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(50);
  expect(output.endsWith("199999\n200000\n€")).toBe(true);
});

it("keeps the output of a killed command readable and reports its exit", async () => {
  const terminal = await start("echo before; trap '' TERM; echo up; while :; do sleep 1; done");
  await saying(terminal, "up");
  const waiting = exitOf(terminal);
  expect(await terminals.kill(terminal)).toEqual({});
  expect(await waiting).toEqual({ exitCode: null, signal: "SIGKILL" });
  expect(await terminals.output(terminal)).toEqual({
    output: "before\nup\n",
    truncated: false,
    exitStatus: { exitCode: null, signal: "SIGKILL" },
  });
  expect(left()).toBe(0);
  expect(await terminals.kill(terminal)).toEqual({});
});

it("keeps what a command prints when it is killed", async () => {
  const terminal = await start("trap 'echo last words; exit 5' TERM; echo up; while :; do sleep 0.05; done");
  await saying(terminal, "up");
  await terminals.kill(terminal);
  const { output, exitStatus } = await terminals.output(terminal);
  expect(output.endsWith("last words\n")).toBe(true); // the shell may report the exit of its child before
  expect(exitStatus).toEqual({ exitCode: 5, signal: null });
});

it("frees a released terminal and stops its command, including processes outside of its group", async () => {
  const terminal = await start("setsid sh -c 'echo up; sleep 60; true' & sleep 60");
  await saying(terminal, "up");
  const waiting = exitOf(terminal);
  expect(await terminals.release(terminal)).toEqual({});
  expect(left()).toBe(0);
  expect(await waiting).toMatchObject({ exitCode: null });
  for (const method of ["output", "kill", "release"] as const) {
    await expect(terminals[method](terminal), method).rejects.toMatchObject({ code: -32002 });
  }
  await expect(exitOf(terminal)).rejects.toThrow(`the terminal ${terminal.terminalId} was not found`);
});

it("reports an exit although a background process remains, which release stops", async () => {
  const terminal = await start("sleep 60 & echo done");
  expect(await exitOf(terminal)).toEqual({ exitCode: 0, signal: null });
  expect((await terminals.output(terminal)).output).toBe("done\n");
  expect(left()).toBe(1);
  await terminals.release(terminal);
  expect(left()).toBe(0);
});

it("refuses more than the maximum number of terminals", async () => {
  await using few = served({ maxTerminals: 2 });
  const create = () => few.create({ sessionId, command: "true" }, context);
  const [first, , third] = await Promise.allSettled([create(), create(), create()]);
  expect(third).toMatchObject({ reason: { message: "2 terminals are already open; release one first" } });
  await expect(create()).rejects.toThrow("2 terminals are already open");
  if (first.status === "fulfilled") await few.release({ sessionId, ...first.value });
  await create();
});

it("stops every command when it is disposed and starts none afterwards", async () => {
  const [first] = await Promise.all([start("echo up; sleep 60"), start("trap '' TERM; sleep 60 & wait")]);
  await saying(first, "up");
  const waiting = exitOf(first);
  await terminals[Symbol.asyncDispose]();
  expect(left()).toBe(0);
  expect(await waiting).toEqual({ exitCode: null, signal: "SIGTERM" });
  await expect(start("true")).rejects.toMatchObject({ code: -32800 });
});

it("stops waiting for an exit when the request is cancelled, and the command continues", async () => {
  const terminal = await start("echo up; sleep 60");
  const cancel = new AbortController();
  const waiting = terminals.waitForExit(terminal, cancel);
  cancel.abort();
  await expect(waiting).rejects.toMatchObject({ code: -32800 });
  expect((await terminals.output(terminal)).exitStatus).toBeNull();
});

it("asks the gate with the whole command, environment and directory, and runs nothing that it refuses", async () => {
  const asked: GateRequest[] = [];
  const gate: Gate = async (request) => {
    asked.push(request);
    return { allowed: false, message: "too dangerous" };
  };
  await using guarded = served({ gate });
  const params = { sessionId, command: "touch", args: ["a b", "it's"], env: [{ name: "A", value: "x y" }] };
  await expect(guarded.create(params, context)).rejects.toMatchObject({
    code: -32603,
    message: "refused: too dangerous",
    data: { refused: true },
  });
  const command = ["touch", "a b", "it's"];
  const title = String.raw`A='x y' touch 'a b' 'it'\''s'`;
  expect(asked).toMatchObject([{ kind: "execute", title, command, path: folder.path, sessionId, params }]);
  expect(left()).toBe(0);
});

it.each(["cancelled", "disposed"])("leaves nothing running if it is %s while a command starts", async (how) => {
  const cancel = new AbortController();
  let disposed: PromiseLike<void> | undefined;
  const gate: Gate = async () => {
    setImmediate(() => {
      if (how === "cancelled") cancel.abort();
      else disposed = guarded[Symbol.asyncDispose]();
    });
    return { allowed: true };
  };
  await using guarded = served({ gate });
  let code: unknown;
  const creating = guarded.create({ sessionId, command: "sleep", args: ["60"] }, cancel).catch((error: unknown) => {
    code = (error as PeerError).code;
  });
  if (how === "cancelled") await creating;
  else await vi.waitFor(() => expect(disposed).toBeDefined());
  await disposed;
  expect(left()).toBe(0);
  expect(code).toBe(-32800);
});

it.each(["cancelled", "disposed"])("starts nothing if it is %s while the gate decides", async (how) => {
  const asked = deferred();
  const gate: Gate = () => {
    asked.resolve();
    return new Promise(() => undefined);
  };
  const guarded = served({ gate });
  const cancel = new AbortController();
  const creating = guarded.create({ sessionId, command: "sleep", args: ["60"] }, cancel);
  const refused = expect(creating).rejects.toMatchObject({ code: -32800 });
  await asked.promise;
  if (how === "cancelled") cancel.abort();
  await guarded[Symbol.asyncDispose]();
  await refused;
  expect(left()).toBe(0);
});
