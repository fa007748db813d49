import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isAlive, processesMarked, settlesWithin, startTimeOf } from "../stdx/index.ts";
import { builtEnvironment } from "../testing/environment.ts";
import { temporaryFolder, type TemporaryFolder } from "../testing/repository.ts";
import { startPty, type AgentCommand, type AgentProcess, type Transport } from "./index.ts";

let folder: TemporaryFolder;
let owner = 0;
beforeEach(async () => {
  folder = await temporaryFolder();
  owner += 1;
});
afterEach(() => folder[Symbol.asyncDispose]());

const marker = () => `pty-owner-${process.pid}-${owner}`;
const left = () => processesMarked(marker()).length;

function run(command: readonly string[], more: Partial<AgentCommand> = {}): Promise<AgentProcess> {
  return startPty({
    command,
    cwd: folder.path,
    env: builtEnvironment({ home: folder.path }),
    marker: marker(),
    ...more,
  });
}

const start = (script: string, more: Partial<AgentCommand> = {}) => run(["sh", "-c", script], more);
const node = (script: string) => run([process.execPath, "-e", script]);

interface Heard {
  readonly lines: string[];
  readonly ended: Promise<void>;
  next(): Promise<string>;
  room(): Promise<void>;
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
    drained: () => void events.dispatchEvent(new Event("drained")),
    writeFailed: () => undefined,
  });
  return {
    lines,
    ended,
    async next() {
      while (lines.length <= taken) await once(events, "line");
      return lines[taken++]!;
    },
    room: () => once(events, "drained").then(() => undefined),
  };
}

it("gives the program a wide controlling terminal on all three streams", async () => {
  await using agent = await start(
    "tty; tty <&1; tty <&2; stty size; ps -o sid= -p $$; echo $$; : </dev/tty && echo controls",
  );
  const heard = listen(agent.transport);
  await heard.ended;
  const [first, second, third, size, session, pid, controls] = heard.lines;
  expect(first).toMatch(/^\/dev\/pts\/\d+$/);
  expect([second, third]).toEqual([first, first]);
  expect(size).toBe("50 200");
  expect(session?.trim()).toBe(pid);
  expect(Number(pid)).toBe(agent.identity.pid);
  expect(controls).toBe("controls");
});

it("forwards a megabyte line and many lines unchanged both ways, and ends at the end of its input", async () => {
  await using agent = await run(["cat"]);
  const heard = listen(agent.transport);
  const every = Array.from({ length: 256 }, (_, code) => String.fromCodePoint(code)).join("");
  const records = [
    { text: "é😀\u2028".repeat(120_000) },
    { text: every },
    ...Array.from({ length: 5_000 }, (_, n) => ({ n, text: "x".repeat(n % 1_100) })),
    { text: "y".repeat(1_000_000) },
  ];
  const sent = records.map((record) => JSON.stringify(record));
  for (const line of sent) if (!agent.transport.write(`${line}\n`)) await heard.room();
  await agent.transport.end();
  await heard.ended;
  expect(heard.lines.length).toBe(sent.length);
  expect(heard.lines.every((line, at) => line === sent[at])).toBe(true);
  expect(await agent.exit()).toMatchObject({ exitCode: 0, signal: null });
});

it("forwards every byte of UTF-8 text, and an unfinished last line", async () => {
  await using agent = await node(
    "const all = []; process.stdin.on('data', (bytes) => all.push(bytes)).on('end', () => console.log(Buffer.concat(all).toString('hex')))",
  );
  const heard = listen(agent.transport);
  const bytes = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join("");
  agent.transport.write(`${bytes}\r\n${"z".repeat(1_000)}\n${"z".repeat(1_001)}\nhalf`);
  await agent.transport.end();
  await heard.ended;
  const text = Buffer.from(heard.lines.join(""), "hex").toString();
  expect(text).toBe(`${bytes}\r\n${"z".repeat(1_000)}\n${"z".repeat(1_001)}\nhalf`);
});

it("signals the end of input to every reader, as a pipe does", async () => {
  await using agent = await start("cat; cat; cat; echo over");
  const heard = listen(agent.transport);
  agent.transport.write("once\n");
  await agent.transport.end();
  await heard.ended;
  expect(heard.lines).toEqual(["once", "over"]);
});

