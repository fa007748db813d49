import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SessionEvent } from "../../domain/index.ts";
import { Rookery } from "../../rookery.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, collect, temporaryFolder, transcript, type AcpScript } from "../../testing/index.ts";
import { openScene } from "./test-scene.ts";

const lines = async (events: AsyncIterable<SessionEvent>) => transcript(await collect(events));

it("runs a turn of an ACP agent", async () => {
  await using scene = await openScene({ prompts: [[{ say: ["Hel", "lo"] }]] });
  const session = await scene.open();
  expect(await lines(session.prompt("Hi"))).toEqual(["opened scripted", "started Hi", "says Hello", "ended done"]);
});

it("forwards the agent's permission request and returns the decision", async () => {
  const script: AcpScript = {
    prompts: [
      [
        { say: "Let me write." },
        {
          permission: {
            toolCall: { toolCallId: "t1", title: "Write a.txt", kind: "edit", rawInput: { path: "a.txt" } },
          },
        },
        { update: { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" } },
      ],
    ],
  };
  await using scene = await openScene(script);
  const session = await scene.open();
  const turn = session.prompt("Write");
  const seen: string[] = [];
  for await (const event of turn) {
    seen.push(...transcript([event]));
    if (event.type === "permission.requested") await session.answer(event.requestId, { decision: "allow" });
  }
  expect(seen).toEqual([
    "opened scripted",
    "started Write",
    "says Let me write.",
    "tool Write a.txt",
    "asks r1 Write a.txt",
    "answered r1 allow once by person",
    'says session/request_permission: {"outcome":{"outcome":"selected","optionId":"allow_once"}}',
    "tool ok",
    "ended done",
  ]);
});

it.each<[string, string, object]>([
  ["a description", "Removes the build", {}],
  ["the directory of a command", "[current working directory /project]", { command: "rm -rf build", cwd: "/project" }],
])("uses the title as the input of a permission request without input, but with %s", async (_, text, command) => {
  const content = [{ type: "content", content: { type: "text", text } }];
  const toolCall = { toolCallId: "t1", title: "rm -rf build", kind: "execute", content };
  await using scene = await openScene({ prompts: [[{ permission: { toolCall } }]] });
  const session = await scene.open();
  const asked: unknown[] = [];
  for await (const event of session.prompt("Clean up")) {
    if (event.type !== "permission.requested") continue;
    asked.push(event.input);
    await session.answer(event.requestId, { decision: "deny" });
  }
  expect(asked).toEqual(["command" in command ? command : { title: "rm -rf build", content }]);
});

it("does not extend a permission for one tool to other tools of unknown kind", async () => {
  const ask = (toolCallId: string, title: string) => ({
    permission: { toolCall: { toolCallId, title, kind: "other" } },
  });
  await using scene = await openScene({
    prompts: [[ask("t1", "notes_list"), ask("t2", "notes_list"), ask("t3", "notes_drop")]],
  });
  const session = await scene.open();
  const asked: string[] = [];
  for await (const event of session.prompt("Go")) {
    if (event.type !== "permission.requested") continue;
    asked.push(event.title);
    await session.answer(event.requestId, { decision: "allow", scope: "session" });
  }
  expect(asked).toEqual(["notes_list", "notes_drop"]);
});

it("denies a request if nobody can be asked, and tells the agent", async () => {
  const script: AcpScript = { prompts: [[{ permission: { toolCall: { toolCallId: "t1", kind: "execute" } } }]] };
  await using scene = await openScene(script, { attended: false });
  const session = await scene.open();
  const seen = await lines(session.prompt("Run"));
  expect(seen).toContain("answered r1 deny once by policy");
  expect(seen.join("\n")).toContain("reject_once");
});

it("suggests the closest model and lists only a few", async () => {
  const availableModels = Array.from({ length: 300 }, (_, index) => ({ modelId: `fake/m${index}`, name: "M" }));
  await using scene = await openScene({ models: { currentModelId: "fake/m0", availableModels } });
  await expect(scene.open({ model: "fkae/m299" })).rejects.toMatchObject({
    code: "model_invalid",
    message: expect.stringMatching(
      /"fkae\/m299" \(did you mean fake\/m299\?\); available models: fake\/m0, .*, and 290 more$/,
    ),
  });
});

it.each([
  ["separately", { inputTokens: 400, outputTokens: 30, cachedReadTokens: 800, totalTokens: 1230 }],
  ["within the input", { inputTokens: 1200, outputTokens: 30, cachedReadTokens: 800, totalTokens: 1230 }],
  ["within the input, without a total", { inputTokens: 1200, outputTokens: 30, cachedReadTokens: 800 }],
  ["separately, without a total", { inputTokens: 400, outputTokens: 30, cachedReadTokens: 800 }],
])("counts cached tokens as input if the agent reports them %s", async (_, usage) => {
  await using scene = await openScene({ prompts: [{ steps: [{ say: "Hi" }], answer: { merge: { usage } } }] });
  const session = await scene.open();
  const events = await collect(session.prompt("x"));
  expect(events.find(({ type }) => type === "usage.reported")).toMatchObject({
    inputTokens: 1200,
    outputTokens: 30,
    cacheReadTokens: 800,
  });
});

it("records the kind, locations and diffs of tool calls", async () => {
  const call = { toolCallId: "t1", title: "Edit", kind: "edit", status: "in_progress", rawInput: { file: "a" } };
  const content = [{ type: "diff", path: "/w/a", oldText: "1", newText: "2" }];
  const done = { toolCallId: "t1", status: "completed", content, locations: [{ path: "/w/a", line: 3 }] };
  await using scene = await openScene({
    prompts: [
      [{ update: { sessionUpdate: "tool_call", ...call } }, { update: { sessionUpdate: "tool_call_update", ...done } }],
    ],
  });
  const session = await scene.open();
  const events = await collect(session.prompt("x"));
  expect(events.find(({ type }) => type === "tool.started")).toMatchObject({
    kind: "edit",
    title: "Edit",
    input: { file: "a" },
  });
  expect(events.find(({ type }) => type === "tool.ended")).toMatchObject({
    outcome: "ok",
    diffs: [{ path: "/w/a", before: "1", after: "2" }],
    locations: [{ path: "/w/a", line: 3 }],
  });
});

it("cancels a turn with an open permission request, and the session stays usable", async () => {
  await using scene = await openScene({ prompts: [[{ permission: {} }], [{ say: "again" }]] });
  const session = await scene.open();
  const turn = session.prompt("x");
  for await (const event of turn) if (event.type === "permission.requested") void session.cancel();
  expect(await turn.outcome).toEqual({ status: "cancelled" });
  expect(await lines(session.prompt("y"))).toContain("says again");
});

it("fails the turn with a message if the agent dies, and restarts the agent for the next turn", async () => {
  await using scene = await openScene({
    prompts: [[{ say: "half" }, { stderr: "out of cheese\n" }, { exit: { code: 7 } }], [{ say: "back" }]],
  });
  const session = await scene.open();
  const turn = session.prompt("x");
  const seen = await lines(turn);
  expect(seen).toContain("ended failed agent_exited");
  expect(await turn.outcome).toMatchObject({ message: expect.stringMatching(/exit code 7.*out of cheese/s) as string });
  const events = await collect(session.prompt("y"));
  expect(events.find(({ type }) => type === "agent.connected")).toMatchObject({ how: "handed_over" });
});

it("resumes the agent's own session after a reopen", async () => {
  await using folder = await temporaryFolder();
  const sessionsFile = join(folder.path, "sessions.json");
  await using scene = await openScene({ sessionsFile, otherwise: [{ say: "ok" }] });
  const first = await scene.open();
  await collect(first.prompt("one"));
  await first[Symbol.asyncDispose]();
  const again = await scene.open({ id: first.id });
  const events = await collect(again.prompt("two"));
  expect(events.find(({ type }) => type === "agent.connected")).toMatchObject({ how: "resumed" });
  expect(JSON.stringify(await scene.received())).not.toContain("earlier-conversation");
});

it("hands the conversation over if the agent lost its session", async () => {
  await using scene = await openScene({ otherwise: [{ say: "ok" }] });
  const first = await scene.open();
  await collect(first.prompt("remember the blue door"));
  await first[Symbol.asyncDispose]();
  const again = await scene.open({ id: first.id });
  const events = await collect(again.prompt("two"));
  expect(events.find(({ type }) => type === "agent.connected")).toMatchObject({ how: "handed_over" });
  const received = JSON.stringify(await scene.received());
  expect(received).toContain("<earlier-conversation>\\nUser: remember the blue door");
});

it("logs a question of the agent and returns the answer", async () => {
  const script: AcpScript = {
    prompts: [
      [
        {
          elicit: {
            message: "Which port?",
            requestedSchema: { type: "object", properties: { port: { type: "integer" } } },
          },
        },
      ],
    ],
  };
  await using scene = await openScene(script);
  const session = await scene.open();
  const seen: string[] = [];
  for await (const event of session.prompt("x")) {
    seen.push(...transcript([event]));
    if (event.type === "question.asked")
      await session.answer(event.requestId, { action: "accept", content: { port: 8080 } });
  }
  expect(seen.join("\n")).toContain("8080");
});

it("serves files after permission if configured", async () => {
  const script = (cwd: string): AcpScript => ({
    prompts: [[{ writeFile: { path: join(cwd, "made.txt"), content: "served" } }]],
  });
  const folder = await temporaryFolder();
  await using scene = await openScene(
    script(folder.path),
    { cwd: folder.path, permissions: "all" },
    'serve = ["files"]\n',
  );
  const session = await scene.open();
  await collect(session.prompt("x"));
  expect(await readFile(join(folder.path, "made.txt"), "utf8")).toBe("served");
});

it.each([
  ["is missing", ["rookery-no-such-program"], /rookery-no-such-program/],
  ["does not support ACP", ["sh", "-c", "echo hello; echo broken >&2; exit 3"], /broken/],
])("reports a program that %s", async (_, command, words) => {
  const owned = new DisposeStack();
  const home = owned.use(await temporaryFolder());
  const env = builtEnvironment({ home: home.path });
  const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "rookery.toml"), `[agents.x]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}\n`);
  const rookery = owned.use(await Rookery.open({ env, cwd: home.path, store: owned.use(openMemoryStore()) }));
  await expect(rookery.openSession({ agent: "x" })).rejects.toThrow(words);
  await owned[Symbol.asyncDispose]();
});

