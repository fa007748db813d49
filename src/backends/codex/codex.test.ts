import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { SessionEvent } from "../../domain/index.ts";
import { Rookery, type OpenSessionOptions } from "../../rookery.ts";
import type { Session } from "../../session/index.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, temporaryFolder, transcript } from "../../testing/index.ts";

const CODEX = fileURLToPath(new URL("test-codex.mjs", import.meta.url));

interface CodexScript {
  readonly turn?: readonly (readonly unknown[])[];
  readonly end?: object;
  /** Steps after the turn ends, and after a conversation is resumed. */
  readonly after?: readonly (readonly unknown[])[];
  readonly resumed?: readonly (readonly unknown[])[];
  readonly account?: object;
  readonly config?: object;
  readonly provider?: string;
  /** Whether it lacks `app-server`. */
  readonly isOld?: boolean;
  /** Output of `exec`. */
  readonly exec?: readonly object[];
}

async function openScene(script: CodexScript, toml = "") {
  const owned = new DisposeStack();
  const home = owned.use(await temporaryFolder());
  const env = builtEnvironment({ home: home.path, extra: { CODEX_API_KEY: "fake" } });
  const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  const [file, record] = [join(home.path, "script.json"), join(home.path, "record.ndjson")];
  await writeFile(file, JSON.stringify(script));
  const command = JSON.stringify([process.execPath, CODEX, file, record]);
  await writeFile(join(folder, "rookery.toml"), `[agents.it]\nbackend = "codex"\ncommand = ${command}\n${toml}\n`);
  const store = owned.use(openMemoryStore());
  const rookery = owned.use(await Rookery.open({ env, cwd: home.path, store }));
  return {
    open: (options: OpenSessionOptions = {}) => rookery.openSession({ agent: "it", ...options }),
    heard: async () =>
      (await readFile(record, "utf8"))
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Runs a turn and answers its requests in this order. */
async function play(session: Session, ...answers: Parameters<Session["answer"]>[1][]): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of session.prompt("Go")) {
    events.push(event);
    const answer =
      event.type === "permission.requested" || event.type === "question.asked" ? answers.shift() : undefined;
    if (answer !== undefined && "requestId" in event) await session.answer(event.requestId, answer);
  }
  return events;
}

const said = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "message.completed" ? [event.text] : []));
const notices = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "notice" ? [`${event.code}: ${event.message}`] : []));
const item = (what: object) => ["notify", "item/completed", { item: what }] as const;
const command = { type: "commandExecution", id: "c1", command: "/bin/bash -lc 'make it'", cwd: "/project" };
const begun = ["notify", "item/started", { item: { ...command, status: "inProgress" } }] as const;
const approval = "item/commandExecution/requestApproval";
const CHANGE = {
  path: "/nowhere/a.txt",
  kind: { type: "update", move_path: null },
  diff: "@@ -7,2 +7,2 @@\n a\n-b\n+c\n",
};

it("keeps unknown notifications unchanged, and refuses unknown requests", async () => {
  await using scene = await openScene({
    turn: [
      ["notify", "thread/novelty", { of: "tomorrow" }],
      item({ type: "hologram", id: "h1" }),
      ["ask", "item/hologram/show", {}],
    ],
  });
  const events = await play(await scene.open());
  expect(events.filter(({ type }) => type === "agent.raw")).toMatchObject([
    { data: { method: "thread/novelty" } },
    { data: { method: "item/completed", params: { item: { type: "hologram" } } } },
  ]);
  expect(said(events)).toEqual(['{"code":-32601,"message":"Rookery does not support the method item/hologram/show"}']);
});

it("asks again if a command is requested a second time", async () => {
  const again = { itemId: "c1", command: command.command, reason: "without the sandbox" };
  await using scene = await openScene({ turn: [begun, ["ask", approval, { itemId: "c1" }], ["ask", approval, again]] });
  const events = await play(await scene.open(), { decision: "allow" }, { decision: "deny", message: "no" });
  expect(said(events)).toEqual(['{"decision":"accept"}', '{"decision":"decline"}']);
  const lines = transcript(events);
  expect(lines).toContain("asks r1 make it");
  expect(lines).toContain("asks r2 make it (without the sandbox)");
});

