import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { RPC } from "../../acp/errors.ts";
import { deferred } from "../../stdx/index.ts";
import {
  selectOption,
  formatUpdates,
  isUpdateOfKind,
  receivedUpdates,
  type Message,
} from "../../server/acp/test-scene.ts";
import { call, say } from "../../testing/index.ts";
import { openEditorScene } from "./test-scene.ts";

const SLOW = say(Array<string>(500).fill("x "), { chunkDelayMs: 20 });

it("records a prompt as a turn with text, a permission and a diff", async () => {
  await using scene = await openEditorScene([
    call("write", { path: "a.txt", content: "one\n" }, { text: ["I will ", "write."] }),
    say("Done."),
  ]);
  const editor = await scene.editor({ serve: { permission: () => selectOption("allow") } });
  const session = await editor.client.session(scene.cwd).create();
  expect(await session.prompt("Write a.txt").finish()).toMatchObject({ stopReason: "end_turn" });
  expect(existsSync(join(scene.cwd, "a.txt"))).toBe(true);
  expect(formatUpdates(receivedUpdates(editor, session.id))).toEqual([
    "available_commands_update",
    "session_info_update",
    "says I will write.",
    "usage_update",
    "tool write a.txt pending",
    "tool in_progress",
    "tool completed diff content",
    "says Done.",
    "usage_update",
  ]);
  const { stdout } = await scene.fixture.rookery(["sessions", "show", session.id, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ id: session.id, turns: 1, lastOutcome: { status: "done" } });
});

it("cancels a prompt while a permission is pending", async () => {
  await using scene = await openEditorScene([call("bash", { command: "touch ran" }), say("again")]);
  const asked = deferred();
  const editor = await scene.editor({
    serve: { permission: () => (asked.resolve(), new Promise<never>(() => undefined)) },
  });
  const session = await editor.client.session(scene.cwd).create();
  const turn = session.prompt("Run it");
  await asked.promise;
  await turn.cancel();
  expect(await turn.finish()).toMatchObject({ stopReason: "cancelled" });
  expect(existsSync(join(scene.cwd, "ran"))).toBe(false);
  expect(await session.prompt("Again").readText()).toBe("again");
});

it("withdraws a permission request from the editor after rookery answer", async () => {
  await using scene = await openEditorScene([call("bash", { command: "touch ran" }), say("done")]);
  const asked = deferred();
  const takenBack = deferred();
  const editor = await scene.editor({
    serve: {
      permission: (_, { signal }) => {
        signal.addEventListener("abort", () => takenBack.resolve());
        asked.resolve();
        return new Promise<never>(() => undefined);
      },
    },
  });
  const session = await editor.client.session(scene.cwd).create();
  const turn = session.prompt("Run it");
  await asked.promise;
  expect(await scene.fixture.rookery(["answer", session.id, "r1", "allow"])).toMatchObject({ code: 0 });
  await takenBack.promise;
  expect(await turn.readText()).toBe("done");
  expect(existsSync(join(scene.cwd, "ran"))).toBe(true);
});

it("loads and continues a session after kill -9 in the middle of a turn", async () => {
  await using scene = await openEditorScene([
    call("bash", { command: "echo done-once >> runs" }, { text: "First." }),
    SLOW,
    say("Finished."),
    say("Next."),
  ]);
  const first = await scene.editor({ serve: { permission: () => selectOption("allow") } });
  const session = await first.client.session(scene.cwd).create();
  const turn = session.prompt("Go");
  turn.response.catch(() => undefined);
  await first.waitForMessage((message) => JSON.stringify(message).includes('"x '));
  process.kill(first.agent.identity.pid, "SIGKILL");
  await expect(turn.finish()).rejects.toMatchObject({ name: "ConnectionClosed" });
  await first.agent.exit();

  const second = await scene.editor();
  const loaded = await second.client.session(scene.cwd).load(session.id);
  const shown = formatUpdates(receivedUpdates(second, session.id));
  expect(shown.slice(0, 6)).toEqual([
    "user Go",
    "says First.",
    "usage_update",
    "tool bash: echo done-once >> runs pending",
    "tool in_progress",
    "tool completed content",
  ]);
  expect(shown[6]).toMatch(/^says x /);
  expect(await loaded.prompt("And then?").readText()).toMatch(/Finished\.Next\.$/);
  const { stdout } = await scene.fixture.rookery(["sessions", "show", session.id, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ turns: 2, lastOutcome: { status: "done" } });
});

