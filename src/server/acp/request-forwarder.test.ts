import { join } from "node:path";
import { expect, it } from "vitest";
import { peerError } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { deferred } from "../../stdx/index.ts";
import { call, say } from "../../testing/index.ts";
import { selectOption, formatUpdates, openAcpScene, receivedUpdates } from "./test-scene.ts";
import { openScriptedSession } from "./test-scripted.ts";

const TOUCH = call("bash", { command: "touch ran" });
const never = new Promise<never>(() => undefined);

it("does not ask again after a permission is granted for the session", async () => {
  await using scene = await openAcpScene([TOUCH, TOUCH, say("done")]);
  const asked: acp.RequestPermissionRequest[] = [];
  const { client } = await scene.editor({
    serve: { permission: (request) => (asked.push(request), selectOption("always")) },
  });
  const session = await client.session(scene.folder).create();
  await session.prompt("go").finish();
  expect(asked.length).toBe(1);
  expect(asked[0]?.toolCall.content).toEqual([
    { type: "content", content: { type: "text", text: "command:\n```\ntouch ran\n```" } },
  ]);
});

it("offers to allow commands that start like this one, before all of the tool", async () => {
  const run = (command: string) => call("bash", { command });
  await using scene = await openAcpScene([run("touch ran"), run("touch again"), run("touch x; ls"), say("done")]);
  const asked: string[][] = [];
  const { client } = await scene.editor({
    serve: {
      permission: ({ options }) => {
        asked.push(options.map(({ name, kind }) => `${name}: ${kind}`));
        return selectOption(asked.length === 1 ? "always_prefix" : "deny");
      },
    },
  });
  await (await client.session(scene.folder).create()).prompt("go").finish();
  expect(asked).toEqual([
    [
      "Allow once: allow_once",
      'Allow "touch …" for this session: allow_always',
      "Allow every bash for this session: allow_always",
      "Reject: reject_once",
    ],
    ["Allow once: allow_once", "Allow for this session: allow_always", "Reject: reject_once"],
  ]);
});

it("asks about an edit with its diff and absolute paths, also in the updates", async () => {
  await using scene = await openAcpScene([call("write", { path: "sub/made.txt", content: "made\n" }), say("done")]);
  const asked: acp.RequestPermissionRequest[] = [];
  const editor = await scene.editor({
    serve: { permission: (request) => (asked.push(request), selectOption("allow")) },
  });
  const session = await editor.client.session(scene.folder).create();
  await session.prompt("go").finish();
  const path = join(scene.folder, "sub/made.txt");
  const diff = { type: "diff", path, oldText: null, newText: "made\n" };
  expect(asked[0]?.toolCall).toMatchObject({ kind: "edit", content: [diff], locations: [{ path }] });
  const calls = receivedUpdates(editor, session.id).filter((update) => "toolCallId" in update);
  const paths = calls.flatMap((update) => (update as acp.ToolCallUpdate).locations ?? []).map((each) => each.path);
  expect(new Set(paths)).toEqual(new Set([path]));
  expect(calls.at(-1)).toMatchObject({ status: "completed", content: [diff, { type: "content" }] });
});

it.each<[string, () => acp.RequestPermissionResponse, string]>([
  ["is rejected", () => selectOption("deny"), "the user denied it"],
  ["is dismissed", () => ({ outcome: { outcome: "cancelled" } }), "the user dismissed the request"],
  [
    "is answered with an unknown option",
    () => selectOption("maybe"),
    'the client selected "maybe", which is not one of the options',
  ],
  [
    "the client fails to show",
    () => {
      throw peerError(-7, "no window");
    },
    "the client could not show the request: no window",
  ],
])("denies a permission that %s, with the reason", async (_, permission, words) => {
  await using scene = await openAcpScene([TOUCH, say("well")]);
  const editor = await scene.editor({ serve: { permission } });
  const session = await editor.client.session(scene.folder).create();
  expect(await session.prompt("go").finish()).toMatchObject({ stopReason: "end_turn" });
  expect(receivedUpdates(editor, session.id)).toContainEqual(
    expect.objectContaining({
      status: "failed",
      content: [{ type: "content", content: { type: "text", text: words } }],
      _meta: { rookery: { outcome: "denied" } },
    }),
  );
});

it("withdraws a permission request from the editor when it is answered elsewhere", async () => {
  const takenBack = deferred();
  await using scene = await openAcpScene(async (_, index) => {
    if (index === 0) return TOUCH;
    await takenBack.promise; // waits before the turn can end
    return say("went on");
  });
  const asked = deferred();
  const { client } = await scene.editor({
    serve: {
      permission: (_, { signal }) => {
        signal.addEventListener("abort", () => takenBack.resolve());
        asked.resolve();
        return never;
      },
    },
  });
  const session = await client.session(scene.folder).create();
  const turn = session.prompt("go");
  await asked.promise;
  await using elsewhere = await scene.open();
  await elsewhere.answer(session.id, "r1", { decision: "allow" });
  expect(await turn.readText()).toBe("went on");
});

