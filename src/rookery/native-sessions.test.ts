import { symlink } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { mkdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { newId, SessionEvent, type EventOf, type EventType } from "../domain/index.ts";
import { collect, transcript } from "../testing/index.ts";
import { CLAUDE_ID, CODEX_ID, GEMINI_ID, openNativeScene, writeDeep, type NativeScene } from "./test-native-scene.ts";

const CLAUDE = { backend: "claude-code", nativeId: CLAUDE_ID } as const;

const eventsOf = <Type extends EventType>(events: readonly SessionEvent[], type: Type): EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

/** The lines of a session file of Claude Code. */
const lines = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const record = (uuid: string, parentUuid: string | null, type: string, content: unknown, more: object = {}) => ({
  uuid,
  parentUuid,
  type,
  cwd: "/somewhere",
  timestamp: "2026-01-02T03:04:05.678Z",
  message: { role: type, content, ...(type === "assistant" && { id: `msg-${uuid}`, stop_reason: "end_turn" }) },
  ...more,
});

async function adoptText(scene: NativeScene, text: string): Promise<string[]> {
  await scene.keepClaudeSession(() => text.replaceAll("/somewhere", scene.cwd));
  return transcript(await scene.events(await scene.rookery.adoptSession(CLAUDE)));
}

describe("a session of Claude Code", () => {
  it("is adopted with its history, and the next prompt resumes it without the history", async () => {
    await using scene = await openNativeScene();
    await scene.keepClaudeSession();
    const session = await scene.rookery.openSession({ adopt: CLAUDE });
    const imported = await scene.events(session.id);
    expect(transcript(imported)).toEqual([
      "opened claude",
      "started Please say hello.",
      "says Hello.",
      "ended done",
      "started Please make the file.",
      `tool touch '${scene.cwd}/made.txt'`,
      "tool ok",
      expect.stringMatching(/^says Done: \(Bash completed/),
      "ended done",
      "started Please write the file.",
      `tool Write ${scene.cwd}/written.txt`,
      "tool ok",
      expect.stringMatching(/^says Done: File created/),
      "ended done",
      "opened claude",
    ]);
    for (const event of imported) SessionEvent.parse(event);
    expect(eventsOf(imported, "agent.connected")).toMatchObject([
      { nativeId: CLAUDE_ID, how: "adopted", version: "2.1.325" },
    ]);
    expect(eventsOf(imported, "turn.started").map(({ at }) => at)).toEqual([
      "2026-11-18T20:02:01.528Z",
      "2026-11-18T20:02:03.892Z",
      "2026-11-18T20:02:06.658Z",
    ]);
    expect(eventsOf(imported, "tool.ended").at(-1)?.diffs).toEqual([
      { path: `${scene.cwd}/written.txt`, before: null, after: "first line\nsecond line\n" },
    ]);
    expect(eventsOf(imported, "notice")).toEqual([]);
    expect(session.state).toMatchObject({ nativeId: CLAUDE_ID, turns: 3, cwd: scene.cwd });
    expect(session.state.usage).toMatchObject({ inputTokens: 500, outputTokens: 100, costUsd: undefined });

    expect(transcript(await collect(session.prompt("And again")))).toContain("says Again.");
    const heard = await scene.heard();
    expect(heard[0]?.args).toContain(`--resume=${CLAUDE_ID}`);
    expect(heard.filter(({ type }) => type === "user").map(({ message }) => message)).toEqual([
      { role: "user", content: "And again" },
    ]);
    expect(eventsOf(await scene.events(session.id), "agent.connected").at(-1)?.how).toBe("resumed");
  });

  it("is found by search, and its fork and its summary have the conversation", async () => {
    await using scene = await openNativeScene();
    await scene.keepClaudeSession();
    const id = await scene.rookery.adoptSession({ ...CLAUDE, title: "Mine" });
    expect(await scene.store.summary(id)).toMatchObject({
      title: "Mine",
      turns: 3,
      status: "idle",
      nativeId: CLAUDE_ID,
      createdAt: "2026-11-18T20:02:00.916Z",
    });
    expect((await scene.rookery.search("written.txt")).matches[0]).toMatchObject({ sessionId: id });
    const fork = await scene.rookery.forkSession(id);
    expect(transcript(await scene.events(fork))).toContain("says Hello.");
    expect(await scene.store.summary(fork)).not.toHaveProperty("nativeId");
  });

  it("is listed for its directory, and names the session of Rookery that has it", async () => {
    await using scene = await openNativeScene();
    await scene.keepClaudeSession();
    const [found, ...others] = await scene.rookery.nativeSessions();
    expect(others).toEqual([]);
    expect(found).toMatchObject({ ...CLAUDE, cwd: scene.cwd, title: "Please say hello.", session: undefined });
    const id = await scene.rookery.adoptSession(CLAUDE);
    expect(await scene.rookery.nativeSessions({ backend: "claude-code" })).toMatchObject([{ session: id }]);
    expect(await scene.rookery.nativeSessions({ cwd: scene.home })).toEqual([]);
  });

  it("is refused while a session of Rookery has it, also one that Rookery started, and free when that is closed", async () => {
    await using scene = await openNativeScene();
    await scene.keepClaudeSession();
    const id = await scene.rookery.adoptSession(CLAUDE);
    await expect(scene.rookery.openSession({ adopt: CLAUDE })).rejects.toMatchObject({
      code: "native_session_in_use",
      message: expect.stringContaining(id) as string,
    });
    await scene.rookery.endSession(id);
    await using started = await scene.rookery.openSession({ agent: "claude" });
    await started.prompt("Hello").outcome;
    const { nativeId = "" } = started.state;
    await scene.keepClaudeSession(undefined, nativeId);
    await expect(scene.rookery.adoptSession({ ...CLAUDE, nativeId })).rejects.toMatchObject({
      code: "native_session_in_use",
      message: expect.stringContaining(started.id) as string,
    });
    expect(await scene.rookery.adoptSession(CLAUDE)).not.toBe(id);
  });

  it("is refused although a thousand newer sessions exist", async () => {
    await using scene = await openNativeScene();
    await scene.keepClaudeSession();
    const id = await scene.rookery.adoptSession(CLAUDE);
    const at = new Date().toISOString();
    const opened = { type: "session.opened", agent: "a", backend: "api", cwd: "/", permissions: "ask", at } as const;
    for (let count = 0; count < 1_001; count += 1)
      await scene.store.append({ sessionId: newId("ses"), id: newId("app"), expectedHead: 0, events: [opened] });
    await expect(scene.rookery.adoptSession(CLAUDE)).rejects.toMatchObject({
      code: "native_session_in_use",
      message: expect.stringContaining(id) as string,
    });
  });

  it("is adopted once by two calls at the same time", async () => {
    await using scene = await openNativeScene();
    await scene.keepClaudeSession();
    const both = await Promise.allSettled([scene.rookery.adoptSession(CLAUDE), scene.rookery.adoptSession(CLAUDE)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "native_session_in_use" },
    });
    expect(await scene.store.list()).toHaveLength(1);
  });

  it("leaves nothing behind if its agent cannot be opened or has another backend", async () => {
    await using scene = await openNativeScene();
    await scene.keepClaudeSession();
    await writeDeep(`${scene.home}/../steps.json`, JSON.stringify([{ exit: 1 }]));
    await expect(scene.rookery.openSession({ adopt: CLAUDE })).rejects.toThrow();
    await expect(scene.rookery.adoptSession({ ...CLAUDE, agent: "other" })).rejects.toMatchObject({
      code: "input_invalid",
    });
    expect(await scene.store.list()).toEqual([]);
    expect(await scene.store.list({ status: "copying" })).toEqual([]);
  });
});

describe("the history of Claude Code", () => {
  it("is the branch that ends last, with the results of parallel calls", async () => {
    await using scene = await openNativeScene();
    const call = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: id } });
    const result = (id: string) => [{ type: "tool_result", tool_use_id: id, content: `result of ${id}` }];
    const calling = { message: { id: "m", content: [call("one")], stop_reason: "tool_use" } };
    const text = lines(
      record("u0", null, "user", "dropped later"),
      record("a0", "u0", "assistant", [{ type: "text", text: "dropped answer" }]),
      record("u1", null, "user", "kept"),
      record("a1", "u1", "assistant", [], calling),
      record("a2", "a1", "assistant", [], { message: { ...calling.message, content: [call("two")] } }),
      record("r1", "a1", "user", result("one")),
      record("r2", "a2", "user", result("two")),
      record("s", "r2", "assistant", [{ type: "text", text: "from a sub-agent" }], { isSidechain: true }),
      record("a3", "r2", "assistant", [{ type: "text", text: "kept answer" }]),
    );
    expect(await adoptText(scene, text)).toEqual([
      "opened claude",
      "started kept",
      "tool one",
      "tool two",
      "tool ok",
      "tool ok",
      "says kept answer",
      "ended done",
      "opened claude",
    ]);
  });

  it("says which turns were interrupted, cut off or failed", async () => {
    await using scene = await openNativeScene();
    const call = { type: "tool_use", id: "t", name: "Bash", input: { command: "sleep 9" } };
    const text = lines(
      record("1", null, "user", "one"),
      record("2", "1", "assistant", [call], { message: { content: [call], stop_reason: "tool_use" } }),
      record("3", "2", "user", [{ type: "text", text: "[Request interrupted by user for tool use]" }]),
      record("4", "3", "user", "two"),
      record("5", "4", "assistant", [{ type: "text", text: "API Error: 500" }], { isApiErrorMessage: true }),
      record("6", "5", "user", "<command-name>/compact</command-name><command-args>now</command-args>"),
      record("7", "6", "user", "<local-command-stdout>done</local-command-stdout>"),
      record("8", "7", "user", "three"),
    );
    expect(await adoptText(scene, text)).toEqual([
      "opened claude",
      "started one",
      "tool sleep 9",
      "tool cancelled",
      "ended cancelled",
      "started two",
      "ended failed agent_failed",
      "started /compact now",
      "ended done",
      "started three",
      "ended failed interrupted",
      "opened claude",
    ]);
  });

  it("keeps images as blobs", async () => {
    await using scene = await openNativeScene();
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    const image = (data: string) => ({ type: "image", source: { type: "base64", media_type: "image/png", data } });
    const content = [{ type: "text", text: "look" }, image(png.toString("base64")), image("no image")];
    await scene.keepClaudeSession(() => lines(record("1", null, "user", content, { cwd: scene.cwd })));
    const events = await scene.events(await scene.rookery.adoptSession(CLAUDE));
    const [, blob, note] = eventsOf(events, "turn.started")[0]?.input ?? [];
    expect(blob).toMatchObject({ type: "blob", mediaType: "image/png" });
    expect(Buffer.from((await scene.store.getBlob(blob?.type === "blob" ? blob.hash : ""))!)).toEqual(png);
    expect(note).toMatchObject({ type: "text", text: expect.stringContaining("could not be imported") as string });
  });
});