it("hands the conversation over to a fork if the program cannot fork", async () => {
  await using scene = await openScene({ otherwise: [{ say: "ok" }] });
  const first = await scene.open();
  await collect(first.prompt("remember the green door"));
  const forked = await scene.open({ id: await scene.rookery.forkSession(first.id) });
  const events = await collect(forked.prompt("two"));
  expect(events.find(({ type }) => type === "agent.connected")).toMatchObject({ how: "handed_over" });
  expect(JSON.stringify(await scene.received())).toContain("User: remember the green door");
});

it("parks the turn if the agent fails with a usage limit", async () => {
  const error = { code: 429, message: "You have exhausted your capacity. Your quota will reset after 3h12m5s." };
  await using scene = await openScene({ prompts: [{ answer: { error } }] });
  const session = await scene.open();
  const turn = session.prompt("x");
  const seen: SessionEvent[] = [];
  for await (const event of turn) {
    seen.push(event);
    if (event.type === "turn.parked") void session.cancel();
  }
  const limit = seen.find((event) => event.type === "limit.reached");
  expect(limit?.message).toContain("exhausted your capacity");
  expect((Date.parse(limit?.resetsAt ?? "") - Date.parse(limit?.at ?? "")) / 3_600_000).toBeCloseTo(3.2, 1);
  expect(await turn.outcome).toEqual({ status: "cancelled" });
});