it("grants a permission in the editor for a turn of another process", async () => {
  await using scene = await openAcpScene([TOUCH, say("went on")]);
  await using elsewhere = await scene.open();
  const session = await elsewhere.openSession({ cwd: scene.folder });
  const turn = session.prompt("go");
  for await (const event of turn) if (event.type === "permission.requested") break;
  const { client } = await scene.editor({ serve: { permission: () => selectOption("allow") } });
  await client.session(scene.folder).load(session.id);
  expect(await turn.outcome).toMatchObject({ status: "done" });
  await session[Symbol.asyncDispose]();
});

it("resumes an interrupted turn and repeats its request before the next prompt", async () => {
  await using scene = await openAcpScene([TOUCH, say("finished"), say("next")]);
  const dead = await scene.leave(async (rookery) => {
    const session = await rookery.openSession({ cwd: scene.folder });
    for await (const event of session.prompt("go")) if (event.type === "permission.requested") return session.id;
    throw new Error("no permission was requested");
  });
  const asked: acp.RequestPermissionRequest[] = [];
  const editor = await scene.editor({
    clock: { now: () => Date.now() + 60_000 },
    serve: { permission: (request) => (asked.push(request), selectOption("allow")) },
  });
  const session = await editor.client.session(scene.folder).load(dead);
  expect(asked).toEqual([]);
  expect(await session.prompt("and now?").finish()).toMatchObject({ stopReason: "end_turn" });
  expect(asked.length).toBe(1);
  const lines = formatUpdates(receivedUpdates(editor, dead));
  expect(lines.filter((line) => /^(user|says)/.test(line))).toEqual(["user go", "says finished", "says next"]);
});

const QUESTION = { message: "Which one?", schema: { type: "object", properties: { name: { type: "string" } } } };

it.each<[string, acp.CreateElicitationResponse, unknown]>([
  ["accepted", { action: "accept", content: { name: "b" } }, { action: "accept", content: { name: "b" } }],
  ["declined", { action: "decline" }, { action: "decline" }],
  ["cancelled", { action: "cancel" }, { action: "cancel" }],
])("shows a question as a form that is %s", async (_, response, answer) => {
  await using scene = await openAcpScene([]);
  const asked: acp.CreateElicitationRequest[] = [];
  const answers: unknown[] = [];
  await using driven = await openScriptedSession(scene, async (turn) => {
    answers.push(await turn.ask(QUESTION));
    return undefined;
  });
  const { client } = await scene.editor({
    serve: { elicitation: (request) => (asked.push(request), response) },
  });
  await client.session(scene.folder).load(driven.id);
  await driven.prompt("go").outcome;
  const { message, schema: requestedSchema } = QUESTION;
  expect(asked).toEqual([{ sessionId: driven.id, mode: "form", message, requestedSchema }]);
  expect(answers).toMatchObject([answer]);
});

it("shows a question with a URL in URL mode", async () => {
  await using scene = await openAcpScene([]);
  const asked: acp.CreateElicitationRequest[] = [];
  await using driven = await openScriptedSession(scene, async (turn) => {
    await turn.ask({ message: "Log in", url: "https://example.test/login" });
    return undefined;
  });
  const { client } = await scene.editor({
    serve: { elicitation: (request) => (asked.push(request), { action: "accept" as const }) },
  });
  await client.session(scene.folder).load(driven.id);
  await driven.prompt("go").outcome;
  expect(asked).toMatchObject([{ mode: "url", url: "https://example.test/login", message: "Log in" }]);
});

it("shows the command for a question that the client cannot display", async () => {
  await using scene = await openAcpScene([]);
  await using driven = await openScriptedSession(scene, async (turn) => {
    await turn.ask(QUESTION);
    return undefined;
  });
  const editor = await scene.editor();
  await editor.client.session(scene.folder).load(driven.id);
  const turn = driven.prompt("go");
  const { params } = await editor.waitForMessage(({ params }) =>
    JSON.stringify(params ?? "").includes("rookery answer"),
  );
  expect(JSON.stringify(params)).toContain(`rookery answer ${driven.id} r1 accept`);
  await using elsewhere = await scene.open();
  await elsewhere.answer(driven.id, "r1", { action: "decline" });
  expect(await turn.outcome).toMatchObject({ status: "done" });
});