it("asks about leaving the sandbox although the command is always allowed", async () => {
  const outside = { itemId: "c1", command: command.command, reason: "without the sandbox" };
  await using scene = await openScene({
    turn: [begun, ["ask", approval, { itemId: "c1" }], ["ask", approval, outside]],
  });
  const allowed = { decision: "allow", scope: "session", prefix: "make it" } as const;
  const events = await play(await scene.open(), allowed, { decision: "deny", message: "no" });
  expect(said(events)).toEqual(['{"decision":"accept"}', '{"decision":"decline"}']);
});

it("asks about a file change with its diff", async () => {
  await using scene = await openScene({
    turn: [
      ["notify", "item/started", { item: { type: "fileChange", id: "f1", status: "inProgress", changes: [CHANGE] } }],
      ["ask", "item/fileChange/requestApproval", { itemId: "f1" }],
    ],
  });
  const events = await play(await scene.open(), { decision: "deny" });
  expect(events.find(({ type }) => type === "permission.requested")).toMatchObject({
    diffs: [{ path: "/nowhere/a.txt", before: "a\nb\n", after: "a\nc\n", line: 7 }],
  });
});

it("asks for network access and additional permissions by what they grant", async () => {
  const network = { itemId: "c1", networkApprovalContext: { host: "example.org", protocol: "https" } };
  const more = { itemId: "p1", reason: "To build", permissions: { network: { enabled: true }, fileSystem: null } };
  await using scene = await openScene({
    turn: [begun, ["ask", approval, network], ["ask", "item/permissions/requestApproval", more]],
  });
  const events = await play(await scene.open(), { decision: "deny" }, { decision: "allow" });
  expect(transcript(events)).toEqual(expect.arrayContaining(["asks r1 Reach example.org", "asks r2 To build"]));
  expect(said(events)).toEqual([
    '{"decision":"decline"}',
    '{"permissions":{"network":{"enabled":true}},"scope":"turn"}',
  ]);
});

it("asks for approval of MCP tool calls and forwards elicitations", async () => {
  const call = {
    type: "mcpToolCall",
    id: "m1",
    server: "notes",
    tool: "note",
    status: "inProgress",
    arguments: { a: 1 },
  };
  const may = {
    serverName: "notes",
    mode: "form",
    message: "Allow?",
    _meta: { codex_approval_kind: "mcp_tool_call", tool_params: { a: 1 } },
  };
  const wants = {
    serverName: "notes",
    mode: "form",
    message: "Which?",
    requestedSchema: { type: "object", properties: { colour: { type: "string" } } },
  };
  await using scene = await openScene({
    turn: [
      ["notify", "item/started", { item: call }],
      ["ask", "mcpServer/elicitation/request", may],
      ["ask", "mcpServer/elicitation/request", wants],
    ],
  });
  const events = await play(
    await scene.open(),
    { decision: "allow" },
    { action: "accept", content: { colour: "red" } },
  );
  expect(transcript(events)).toContain("asks r1 mcp__notes__note");
  expect(said(events)).toEqual([
    '{"action":"accept","content":{},"_meta":null}',
    '{"action":"accept","content":{"colour":"red"},"_meta":null}',
  ]);
});

it("does not mistake a client's server for Rookery's, even with the same name", async () => {
  const may = {
    serverName: "rookery",
    mode: "form",
    message: "Allow?",
    _meta: { codex_approval_kind: "mcp_tool_call", tool_params: {} },
  };
  await using scene = await openScene({ turn: [["ask", "mcpServer/elicitation/request", may]] });
  const brought = { type: "http", name: "rookery", url: "http://127.0.0.1:1/mcp", headers: {} } as const;
  const events = await play(await scene.open({ mcpServers: [brought] }), { decision: "deny" });
  expect(said(events)).toEqual(['{"action":"decline","content":null,"_meta":null}']);
  const start = (await scene.heard()).find(({ method }) => method === "thread/start");
  expect(start).toMatchObject({ params: { config: { mcp_servers: { "client-rookery": { url: brought.url } } } } });
});

