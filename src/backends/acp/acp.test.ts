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

it("drives an ACP agent through a turn", async () => {
  await using scene = await openScene({ prompts: [[{ say: ["Hel", "lo"] }]] });
  const session = await scene.open();
  expect(await lines(session.prompt("Hi"))).toEqual(["opened scripted", "started Hi", "says Hello", "ended done"]);
});

it("asks for what the agent asks for, and tells it what was decided", async () => {
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

it("asks with the title where the agent gives no input, since nothing else has the command then", async () => {
  const content = [{ type: "content", content: { type: "text", text: "[current working directory /project]" } }];
  const toolCall = { toolCallId: "t1", title: "rm -rf build", kind: "execute", content };
  await using scene = await openScene({ prompts: [[{ permission: { toolCall } }]] });
  const session = await scene.open();
  const asked: unknown[] = [];
  for await (const event of session.prompt("Clean up")) {
    if (event.type !== "permission.requested") continue;
    asked.push(event.input);
    await session.answer(event.requestId, { decision: "deny" });
  }
  expect(asked).toEqual([{ title: "rm -rf build", content }]);
});

it("does not take the leave for one tool for that of every other whose kind nobody knows", async () => {
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

it("refuses where nobody can be asked, and says so to the agent", async () => {
  const script: AcpScript = { prompts: [[{ permission: { toolCall: { toolCallId: "t1", kind: "execute" } } }]] };
  await using scene = await openScene(script, { attended: false });
  const session = await scene.open();
  const seen = await lines(session.prompt("Run"));
  expect(seen).toContain("answered r1 deny once by policy");
  expect(seen.join("\n")).toContain("reject_once");
});

it("names the model that was meant, and only a few of hundreds", async () => {
  const availableModels = Array.from({ length: 300 }, (_, index) => ({ modelId: `fake/m${index}`, name: "M" }));
  await using scene = await openScene({ models: { currentModelId: "fake/m0", availableModels } });
  await expect(scene.open({ model: "fkae/m299" })).rejects.toMatchObject({
    code: "model_invalid",
    message: expect.stringMatching(
      /"fkae\/m299" \(did you mean fake\/m299\?\); there are: fake\/m0, .*, and 290 more$/,
    ),
  });
});

it.each([
  ["beside the input", { inputTokens: 400, outputTokens: 30, cachedReadTokens: 800, totalTokens: 1230 }],
  ["in the input", { inputTokens: 1200, outputTokens: 30, cachedReadTokens: 800, totalTokens: 1230 }],
  ["in the input, without a total", { inputTokens: 1200, outputTokens: 30, cachedReadTokens: 800 }],
])("counts what came from a cache as input, from an agent that has it %s", async (_, usage) => {
  await using scene = await openScene({ prompts: [{ steps: [{ say: "Hi" }], answer: { merge: { usage } } }] });
  const session = await scene.open();
  const events = await collect(session.prompt("x"));
  expect(events.find(({ type }) => type === "usage.reported")).toMatchObject({
    inputTokens: 1200,
    outputTokens: 30,
    cacheReadTokens: 800,
  });
});

it("keeps what a tool did: kinds, places and diffs", async () => {
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

it("cancels a turn, with a permission open too, and the session goes on", async () => {
  await using scene = await openScene({ prompts: [[{ permission: {} }], [{ say: "again" }]] });
  const session = await scene.open();
  const turn = session.prompt("x");
  for await (const event of turn) if (event.type === "permission.requested") void session.cancel();
  expect(await turn.outcome).toEqual({ status: "cancelled" });
  expect(await lines(session.prompt("y"))).toContain("says again");
});

it("ends a turn whose agent died in words, and starts the agent again for the next", async () => {
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

it("goes on with the agent's own session when it is opened again", async () => {
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

it("hands the conversation over where the agent does not know the session any more", async () => {
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

it("asks a question of the agent's in the log", async () => {
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

it("serves files behind the permissions where it is told to", async () => {
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
  ["is not there", ["rookery-no-such-program"], /rookery-no-such-program/],
  ["speaks no ACP", ["sh", "-c", "echo hello; echo broken >&2; exit 3"], /broken/],
])("says in words that a program %s", async (_, command, words) => {
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

it("tells a fork, which has no session of the program's own, what went before", async () => {
  await using scene = await openScene({ otherwise: [{ say: "ok" }] });
  const first = await scene.open();
  await collect(first.prompt("remember the green door"));
  const forked = await scene.open({ id: await scene.rookery.forkSession(first.id) });
  const events = await collect(forked.prompt("two"));
  expect(events.find(({ type }) => type === "agent.connected")).toMatchObject({ how: "handed_over" });
  expect(JSON.stringify(await scene.received())).toContain("User: remember the green door");
});

it("waits until a limit is over that the agent fails with", async () => {
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

it("says how to mend it that an agent's login is not accepted", async () => {
  const error = { code: -32603, message: "Internal error: Incorrect API key provided: ****." };
  await using scene = await openScene({ prompts: [{ answer: { error } }] });
  const session = await scene.open();
  expect(await session.prompt("x").outcome).toMatchObject({
    status: "failed",
    code: "provider_auth",
    message: expect.stringMatching(/^scripted has no login that is accepted: log in .* Incorrect API key/) as string,
  });
});

it("tells what an edit changed from what was asked for, where the agent does not say it", async () => {
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
