import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isAlive, processesMarked, startTimeOf } from "../stdx/index.ts";
import { builtEnvironment } from "../testing/environment.ts";
import { temporaryFolder, type TemporaryFolder } from "../testing/repository.ts";
import { Connection } from "../acp/connection/connection.ts";
import type { Transport } from "./transport.ts";
import { startAgent, type AgentCommand, type AgentProcess } from "./index.ts";

let folder: TemporaryFolder;
let owner = 0;
beforeEach(async () => {
  folder = await temporaryFolder();
  owner += 1;
});
afterEach(() => folder[Symbol.asyncDispose]());

/** Marker of this test, in addition to each agent's own. */
const marker = () => `owner-${process.pid}-${owner}`;
const left = () => processesMarked(marker()).length;

function start(script: string, more: Partial<AgentCommand> = {}): Promise<AgentProcess> {
  return run(["sh", "-c", script], more);
}

function run(command: readonly string[], more: Partial<AgentCommand> = {}): Promise<AgentProcess> {
  return startAgent({
    command,
    cwd: folder.path,
    env: builtEnvironment({ home: folder.path }),
    marker: marker(),
    ...more,
  });
}

interface Heard {
  readonly lines: string[];
  readonly ended: Promise<void>;
  /** Resolves with the next unread line. */
  next(): Promise<string>;
}

function listen(transport: Transport): Heard {
  const lines: string[] = [];
  let taken = 0;
  const events = new EventTarget();
  const ended = once(events, "ended").then(() => undefined);
  transport.start({
    line: (line) => {
      lines.push(line);
      events.dispatchEvent(new Event("line"));
    },
    oversize: () => undefined,
    ended: () => void events.dispatchEvent(new Event("ended")),
    drained: () => undefined,
    writeFailed: () => undefined,
  });
  return {
    lines,
    ended,
    async next() {
      while (lines.length <= taken) await once(events, "line");
      return lines[taken++]!;
    },
  };
}

it("exchanges lines over stdin and stdout, and exits at the end of its input", async () => {
  await using agent = await run(["cat"]);
  const heard = listen(agent.transport);
  agent.transport.write('{"id":1}\n');
  expect(await heard.next()).toBe('{"id":1}');
  expect(isAlive(agent.identity)).toBe(true);
  expect(await agent.close()).toEqual({ exitCode: 0, signal: null, stderr: "" });
  await heard.ended;
  expect(left()).toBe(0);
});

it("reports the exit code and the end of stderr", async () => {
  await using agent = await start("echo one >&2; echo 'the key is wrong' >&2; exit 3");
  expect(await agent.exit()).toEqual({ exitCode: 3, signal: null, stderr: "one\nthe key is wrong\n" });
  expect(await agent.close()).toEqual(await agent.exit());
});

it("reports the signal that killed it", async () => {
  await using agent = await start("kill -9 $$");
  expect(await agent.exit()).toEqual({ exitCode: null, signal: "SIGKILL", stderr: "" });
});

it("gives a connection the exit code and last output of an agent that exits before it answers", async () => {
  await using agent = await start("read line; echo 'no credit left' >&2; exit 7");
  await using connection = new Connection({
    transport: agent.transport,
    peer: "the agent",
    exit: () => agent.exit(),
  });
  await expect(connection.request("initialize")).rejects.toThrow(
    "the agent ended (exit code 7); its last output: no credit left",
  );
});

it("delivers output written before the exit to a late reader", async () => {
  await using agent = await start('i=0; while [ $i -lt 200 ]; do echo "line $i"; i=$((i+1)); done; printf last');
  await agent.exit();
  await new Promise((resolve) => setImmediate(resolve));
  const heard = listen(agent.transport);
  await heard.ended;
  expect(heard.lines).toEqual([...Array.from({ length: 200 }, (_, index) => `line ${index}`), "last"]);
});

it("delivers output written during shutdown", async () => {
  await using agent = await start("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done");
  const heard = listen(agent.transport);
  await heard.next();
  const exit = await agent.close({ eofMs: 10 });
  expect(exit.exitCode).toBe(0);
  expect(heard.lines).toEqual(["up", "bye"]);
});

it("sends SIGTERM to an agent that ignores the end of its input", async () => {
  await using agent = await start("echo up; exec sleep 60");
  await listen(agent.transport).next();
  expect(await agent.close({ eofMs: 10 })).toMatchObject({ signal: "SIGTERM" });
  expect(left()).toBe(0);
});

it("sends SIGKILL to an agent that ignores SIGTERM, and to its children", async () => {
  await using agent = await start(`trap '' TERM; (trap '' TERM; sleep 60) & echo up; while :; do sleep 1; done`);
  await listen(agent.transport).next();
  expect(await agent.close({ eofMs: 10, termMs: 50 })).toMatchObject({ signal: "SIGKILL" });
  expect(left()).toBe(0);
});