it("declines a question for a secret, which would be logged", async () => {
  const questions = [
    { id: "q", header: "", question: "Your password?", isSecret: true, isOther: false, options: null },
  ];
  await using scene = await openScene({ turn: [["ask", "item/tool/requestUserInput", { questions }]] });
  const events = await play(await scene.open());
  expect(said(events)).toEqual(['{"answers":{}}']);
  expect(notices(events).join()).toContain("question_declined");
});

it("withdraws a request that Codex resolved otherwise", async () => {
  const questions = [{ id: "q", header: "", question: "Which?", isOther: false, options: null }];
  await using scene = await openScene({
    turn: [
      ["drop", "item/tool/requestUserInput", { questions }],
      ["notify", "serverRequest/resolved", { requestId: 0 }],
      begun,
      ["ask", approval, { itemId: "c1" }],
    ],
  });
  const session = await scene.open();
  let isWithdrawn = false;
  let waiting: string | undefined;
  // The command is answered only if the question is withdrawn.
  for await (const event of session.prompt("Go")) {
    isWithdrawn ||= event.type === "question.answered";
    if (event.type === "permission.requested") waiting = event.requestId;
    if (!isWithdrawn || waiting === undefined) continue;
    await session.answer(waiting, { decision: "deny" });
    waiting = undefined;
  }
  expect(isWithdrawn).toBe(true);
});

it("discards a message if Codex retries the request", async () => {
  const error = { message: "Reconnecting... 1/5", codexErrorInfo: null, additionalDetails: "cut off" };
  await using scene = await openScene({
    turn: [
      ["notify", "item/agentMessage/delta", { itemId: "a", delta: "Hel" }],
      ["notify", "error", { error, willRetry: true }],
      ["notify", "item/agentMessage/delta", { itemId: "b", delta: "Hello" }],
      item({ type: "agentMessage", id: "b", text: "Hello" }),
    ],
  });
  const events = await play(await scene.open());
  expect(said(events)).toEqual(["Hello"]);
  expect(notices(events)).toEqual(["agent_retries: Reconnecting... 1/5: cut off"]);
});

it("ignores other conversations of the same program", async () => {
  await using scene = await openScene({
    turn: [
      ["notify", "item/completed", { threadId: "thread-2", item: { type: "agentMessage", id: "x", text: "psst" } }],
      item({ type: "agentMessage", id: "a", text: "Hello" }),
    ],
  });
  expect(said(await play(await scene.open()))).toEqual(["Hello"]);
});

it("records thoughts, plans, searches and unfinished tools", async () => {
  const plan = [
    { step: "one", status: "completed" },
    { step: "two", status: "inProgress" },
  ];
  await using scene = await openScene({
    turn: [
      ["notify", "item/reasoning/summaryTextDelta", { itemId: "r", delta: "Hm" }],
      item({ type: "reasoning", id: "r", summary: ["Hm"], content: [] }),
      ["notify", "turn/plan/updated", { plan }],
      ["notify", "item/started", { item: { type: "webSearch", id: "w", query: "" } }],
      item({ type: "webSearch", id: "w", query: "rooks", action: null }),
      begun,
      ["notify", "item/commandExecution/outputDelta", { itemId: "c1", delta: "making" }],
    ],
  });
  const events = await play(await scene.open());
  expect(events.flatMap((event) => (event.type === "thought.delta" ? [event.text] : []))).toEqual(["Hm"]);
  expect(events.find(({ type }) => type === "plan.updated")).toMatchObject({
    entries: [
      { content: "one", status: "completed" },
      { content: "two", status: "in_progress" },
    ],
  });
  expect(events.filter(({ type }) => type === "tool.ended")).toMatchObject([
    { toolId: "w", outcome: "ok", text: "rooks" },
    { toolId: "c1", outcome: "unknown" },
  ]);
  expect(events.filter(({ type }) => type === "tool.updated")).toMatchObject([{ title: "rooks" }, { text: "making" }]);
});