it("writes only the protocol to stdout, even if a dependency prints", async () => {
  await using scene = await openEditorScene([call("write", { path: "a", content: "b" }), say("Done.")]);
  const noisy = join(scene.cwd, "noisy.cjs");
  // Prints when it is loaded and when it is used, as a dependency might.
  await writeFile(
    noisy,
    `const { Module } = require("node:module");
    const load = Module._load;
    Module._load = function (request, ...rest) {
      const loaded = load.call(this, request, ...rest);
      if (request !== "libsql") return loaded;
      console.log("libsql was loaded");
      process.stdout.write("without a newline");
      setInterval(() => { console.info("still there"); console.table([{ a: 1 }]); process.stdout.write("x\\n", () => {}); }, 1).unref();
      return loaded;
    };`,
  );
  const noise: unknown[] = [];
  const raw = scene.raw({ env: { NODE_OPTIONS: `--require ${noisy}` } });
  const send = (message: Message): void =>
    void raw.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const lines: Message[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    let rest = "";
    raw.child.stdout.on("data", (bytes: Buffer) => {
      const [last = "", ...whole] = (rest + bytes.toString()).split("\n").reverse();
      rest = last;
      for (const line of whole.reverse()) {
        try {
          lines.push(JSON.parse(line) as Message);
        } catch {
          reject(new Error(`no message: ${line}`));
        }
      }
      const sessionId = lines.find(({ id }) => id === 2)?.result as { sessionId: string } | undefined;
      if (sessionId !== undefined && !noise.includes("prompted")) {
        noise.push("prompted");
        send({ id: 3, method: "session/set_mode", params: { ...sessionId, modeId: "all" } });
        send({ id: 4, method: "session/prompt", params: { ...sessionId, prompt: [{ type: "text", text: "Go" }] } });
      }
      if (lines.some(({ id }) => id === 4)) resolve();
    });
  });
  send({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
  send({ id: 2, method: "session/new", params: { cwd: scene.cwd, mcpServers: [] } });
  await ended;
  raw.child.stdin.end();
  const { code, stderr } = await raw.ended;
  expect(code).toBe(0);
  expect(lines.find(({ id }) => id === 4)?.result).toMatchObject({ stopReason: "end_turn" });
  for (const words of ["libsql was loaded", "without a newline", "still there", "│ a │"])
    expect(stderr).toContain(words);
});

it.each(["the end of stdin", "SIGTERM", "SIGINT"] as const)(
  "%s cancels running turns, answers their prompts, and exits with 0",
  async (how) => {
    await using scene = await openEditorScene([SLOW, SLOW]);
    const editor = await scene.editor();
    const sessions = await Promise.all([1, 2].map(() => editor.client.session(scene.cwd).create()));
    const turns = sessions.map((session) => session.prompt("Go"));
    for (const turn of turns) turn.finish().catch(() => undefined);
    for (const { id } of sessions) {
      await editor.waitForMessage(
        (message) => isUpdateOfKind("agent_message_chunk")(message) && JSON.stringify(message).includes(id),
      );
    }
    if (how === "the end of stdin") await editor.agent.transport.end();
    else process.kill(editor.agent.identity.pid, how);
    expect(await Promise.all(turns.map(({ stopReason }) => stopReason))).toEqual(["cancelled", "cancelled"]);
    expect(await editor.agent.exit()).toMatchObject({ exitCode: 0, signal: null });
    for (const { id } of sessions) {
      const { stdout } = await scene.fixture.rookery(["sessions", "show", id, "--json"]);
      expect(JSON.parse(stdout)).toMatchObject({ status: "idle", lastOutcome: { status: "cancelled" } });
    }
  },
);

it("records a connection and prints it", async () => {
  await using scene = await openEditorScene([say("Hello")]);
  const file = join(scene.cwd, "trace.ndjson");
  const editor = await scene.editor({ args: ["acp", "--trace", file] });
  const session = await editor.client.session(scene.cwd).create();
  await session.prompt("Hi").finish();
  await editor.agent.transport.end();
  await editor.agent.exit();
  const { stdout, code } = await scene.fixture.rookery(["acp", "trace", file]);
  expect(code).toBe(0);
  for (const words of ["initialize", "session/new", "session/prompt", "Hello"]) expect(stdout).toContain(words);
});

it("rejects a trace file that cannot be written", async () => {
  await using scene = await openEditorScene([]);
  const { code, stderr } = await scene.fixture.rookery(["acp", "--trace", "/no/such/folder/x"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--trace: cannot write /no/such/folder/x")]);
});

it("rejects a session with an unknown agent", async () => {
  await using scene = await openEditorScene([]);
  const editor = await scene.editor({ args: ["acp", "--agent", "nobody"] });
  await expect(editor.client.session(scene.cwd).create()).rejects.toMatchObject({
    code: RPC.invalidParams,
    data: { code: "agent_unknown" },
  });
});
