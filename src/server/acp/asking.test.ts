import { expect, it } from "vitest";
import { peerError } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { deferred } from "../../stdx/index.ts";
import { call, say } from "../../testing/index.ts";
import { choosing, linesOf, openDesk, updatesOf } from "./test-scene.ts";
import { openScripted } from "./test-scripted.ts";

const TOUCH = call("bash", { command: "touch ran" });
const never = new Promise<never>(() => undefined);

it("what is allowed for the session is not asked again", async () => {
  await using desk = await openDesk([TOUCH, TOUCH, say("done")]);
  const asked: acp.RequestPermissionRequest[] = [];
  const { client } = await desk.editor({
    serve: { permission: (request) => (asked.push(request), choosing("always")) },
  });
  const session = await client.session(desk.folder).create();
  await session.prompt("go").finish();
  expect(asked.length).toBe(1);
  expect(asked[0]?.toolCall.content).toEqual([
    { type: "content", content: { type: "text", text: "command:\n```\ntouch ran\n```" } },
  ]);
});

it.each<[string, () => acp.RequestPermissionResponse, string]>([
  ["is rejected", () => choosing("deny"), "the user refused it"],
  ["is dismissed", () => ({ outcome: { outcome: "cancelled" } }), "the request was dismissed"],
  ["is answered with what was not offered", () => choosing("maybe"), 'the client chose "maybe", which was not offered'],
  [
    "cannot be asked",
    () => {
      throw peerError(-7, "no window");
    },
    "the client could not ask: no window",
  ],
])("a permission that %s is a no, and the agent is told why", async (_, permission, words) => {
  await using desk = await openDesk([TOUCH, say("well")]);
  const editor = await desk.editor({ serve: { permission } });
  const session = await editor.client.session(desk.folder).create();
  expect(await session.prompt("go").finish()).toMatchObject({ stopReason: "end_turn" });
  expect(updatesOf(editor, session.id)).toContainEqual(
    expect.objectContaining({
      status: "failed",
      content: [{ type: "content", content: { type: "text", text: words } }],
      _meta: { rookery: { outcome: "denied" } },
    }),
  );
});

it("a permission that is answered elsewhere is taken back from the editor, and the turn goes on", async () => {
  const takenBack = deferred();
  await using desk = await openDesk(async (_, index) => {
    if (index === 0) return TOUCH;
    await takenBack.promise; // before the turn can end
    return say("went on");
  });
  const asked = deferred();
  const { client } = await desk.editor({
    serve: {
      permission: (_, { signal }) => {
        signal.addEventListener("abort", () => takenBack.resolve());
        asked.resolve();
        return never;
      },
    },
  });
  const session = await client.session(desk.folder).create();
  const turn = session.prompt("go");
  await asked.promise;
  await using elsewhere = await desk.open();
  await elsewhere.answer(session.id, "r1", { decision: "allow" });
  expect(await turn.readText()).toBe("went on");
});

it("a permission of a turn that another process drives can be given in the editor", async () => {
  await using desk = await openDesk([TOUCH, say("went on")]);
  await using elsewhere = await desk.open();
  const session = await elsewhere.openSession({ cwd: desk.folder });
  const turn = session.prompt("go");
  for await (const event of turn) if (event.type === "permission.requested") break;
  const { client } = await desk.editor({ serve: { permission: () => choosing("allow") } });
  await client.session(desk.folder).load(session.id);
  expect(await turn.outcome).toMatchObject({ status: "done" });
  await session[Symbol.asyncDispose]();
});

it("a turn that a killed process left in the middle of a question goes on, asking again, before the next prompt", async () => {
  await using desk = await openDesk([TOUCH, say("finished"), say("next")]);
  const dead = await desk.leave(async (rookery) => {
    const session = await rookery.openSession({ cwd: desk.folder });
    for await (const event of session.prompt("go")) if (event.type === "permission.requested") return session.id;
    throw new Error("nothing was asked");
  });
  const asked: acp.RequestPermissionRequest[] = [];
  const editor = await desk.editor({
    clock: { now: () => Date.now() + 60_000 },
    serve: { permission: (request) => (asked.push(request), choosing("allow")) },
  });
  const session = await editor.client.session(desk.folder).load(dead);
  expect(asked).toEqual([]);
  expect(await session.prompt("and now?").finish()).toMatchObject({ stopReason: "end_turn" });
  expect(asked.length).toBe(1);
  const lines = linesOf(updatesOf(editor, dead));
  expect(lines.filter((line) => /^(user|says)/.test(line))).toEqual(["user go", "says finished", "says next"]);
});

const QUESTION = { message: "Which one?", schema: { type: "object", properties: { name: { type: "string" } } } };

it.each<[string, acp.CreateElicitationResponse, unknown]>([
  ["accepted", { action: "accept", content: { name: "b" } }, { action: "accept", content: { name: "b" } }],
  ["declined", { action: "decline" }, { action: "decline" }],
  ["cancelled", { action: "cancel" }, { action: "cancel" }],
])("a question is asked as a form: %s", async (_, response, answer) => {
  await using desk = await openDesk([]);
  const asked: acp.CreateElicitationRequest[] = [];
  const answers: unknown[] = [];
  await using driven = await openScripted(desk, async (turn) => {
    answers.push(await turn.ask(QUESTION));
    return undefined;
  });
  const { client } = await desk.editor({
    serve: { elicitation: (request) => (asked.push(request), response) },
  });
  await client.session(desk.folder).load(driven.id);
  await driven.prompt("go").outcome;
  const { message, schema: requestedSchema } = QUESTION;
  expect(asked).toEqual([{ sessionId: driven.id, mode: "form", message, requestedSchema }]);
  expect(answers).toMatchObject([answer]);
});

it("a question with an address is asked by URL", async () => {
  await using desk = await openDesk([]);
  const asked: acp.CreateElicitationRequest[] = [];
  await using driven = await openScripted(desk, async (turn) => {
    await turn.ask({ message: "Log in", url: "https://example.test/login" });
    return undefined;
  });
  const { client } = await desk.editor({
    serve: { elicitation: (request) => (asked.push(request), { action: "accept" as const }) },
  });
  await client.session(desk.folder).load(driven.id);
  await driven.prompt("go").outcome;
  expect(asked).toMatchObject([{ mode: "url", url: "https://example.test/login", message: "Log in" }]);
});

it("a question that the client cannot ask is shown, with the way to answer it", async () => {
  await using desk = await openDesk([]);
  await using driven = await openScripted(desk, async (turn) => {
    await turn.ask(QUESTION);
    return undefined;
  });
  const editor = await desk.editor();
  await editor.client.session(desk.folder).load(driven.id);
  const turn = driven.prompt("go");
  const { params } = await editor.came(({ params }) => JSON.stringify(params ?? "").includes("rookery answer"));
  expect(JSON.stringify(params)).toContain(`rookery answer ${driven.id} r1 accept`);
  await using elsewhere = await desk.open();
  await elsewhere.answer(driven.id, "r1", { action: "decline" });
  expect(await turn.outcome).toMatchObject({ status: "done" });
});