describe("a bad session file", () => {
  it("is imported without damaged lines and unknown records, and a notice counts them", async () => {
    await using scene = await openNativeScene();
    const deep = `{"type":"user","uuid":"deep","parentUuid":"missing","message":{"content":${"[".repeat(100_000)}${"]".repeat(100_000)}}}\n`;
    await scene.keepClaudeSession((text) => {
      const [first = "", ...rest] = text.split("\n");
      const middle = rest.findIndex((line) => line.includes("Please make the file.") && line.includes('"user"'));
      // The first of them replaces the parent of the prompt.
      rest.splice(middle - 6, 1, '{"type":"from-the-future","uuid":7}', '{"broken', "[1]", '{"type":8}', deep.trim());
      return Buffer.concat([
        Buffer.from([first, ...rest].join("\n")),
        Buffer.from([0xff, 0xfe, 0x0a]),
        Buffer.from('{"type":"us'),
      ]);
    });
    const events = await scene.events(await scene.rookery.adoptSession(CLAUDE));
    expect(transcript(events).filter((line) => line.startsWith("started"))).toHaveLength(3);
    const [notice] = eventsOf(events, "notice");
    expect(notice).toMatchObject({ level: "warning", code: "history_incomplete" });
    expect(notice?.message).toContain("1 record of unknown type (from-the-future)");
    expect(notice?.message).toMatch(/[4-6] damaged lines/);
    for (const event of events) SessionEvent.parse(event);
  });

  it("is read with fields of wrong types", async () => {
    await using scene = await openNativeScene();
    const text = lines(
      record("1", null, "user", "hello"),
      {
        ...record("2", "1", "assistant", [7, null, { type: "text", text: 8 }, { type: "tool_use", id: 1 }]),
        timestamp: 9,
      },
      { ...record("3", "2", "user", [{ type: "tool_result", tool_use_id: {} }]), toolUseResult: "x", isMeta: "y" },
      {
        ...record("4", "3", "assistant", [{ type: "text", text: "fine" }]),
        version: [],
        message: { content: [{ type: "text", text: "fine" }], usage: { input_tokens: "1", output_tokens: -4 } },
      },
      { ...record("5", "4", "system", {}), message: 5, subtype: {} },
    );
    expect(await adoptText(scene, text)).toEqual([
      "opened claude",
      "started hello",
      "says fine",
      "ended done",
      "opened claude",
    ]);
  });

  it.each([
    ["is missing", () => Promise.resolve(), "native_session_not_found"],
    ["has no conversation", (path: string) => writeDeep(path, '{"type":"mode"}\n'), "native_session_unreadable"],
    ["is empty", (path: string) => writeDeep(path, ""), "native_session_unreadable"],
    [
      "is a symbolic link",
      async (path: string) => {
        await writeDeep(`${path}.elsewhere`, lines(record("1", null, "user", "a conversation")));
        await symlink(`${path}.elsewhere`, path);
      },
      "native_session_unreadable",
    ],
    ["is a FIFO", (path: string) => makeIn(path, () => execFileSync("mkfifo", [path])), "native_session_unreadable"],
    ["is a directory", (path: string) => mkdir(path, { recursive: true }), "native_session_unreadable"],
  ])("is refused if it %s", async (_, make, code) => {
    await using scene = await openNativeScene();
    await make(scene.claudeFile());
    await expect(scene.rookery.adoptSession(CLAUDE)).rejects.toMatchObject({ code });
    expect(await scene.rookery.nativeSessions()).toEqual([]);
    expect(await scene.store.list()).toEqual([]);
  });

  it.each(["../../../etc/passwd", "a/b", "..", "-p", "", "a\u0000b", "x".repeat(300)])(
    "is not looked for with the id %j",
    async (nativeId) => {
      await using scene = await openNativeScene();
      await expect(scene.rookery.openSession({ adopt: { ...CLAUDE, nativeId } })).rejects.toMatchObject({
        code: "input_invalid",
      });
    },
  );

  it("is not adopted together with an id, or with unknown fields", async () => {
    await using scene = await openNativeScene();
    for (const options of [
      { id: "ses_1", adopt: CLAUDE },
      { adopt: { ...CLAUDE, more: 1 } },
      { adopt: { backend: "api" } },
    ])
      await expect(scene.rookery.openSession(options as never)).rejects.toMatchObject({ code: "input_invalid" });
  });
});