const tokens = (input: number, output: number) => ({
  totalTokens: input + output,
  inputTokens: input,
  outputTokens: output,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  reasoningOutputTokens: 0,
});

const usage = (total: object, last: object) =>
  ["notify", "thread/tokenUsage/updated", { tokenUsage: { total, last, modelContextWindow: 1_000 } }] as const;

it("reports only the turn's usage in a resumed conversation", async () => {
  await using scene = await openScene({
    turn: [usage(tokens(1_100, 110), tokens(100, 10)), usage(tokens(1_300, 130), tokens(200, 20))],
  });
  const first = await scene.open();
  await play(first);
  await first[Symbol.asyncDispose]();
  const events = await play(await scene.open({ id: first.id }));
  expect(events.filter(({ type }) => type === "usage.reported")).toMatchObject([
    { inputTokens: 300, outputTokens: 30, contextUsed: 220, contextSize: 1_000, model: "m" },
  ]);
});

it("does not count the usage of an earlier turn again after a resume", async () => {
  await using scene = await openScene({
    resumed: [usage(tokens(1_000, 100), tokens(400, 40))],
    turn: [usage(tokens(1_300, 130), tokens(300, 30))],
  });
  const first = await scene.open();
  await play(first);
  await first[Symbol.asyncDispose]();
  const events = await play(await scene.open({ id: first.id }));
  expect(events.filter(({ type }) => type === "usage.reported")).toMatchObject([
    { inputTokens: 300, outputTokens: 30 },
  ]);
});

it("does not attribute late output of an earlier turn to the next", async () => {
  await using scene = await openScene({
    turn: [item({ type: "agentMessage", id: "a", text: "Hello" })],
    after: [
      ["notify", "item/completed", { turnId: "turn-1", item: { type: "agentMessage", id: "late", text: "and more" } }],
      ["notify", "turn/completed", { turn: { id: "turn-1", status: "interrupted", error: null } }],
    ],
  });
  const session = await scene.open();
  await play(session);
  const second = await play(session);
  expect(said(second)).toEqual(["Hello"]);
  expect(transcript(second).at(-1)).toBe("ended done");
});

it.each([
  ["modelNotFound", "no such model", "model_not_found"],
  [{ httpConnectionFailed: { httpStatusCode: 401 } }, "bad key", "provider_auth"],
  [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, "too many", "provider_rate_limited"],
  ["other", '{"error": {"message": "as it was sent"}}', "agent_failed"],
])("fails a turn with a message after %j", async (codexErrorInfo, message, code) => {
  await using scene = await openScene({ turn: [], end: { status: "failed", error: { message, codexErrorInfo } } });
  const session = await scene.open();
  const outcome = await session.prompt("Go").outcome;
  expect(outcome).toMatchObject({ status: "failed", code });
  expect(JSON.stringify(outcome)).toMatch(/no such model|bad key|too many|as it was sent/);
});

it("reports the last output of a program that exited", async () => {
  await using scene = await openScene({ turn: [["exit", 3, "out of feathers\n"]] });
  const session = await scene.open();
  expect(await session.prompt("Go").outcome).toEqual({
    status: "failed",
    code: "agent_exited",
    message: "codex exited with code 3: out of feathers",
  });
});

it("ends a program that closed its output but keeps running, and its turn", async () => {
  await using scene = await openScene({ turn: [["fallSilent"]] });
  const session = await scene.open();
  expect(await session.prompt("Go").outcome).toMatchObject({ status: "failed", code: "agent_exited" });
}, 15_000);

it("requires a login for OpenAI, but not for another endpoint", async () => {
  const account = { account: null, requiresOpenaiAuth: true };
  await using loggedOut = await openScene({ turn: [], account, provider: "openai" });
  await expect(loggedOut.open()).rejects.toMatchObject({
    code: "provider_auth",
    message: expect.stringContaining("codex login") as string,
  });
  await using elsewhere = await openScene({
    turn: [],
    account,
    provider: "openai",
    config: { openai_base_url: "http://127.0.0.1:1" },
  });
  await elsewhere.open();
});

