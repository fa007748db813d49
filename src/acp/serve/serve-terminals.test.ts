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
/** Polls as an agent would: the protocol has no event for output. */
const saying = (terminal: { sessionId: string; terminalId: string }, text: string) =>
  vi.waitFor(async () => expect((await terminals.output(terminal)).output).toContain(text));

it("runs a command, gives its output on both streams and how it ended", async () => {
  const terminal = await start("echo out; echo err >&2; exit 3");
  expect(await exitOf(terminal)).toEqual({ exitCode: 3, signal: null });
  const { output, ...rest } = await terminals.output(terminal);
  expect(output.split("\n").sort()).toEqual(["", "err", "out"]);
  expect(rest).toEqual({ truncated: false, exitStatus: { exitCode: 3, signal: null } });
});

it("tells which signal ended it", async () => {
  expect(await exitOf(await start("kill -9 $$"))).toEqual({ exitCode: null, signal: "SIGKILL" });
});

it("has no exit status while the command runs", async () => {
  const terminal = await start("echo up; sleep 60");
  await saying(terminal, "up");
  expect((await terminals.output(terminal)).exitStatus).toBeNull();
});

it("runs the program with the arguments as they are given, without a shell", async () => {
  const params = { sessionId, command: "printf", args: ["%s|", "$HOME", "a b", "*", ""] };
  const { terminalId } = await terminals.create(params, context);
  await exitOf({ sessionId, terminalId });
  expect((await terminals.output({ sessionId, terminalId })).output).toBe("$HOME|a b|*||");
});

it("adds the environment that is asked for to the client's own", async () => {
  const env = [
    { name: "BOTH", value: "agent" },
    { name: "ASKED", value: "by the agent" },
  ];
  const terminal = await start('echo "$GIVEN, $ASKED, $BOTH"', { env });
  await exitOf(terminal);
  expect((await terminals.output(terminal)).output).toBe("by the client, by the agent, agent\n");
});

it("starts in the working folder, or in the folder within it that is asked for", async () => {
  mkdirSync(join(folder.path, "below"));
  const [first, second] = [await start("pwd"), await start("pwd", { cwd: join(folder.path, "below") })];
  await Promise.all([exitOf(first), exitOf(second)]);
  expect((await terminals.output(first)).output).toBe(`${folder.path}\n`);
  expect((await terminals.output(second)).output).toBe(`${folder.path}/below\n`);
});

it("starts nowhere else", async () => {
  symlinkSync(outside.path, join(folder.path, "out"));
  writeFileSync(join(folder.path, "file"), "");
  for (const cwd of ["below", outside.path, join(folder.path, "out"), join(folder.path, "..")]) {
    await expect(start("true", { cwd }), cwd).rejects.toMatchObject({ code: -32602 });
  }
  await expect(start("true", { cwd: join(folder.path, "none") })).rejects.toMatchObject({ code: -32002 });
  await expect(start("true", { cwd: join(folder.path, "file") })).rejects.toThrow("is no folder");
});

it("says why a program cannot be started, and that there is no shell", async () => {
  const create = (command: string, args?: string[]) =>
    terminals.create({ sessionId, command, ...(args && { args }) }, context);
  await expect(create("no-such-program")).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining("no such program on the PATH") as string,
  });
  await expect(create("echo hello && ls")).rejects.toThrow("it is run without a shell");
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
])("answers %j with invalid params", async (params: unknown) => {
  await expect(terminals.create(params as CreateTerminalRequest, context)).rejects.toMatchObject({ code: -32602 });
});

it.each([
  ["whole", 100, "a€b€c", false],
  ["exactly", 9, "a€b€c", false],
  ["cut between characters", 5, "b€c", true],
  ["cut within a character", 6, "b€c", true],
  ["cut within the last but one", 3, "c", true],
  ["of nothing", 0, "", true],
  ["of as much as there can be", 18_446_744_073_709_551_615, "a€b€c", false],
])("keeps the end of the output, %s", async (_, outputByteLimit, output, truncated) => {
  const terminal = await start("printf 'a€b€c'", { outputByteLimit });
  await exitOf(terminal);
  expect(await terminals.output(terminal)).toMatchObject({ output, truncated });
});

it("keeps the end of a flood, and a character whole that came in two pieces", async () => {
  const flood = await start("seq 1 200000; printf '\\342\\202'; sleep 0.05; printf '\\254'", { outputByteLimit: 50 });
  await exitOf(flood);
  const { output, truncated } = await terminals.output(flood);
  expect(truncated).toBe(true);
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(50);
  expect(output.endsWith("199999\n200000\n€")).toBe(true);
});

it("keeps what a killed command wrote readable, and counts it as ended", async () => {
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

it("keeps what a command says when it is killed", async () => {
  const terminal = await start("trap 'echo last words; exit 5' TERM; echo up; while :; do sleep 0.05; done");
  await saying(terminal, "up");
  await terminals.kill(terminal);
  const { output, exitStatus } = await terminals.output(terminal);
  expect(output.endsWith("last words\n")).toBe(true); // the shell itself may tell of its child's end before
  expect(exitStatus).toEqual({ exitCode: 5, signal: null });
});

it("frees a released terminal, and ends its command with what left its group", async () => {
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

it("counts a command as ended although it left something in the background, which release ends", async () => {
  const terminal = await start("sleep 60 & echo done");
  expect(await exitOf(terminal)).toEqual({ exitCode: 0, signal: null });
  expect((await terminals.output(terminal)).output).toBe("done\n");
  expect(left()).toBe(1);
  await terminals.release(terminal);
  expect(left()).toBe(0);
});

it("runs only so many at a time", async () => {
  await using few = served({ maxTerminals: 2 });
  const create = () => few.create({ sessionId, command: "true" }, context);
  const [first, , third] = await Promise.allSettled([create(), create(), create()]);
  expect(third).toMatchObject({ reason: { message: "there are 2 terminals already; release one first" } });
  await expect(create()).rejects.toThrow("2 terminals already");
  if (first.status === "fulfilled") await few.release({ sessionId, ...first.value });
  await create();
});

it("ends every command when it is disposed of, and starts none afterwards", async () => {
  const [first] = await Promise.all([start("echo up; sleep 60"), start("trap '' TERM; sleep 60 & wait")]);
  await saying(first, "up");
  const waiting = exitOf(first);
  await terminals[Symbol.asyncDispose]();
  expect(left()).toBe(0);
  expect(await waiting).toEqual({ exitCode: null, signal: "SIGTERM" });
  await expect(start("true")).rejects.toMatchObject({ code: -32800 });
});

it("stops waiting for an exit when the request is cancelled; the command goes on", async () => {
  const terminal = await start("echo up; sleep 60");
  const cancel = new AbortController();
  const waiting = terminals.waitForExit(terminal, cancel);
  cancel.abort();
  await expect(waiting).rejects.toMatchObject({ code: -32800 });
  expect((await terminals.output(terminal)).exitStatus).toBeNull();
});

it("asks the gate for the whole command, environment and folder, and runs nothing that it refuses", async () => {
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

it.each(["cancelled", "disposed"])("leaves nothing when it is %s while a command starts", async (how) => {
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

it.each(["cancelled", "disposed"])("starts nothing when it was %s while the gate was asked", async (how) => {
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