async function makeIn(path: string, make: () => unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await make();
}

const CODEX = { backend: "codex", nativeId: CODEX_ID } as const;

describe("a session of Codex", () => {
  it("is adopted with its history", async () => {
    await using scene = await openNativeScene();
    await scene.keepCodexSession();
    expect(await scene.rookery.nativeSessions()).toMatchObject([
      { ...CODEX, cwd: scene.cwd, title: "Please say hello.", session: undefined },
    ]);
    const id = await scene.rookery.adoptSession(CODEX);
    const imported = await scene.events(id);
    expect(transcript(imported)).toEqual([
      "opened codex",
      "started Please say hello.",
      "says Hello.",
      "ended done",
      "started Please make the file.",
      `tool touch '${scene.cwd}/made.txt'`,
      "tool ok",
      expect.stringMatching(/^says Done: Chunk ID/),
      "ended done",
      "started Please write the file.",
      `tool Write ${scene.cwd}/written.txt`,
      "tool ok",
      expect.stringMatching(/^says Done: Wall time/),
      "ended done",
      "opened codex",
    ]);
    for (const event of imported) SessionEvent.parse(event);
    expect(eventsOf(imported, "tool.started")[0]).toMatchObject({ kind: "execute", input: { cwd: scene.cwd } });
    expect(eventsOf(imported, "tool.ended")[1]?.diffs).toEqual([
      { path: `${scene.cwd}/written.txt`, before: null, after: "first line\nsecond line\n" },
    ]);
    expect(eventsOf(imported, "usage.reported").map(({ inputTokens }) => inputTokens)).toEqual([100, 200, 200]);
    expect(eventsOf(imported, "notice")).toEqual([]);
    expect(await scene.store.summary(id)).toMatchObject({ nativeId: CODEX_ID, turns: 3, backend: "codex" });
  });

  it("is imported without turns that were taken back, and says which were aborted, failed or cut off", async () => {
    await using scene = await openNativeScene();
    const event = (type: string, more: object = {}) => ({ type: "event_msg", payload: { type, ...more } });
    const item = (fields: object) => event("item_completed", { item: fields });
    const said = (text: string) => item({ type: "UserMessage", id: text, content: [{ type: "text", text }] });
    const answer = (text: string) => item({ type: "AgentMessage", id: text, content: [{ type: "Text", text }] });
    const text = lines(
      { type: "session_meta", payload: { id: CODEX_ID, cwd: scene.cwd } },
      ...[event("task_started"), said("one"), answer("1"), event("task_complete")],
      ...[event("task_started"), said("undone"), said("steered"), answer("2"), event("task_complete")],
      event("thread_rolled_back", { num_turns: 1 }),
      ...[event("task_started"), said("three"), said("more"), event("turn_aborted", { reason: "interrupted" })],
      ...[event("task_started"), said("four"), event("error", { message: "no credit" }), event("task_complete")],
      ...[event("task_started"), said("five"), item({ type: "FromTheFuture", id: "x" }), item({ type: "FileChange" })],
      { type: "tomorrow", payload: 7 },
    );
    await scene.keepCodexSession(() => text);
    const events = await scene.events(await scene.rookery.adoptSession(CODEX));
    expect(transcript(events)).toEqual([
      "opened codex",
      "started one",
      "says 1",
      "ended done",
      "started three",
      expect.stringContaining("more"),
      "ended cancelled",
      "started four",
      "ended failed agent_failed",
      "started five",
      "ended failed interrupted",
      "notice history_incomplete",
      "opened codex",
    ]);
    expect(eventsOf(events, "notice")[0]?.message).toContain("tomorrow, item FromTheFuture, item FileChange");
  });

  it("is imported from a file of a version without items", async () => {
    await using scene = await openNativeScene();
    const event = (type: string, more: object) => ({ type: "event_msg", payload: { type, ...more } });
    const call = (type: string, more: object) => ({ type: "response_item", payload: { type, call_id: "c", ...more } });
    const text = lines(
      { type: "session_meta", payload: { id: CODEX_ID, cwd: scene.cwd, cli_version: "0.50.0" } },
      event("user_message", { message: "list", images: [] }),
      event("agent_reasoning", { text: "I list." }),
      call("function_call", { name: "shell", arguments: '{"command":["bash","-lc","ls"]}' }),
      call("function_call_output", { output: '{"output":"a.txt","metadata":{"exit_code":2}}' }),
      event("agent_message", { message: "a.txt" }),
      event("user_message", { message: "again" }),
    );
    await scene.keepCodexSession(() => text);
    const events = await scene.events(await scene.rookery.adoptSession(CODEX));
    expect(transcript(events)).toEqual([
      "opened codex",
      "started list",
      "tool ls",
      "tool failed",
      "says a.txt",
      "ended done",
      "started again",
      "ended failed interrupted",
      "opened codex",
    ]);
    expect(eventsOf(events, "thought.delta")).toMatchObject([{ text: "I list." }]);
  });

  it("is refused without a conversation, and not listed if it is a sub-agent's or another directory's", async () => {
    await using scene = await openNativeScene();
    const meta = (cwd: string, source: unknown) =>
      lines({ type: "session_meta", payload: { id: CODEX_ID, cwd, source } });
    const prompt = lines({ type: "event_msg", payload: { type: "user_message", message: "hi" } });
    await scene.keepCodexSession(() => meta(scene.cwd, "cli"));
    await expect(scene.rookery.adoptSession(CODEX)).rejects.toMatchObject({ code: "native_session_unreadable" });
    await scene.keepCodexSession(() => meta("/elsewhere", "cli") + prompt);
    expect(await scene.rookery.nativeSessions()).toEqual([]);
    await expect(scene.rookery.adoptSession(CODEX)).rejects.toMatchObject({ code: "cwd_missing" });
    await scene.keepCodexSession(() => meta(scene.cwd, { subagent: "review" }) + prompt);
    expect(await scene.rookery.nativeSessions()).toEqual([]);
    await expect(
      scene.rookery.adoptSession({ ...CODEX, nativeId: "01a1f040-0000-7d80-8c3d-688b2fb1eaba" }),
    ).rejects.toMatchObject({ code: "native_session_not_found" });
  });
});