it("asks for everything without a mode, and lists the valid modes", async () => {
  await using scene = await openScene({ turn: [] });
  await scene.open();
  const starts = (await scene.heard()).filter(({ method }) => method === "thread/start");
  expect(starts).toMatchObject([{ params: { approvalPolicy: "untrusted", sandbox: "workspace-write" } }]);
  await using wrong = await openScene({ turn: [] }, 'mode = "yolo"');
  await expect(wrong.open()).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("read-only, workspace-write, danger-full-access") as string,
  });
});

it("never lets a mode allow what the session forbids, even after a policy change", async () => {
  await using scene = await openScene({ turn: [] }, 'mode = "danger-full-access"');
  const session = await scene.open({ permissions: "ask" });
  await play(session);
  await session.change({ permissions: "read" });
  await play(session);
  const starts = (await scene.heard()).filter(({ method }) => String(method).startsWith("thread/"));
  expect(starts).toMatchObject([
    { method: "thread/start", params: { approvalPolicy: "never", sandbox: "danger-full-access" } },
    { method: "thread/resume", params: { approvalPolicy: "untrusted", sandbox: "read-only" } },
  ]);
});

it.each(["read", "none"] as const)("restricts exec to reading with permissions %s in any mode", async (permissions) => {
  await using scene = await openScene({ isOld: true, exec: EXEC }, 'mode = "danger-full-access"');
  await play(await scene.open({ permissions }));
  expect((await scene.heard()).at(-1)).toMatchObject({ args: expect.arrayContaining(["read-only"]) as string[] });
});

it("repeats the instructions if exec exited before it had a session", async () => {
  await using scene = await openScene({ isOld: true, exec: [] });
  const session = await scene.open();
  for (const word of ["one", "two"]) await session.prompt(word).outcome;
  expect((await scene.heard()).at(-1)).toMatchObject({ stdin: expect.stringContaining("User: one") as string });
});

const EXEC = [
  { type: "thread.started", thread_id: "thread-1" },
  { type: "item.completed", item: { id: "item_0", type: "agent_message", text: "Hello" } },
  { type: "turn.completed", usage: { input_tokens: 10, output_tokens: 1 } },
];

it("uses exec for a version without app-server, reports that once, and restricts it to reading", async () => {
  await using scene = await openScene({ isOld: true, exec: EXEC });
  const session = await scene.open();
  const first = await play(session);
  expect(said(first)).toEqual(["Hello"]);
  expect(notices(first).join()).toContain("codex_exec");
  expect(notices(await play(session))).toEqual([]);
  const runs = (await scene.heard()).map(({ args }) => args as string[]);
  expect(runs.map(([subcommand]) => subcommand)).toEqual(["app-server", "exec", "exec"]);
  expect(runs[1]).toEqual(["exec", "--json", "--skip-git-repo-check", "-s", "read-only", "-"]);
  expect(runs[2]?.slice(-3)).toEqual(["resume", "thread-1", "-"]);
});

it("lets exec write if all is allowed, and keeps secrets out of its arguments", async () => {
  await using scene = await openScene({ isOld: true, exec: EXEC });
  const session = await scene.open({
    permissions: "all",
    mcpServers: [
      { type: "http", name: "far", url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer sesame" } },
      { type: "stdio", name: "near", command: "near", args: [], env: { NEAR_WORD: "sesame" } },
    ],
  });
  await play(session);
  const run = (await scene.heard()).at(-1) as { args: string[]; env: Record<string, string> };
  expect(run.args).toContain("workspace-write");
  expect(run.args.join(" ")).toContain("mcp_servers.far=");
  expect(run.args.join(" ")).not.toContain("sesame");
  expect(Object.values(run.env)).toEqual(expect.arrayContaining(["Bearer sesame", "sesame"]));
});

it.each([
  ["lists", `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
  ["objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
])("survives a line of deeply nested %s that is not a message", async (_, line) => {
  await using scene = await openScene({ turn: [["print", line]] });
  const session = await scene.open();
  const events = await play(session);
  expect(events.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "done" } });
  expect(JSON.stringify(events)).toContain("nested deeper than 100 levels");
});