it("delivers the end of an input that is read late", async () => {
  await using agent = await start("read line; exec wc -c");
  const heard = listen(agent.transport);
  agent.transport.write(`go\n${"w".repeat(9_000)}`);
  await agent.transport.end();
  await heard.ended;
  expect(heard.lines).toEqual(["9000"]);
});

it("applies backpressure to the program, and delivers output written before its exit", async () => {
  const script = "for (let n = 0; n < 3000; n += 1) console.log(String(n).padEnd(200));";
  await using agent = await node(script);
  const heard = listen(agent.transport);
  await heard.next();
  agent.transport.pause();
  await settlesWithin(300, agent.exit());
  expect(isAlive(agent.identity)).toBe(true);
  expect(heard.lines.length).toBeLessThan(700); // what was read, and one buffer
  agent.transport.resume();
  await heard.ended;
  expect(heard.lines.map((line) => Number(line))).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
});

it("reports a full buffer, and drains when the program reads", async () => {
  await using agent = await start('read first; echo "$first"; exec wc -c');
  const heard = listen(agent.transport);
  agent.transport.write("begin\n");
  expect(await heard.next()).toBe("begin");
  const text = `${"v".repeat(999)}\n`.repeat(200);
  expect(agent.transport.write(text)).toBe(false);
  await heard.room();
  await agent.transport.end();
  await heard.ended;
  expect(heard.lines).toEqual(["begin", "200000"]);
});

it("delivers output written before the exit to a late reader", async () => {
  await using agent = await start(
    'i=0; while [ $i -lt 900 ]; do echo "line $i"; i=$((i+1)); done; printf last; exit 3',
  );
  expect(await agent.exit()).toMatchObject({ exitCode: 3 });
  const heard = listen(agent.transport);
  await heard.ended;
  expect(heard.lines).toEqual([...Array.from({ length: 900 }, (_, index) => `line ${index}`), "last"]);
});

it("reports the exit code and the last lines that are not JSON", async () => {
  await using agent = await start(`echo '{"type":"init"}'; echo 'the key is wrong' >&2; exit 3`);
  const heard = listen(agent.transport);
  await heard.ended;
  expect(await agent.exit()).toEqual({ exitCode: 3, signal: null, stderr: "the key is wrong\n" });
  await using killed = await start("kill -9 $$");
  expect(await killed.exit()).toMatchObject({ exitCode: null, signal: "SIGKILL" });
});

it.each([
  ["the end of its input", "echo up; exec cat", { exitCode: 0, signal: null }],
  ["SIGTERM", "echo up; exec sleep 60", { signal: "SIGTERM" }],
  [
    "SIGKILL",
    `trap '' TERM HUP; (trap '' TERM HUP; sleep 60) & echo up; while :; do sleep 1; done`,
    { signal: "SIGKILL" },
  ],
])("closes with %s if needed", async (_, script, exit) => {
  const agent = await start(script);
  await listen(agent.transport).next();
  const [first, second] = await Promise.all([agent.close({ eofMs: 300, termMs: 50 }), agent.close()]);
  expect(first).toMatchObject(exit);
  expect(second).toBe(first);
  expect(left()).toBe(0);
});

it("ends processes that left the session or outlive a wrapper", async () => {
  await using agent = await start("setsid sh -c 'trap \"\" HUP; echo $$; exec sleep 60' & read line; exit 4");
  const heard = listen(agent.transport);
  const stray = Number(await heard.next());
  await vi.waitFor(() => expect(processesMarked(agent.marker).map(({ pid }) => pid)).toContain(stray));
  agent.transport.write("end\n");
  expect(await agent.exit()).toMatchObject({ exitCode: 4 });
  await agent.close();
  expect(left()).toBe(0);
  expect(startTimeOf(stray)).toBeUndefined();
});

it.each([
  ["a missing program", ["no-such-program-here"], "no such program on the PATH"],
  ["a missing file", ["./no-such-file"], "there is no such file"],
  ["an empty command", [], "the agent's command is empty"],
])("explains why it cannot start %s", async (_, command, words) => {
  await expect(run(command)).rejects.toMatchObject({
    code: "agent_unavailable",
    message: expect.stringContaining(words) as string,
  });
  expect(left()).toBe(0);
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
});