it("explains how to log in if the agent rejects its login", async () => {
  const error = { code: -32603, message: "Internal error: Incorrect API key provided: ****." };
  await using scene = await openScene({ prompts: [{ answer: { error } }] });
  const session = await scene.open();
  expect(await session.prompt("x").outcome).toMatchObject({
    status: "failed",
    code: "provider_auth",
    message: expect.stringMatching(
      /^scripted is not logged in, or its login was rejected: log in .* Incorrect API key/,
    ) as string,
  });
});

it("derives a diff from the tool input if the agent sends none", async () => {
  const rawInput = { filePath: "/w/a", oldString: "1", newString: "2" };
  const call = { toolCallId: "t1", title: "Edit", kind: "edit", rawInput };
  const done = { toolCallId: "t1", status: "completed", content: [] };
  await using scene = await openScene({
    prompts: [
      [{ update: { sessionUpdate: "tool_call", ...call } }, { update: { sessionUpdate: "tool_call_update", ...done } }],
    ],
  });
  const session = await scene.open();
  const events = await collect(session.prompt("x"));
  expect(events.find(({ type }) => type === "tool.ended")).toMatchObject({
    diffs: [{ path: "/w/a", before: "1", after: "2" }],
  });
});

it("asks about an edit with its diff, not with the raw content block", async () => {
  const before = Array.from({ length: 200 }, (_, at) => `line ${at + 1}\n`).join("");
  const after = before.replace("line 100\n", "changed\n");
  const diff = { type: "diff", path: "/w/a.txt", oldText: before, newText: after };
  const text = { type: "content", content: { type: "text", text: "in /w" } };
  const toolCall = { toolCallId: "t1", title: "a.txt: line 100 => changed", kind: "edit", content: [diff, text] };
  await using scene = await openScene({ prompts: [[{ permission: { toolCall } }]] });
  const session = await scene.open();
  const asked: SessionEvent[] = [];
  for await (const event of session.prompt("x")) {
    if (event.type !== "permission.requested") continue;
    asked.push(event);
    await session.answer(event.requestId, { decision: "deny" });
  }
  expect(asked).toMatchObject([
    { diffs: [{ path: "/w/a.txt", before, after }], input: { title: toolCall.title, content: [text] } },
  ]);
  expect(JSON.stringify(asked[0]?.type === "permission.requested" && asked[0].input)).not.toContain("oldText");
});