it("closes once for several calls", async () => {
  const agent = await start("echo up; exec sleep 60");
  await listen(agent.transport).next();
  const [first, second] = await Promise.all([agent.close({ eofMs: 10 }), agent.close()]);
  expect(second).toBe(first);
  expect(await agent.close()).toBe(first);
});

it("ends processes that outlive a wrapper and hold its output open", async () => {
  await using agent = await start("sh -c 'echo up; while :; do sleep 1; done' & echo $! >pid; read line; exit 4");
  const heard = listen(agent.transport);
  expect(await heard.next()).toBe("up");
  expect(left()).toBeGreaterThan(1);
  agent.transport.write("end\n");
  await heard.ended;
  expect(await agent.exit()).toMatchObject({ exitCode: 4 });
  await agent.close();
  expect(left()).toBe(0);
});

it("ends a process that left the group", async () => {
  await using agent = await start("setsid sh -c 'echo $$; exec sleep 60' & cat");
  const heard = listen(agent.transport);
  const stray = Number(await heard.next());
  // Linux shows no environment of a process during exec.
  await vi.waitFor(() => expect(processesMarked(agent.marker).map(({ pid }) => pid)).toContain(stray));
  await agent.close();
  expect(left()).toBe(0);
});

it("ends a process that left the group if the agent exits on its own", async () => {
  const agent = await start("setsid sh -c 'echo $$; sleep 60; true' & read line");
  const heard = listen(agent.transport);
  await heard.next();
  agent.transport.write("end\n");
  await heard.ended;
  await vi.waitFor(() => expect(left()).toBe(0)); // a killed process closes its output before it is gone
});

it("ends a process in the group that has no marker", async () => {
  await using agent = await start("env -i sh -c 'echo $$; while :; do sleep 1; done' & read line");
  const heard = listen(agent.transport);
  const pid = Number(await heard.next());
  agent.transport.write("end\n");
  await agent.close();
  await vi.waitFor(() => expect(startTimeOf(pid)).toBeUndefined());
});

it("does not affect another agent of the same owner", async () => {
  await using other = await run(["cat"]);
  await using agent = await run(["cat"]);
  await agent.close();
  expect(isAlive(other.identity)).toBe(true);
  expect(other.marker).not.toBe(agent.marker);
});

it("keeps the last 4 KiB of stderr as whole lines without control characters, and forwards all of it", async () => {
  let passed = 0;
  const script = `i=0; while [ $i -lt 2000 ]; do echo "line $i äöü" >&2; i=$((i+1)); done; printf '\\033[31mred\\033[0m\\007 \\033]0;title\\007end\\n' >&2`;
  await using agent = await start(script, { onStderr: (text) => (passed += text.length) });
  const { stderr } = await agent.exit();
  expect(Buffer.byteLength(stderr)).toBeLessThanOrEqual(4096);
  expect(Buffer.byteLength(stderr)).toBeGreaterThan(4000);
  expect(stderr).toMatch(/^line \d+ äöü\n/);
  expect(stderr.endsWith("line 1999 äöü\nred end\n")).toBe(true);
  expect(passed).toBeGreaterThan(2000 * "line 1 äöü".length);
  expect(agent.stderrTail).toBe(stderr);
});

it("skips a message that exceeds the limit", async () => {
  await using agent = await start("printf '%0100d\\n' 1; echo short", { maxMessageBytes: 50 });
  const heard = listen(agent.transport);
  await heard.ended;
  expect(heard.lines).toEqual(["short"]);
});

it.each([
  ["a missing program", ["no-such-program-here"], "no such program on the PATH"],
  ["a missing file", ["./no-such-file"], "there is no such file"],
  ["an empty command", [], "the agent's command is empty"],
  ["an argument with a null byte", ["cat", "a\0b"], "null bytes"],
])("explains why it cannot start %s", async (_, command, words) => {
  await expect(run(command)).rejects.toMatchObject({
    code: "agent_unavailable",
    message: expect.stringContaining(words) as string,
  });
});

it.each([
  ["a file that is not executable", "#!/bin/sh\n", 0o644, "may not execute"],
  ["a script whose interpreter is missing", "#!/no/such/interpreter\n", 0o755, "#! line"],
])("explains why it cannot start %s", async (_, content, mode, words) => {
  const path = join(folder.path, "program");
  await writeFile(path, content);
  await chmod(path, mode);
  await expect(run([path])).rejects.toMatchObject({
    code: "agent_unavailable",
    message: expect.stringContaining(words) as string,
  });
});

it("reports a missing working directory as such, not as a missing program", async () => {
  const missing = join(folder.path, "gone");
  await expect(run(["cat"], { cwd: missing })).rejects.toMatchObject({
    code: "cwd_missing",
    message: `cannot start cat: its working directory ${missing} does not exist`,
  });
  await writeFile(missing, "");
  await expect(run(["cat"], { cwd: missing })).rejects.toMatchObject({ code: "cwd_missing" });
});