const GEMINI = { backend: "gemini-cli", nativeId: GEMINI_ID } as const;

describe("a session of Gemini CLI", () => {
  it("is adopted with its history, from the file with the longest conversation", async () => {
    await using scene = await openNativeScene();
    await scene.keepGeminiSession();
    await scene.keepGeminiSession((text) => text.split("\n").slice(0, 5).join("\n"), "2026-11-18T20-03");
    expect(await scene.rookery.nativeSessions()).toMatchObject([
      { ...GEMINI, cwd: scene.cwd, title: "Please say hello.", session: undefined },
    ]);
    const id = await scene.rookery.adoptSession(GEMINI);
    const imported = await scene.events(id);
    expect(transcript(imported)).toEqual([
      "opened gemini",
      "started Please say hello.",
      "says Hello.",
      "ended done",
      "started Please make the file.",
      `tool touch '${scene.cwd}/made.txt'`,
      "tool ok",
      expect.stringMatching(/^says Done: /),
      "ended done",
      "opened gemini", // the program dropped the last prompt, which the model refused
    ]);
    for (const event of imported) SessionEvent.parse(event);
    expect(eventsOf(imported, "usage.reported").map(({ inputTokens }) => inputTokens)).toEqual([100, 100, 100]);
    expect(eventsOf(imported, "notice")).toEqual([]);
    expect(await scene.store.summary(id)).toMatchObject({ nativeId: GEMINI_ID, turns: 2, backend: "gemini-cli" });
  });

  it("is imported as it is after changes, without what the user took back, and with what is unknown counted", async () => {
    await using scene = await openNativeScene();
    const user = (id: string, text: string) => ({ id, type: "user", content: [{ text }] });
    const tokens = { input: 10, output: 2, cached: 4, thoughts: 3, tool: 0, total: 15 };
    const reply = (id: string, content: string, more: object = {}) => ({
      id,
      type: "gemini",
      content,
      tokens,
      ...more,
    });
    const failed = { id: "c", name: "run_shell_command", args: { command: "x" }, status: "error", result: [7] };
    const text = lines(
      { sessionId: GEMINI_ID, startTime: "2026-01-02T03:04:05Z", kind: "main" },
      ...[user("1", "dropped"), reply("2", "dropped")],
      { $set: { messages: [user("3", "one"), 5, reply("4", "half")] } },
      reply("4", "whole", { thoughts: [{ subject: "Plan", description: "think" }], toolCalls: [failed] }),
      reply("5", "done"),
      ...[user("6", "taken back"), reply("7", "taken back"), { $rewindTo: "6" }],
      ...[user("8", "two"), { id: "9", type: "error", content: "no quota" }],
      ...[user("10", "three"), { id: "11", type: "hologram", content: [] }, { $unset: 1 }],
    );
    await scene.keepGeminiSession(() => text);
    const events = await scene.events(await scene.rookery.adoptSession(GEMINI));
    expect(transcript(events)).toEqual([
      "opened gemini",
      "started one",
      "says whole",
      "tool x",
      "tool failed",
      "says done",
      "ended done",
      "started two",
      "ended failed agent_failed",
      "started three",
      "ended failed interrupted",
      "notice history_incomplete",
      "opened gemini",
    ]);
    expect(eventsOf(events, "thought.delta")).toMatchObject([{ text: "Plan: think" }]);
    expect(eventsOf(events, "usage.reported")[0]).toMatchObject({
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 4,
      reasoningTokens: 3,
    });
    expect(eventsOf(events, "notice")[0]?.message).toContain("2 records of unknown type (record, hologram)");
  });

  it("is refused without a conversation, and unknown by another id", async () => {
    await using scene = await openNativeScene();
    await scene.keepGeminiSession(() => lines({ sessionId: GEMINI_ID, kind: "main" }));
    expect(await scene.rookery.nativeSessions()).toEqual([]);
    await expect(scene.rookery.adoptSession(GEMINI)).rejects.toMatchObject({ code: "native_session_unreadable" });
    await expect(scene.rookery.adoptSession({ ...GEMINI, nativeId: "4560a05c-1" })).rejects.toMatchObject({
      code: "native_session_not_found",
    });
  });
});