it("records the output of a running call up to a bound, however often the agent repeats it", async () => {
  const call = { toolCallId: "t1", title: "make", kind: "execute" };
  const update = (text: string, status = "in_progress") => ({
    update: {
      sessionUpdate: "tool_call_update",
      toolCallId: "t1",
      status,
      content: [{ type: "content", content: { type: "text", text } }],
    },
  });
  const windows = Array.from({ length: 100 }, (_, at) => update(`${at}\n${"x".repeat(9_000)}`));
  await using scene = await openScene({
    prompts: [[{ update: { sessionUpdate: "tool_call", ...call } }, ...windows, update("all of it", "completed")]],
  });
  const events = await collect((await scene.open()).prompt("x"));
  const texts = events.flatMap((event) => (event.type === "tool.updated" ? [event.text ?? ""] : []));
  expect(texts.join("").length).toBeLessThan(60_000);
  expect(texts[0]).toContain("0\n");
  expect(events.find(({ type }) => type === "tool.ended")).toMatchObject({ text: "all of it" });
});

it("lists the commands that the agent reports, after its start and in a turn", async () => {
  const report = (...names: string[]) => ({
    update: {
      sessionUpdate: "available_commands_update",
      availableCommands: [
        ...names.map((name) => ({ name, description: `does ${name}`, input: { hint: "what" } })),
        { name: "two words" },
        null,
      ],
    },
  });
  await using scene = await openScene({
    on: { "session/new": { steps: [report("review")] } },
    prompts: [[report("review", "plan"), { say: "ok" }]],
  });
  const session = await scene.open();
  const review = { name: "review", description: "does review", hint: "what" };
  expect(session.commands).toEqual([review]);
  await session.prompt("go").outcome;
  expect(session.commands).toEqual([review, { name: "plan", description: "does plan", hint: "what" }]);
});
