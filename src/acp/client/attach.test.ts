import { expect, it } from "vitest";
import { isRookeryError } from "../../domain/errors.ts";
import { deferred } from "../../stdx/index.ts";
import type { SessionOptions } from "../index.ts";
import { describeItems, getRejection, openScene } from "./test-scene.ts";

interface Response {
  readonly sessionId: string;
  readonly [key: string]: unknown;
}

const NEW = { cwd: "/project", mcpServers: [] };

it("attaches to a session of a plain request without missing what came before or right after its response", async () => {
  await using scene = await openScene({
    on: {
      "session/new": {
        answer: { merge: { custom: { kept: 1 } } },
        steps: [{ say: "before" }],
        after: [{ say: "after" }],
      },
    },
    prompts: [[{ say: "turn" }]],
  });
  const response = await scene.client.request<Response>("session/new", NEW);
  const session = scene.client.attach({ response });
  expect(session.response).toEqual({ sessionId: "session-1", custom: { kept: 1 } });
  expect(describeItems([await session.next(), await session.next()])).toEqual(["between before", "between after"]);
  expect(await session.prompt("go").readText()).toBe("turn");
});

it("reports the updates of a plain request as stray if nobody attaches", async () => {
  const [strays, both] = [[] as unknown[], deferred()];
  await using scene = await openScene(
    { on: { "session/new": { steps: [{ say: "before" }], after: [{ say: "after" }] } } },
    { onStray: ({ line }) => strays.push(/"text":"(\w+)"/.exec(line)?.[1]) === 2 && both.resolve() },
  );
  await scene.client.request("session/new", NEW);
  await both.promise;
  expect(strays).toEqual(["before", "after"]);
});

it("uses the handlers that are passed to attach", async () => {
  const read = { readFile: { path: "/project/a.txt" } };
  await using scene = await openScene({ prompts: [[read]] }, { capabilities: { fs: { readTextFile: true } } });
  const response = await scene.client.request<Response>("session/new", NEW);
  const session = scene.client.attach({ response, serve: { readTextFile: () => ({ content: "mine" }) } });
  await session.prompt("go").finish();
  expect(scene.answers()).toEqual([{ content: "mine" }]);
});

it.each([undefined, null, {}, { sessionId: "" }, { sessionId: 7 }, "session-1"])(
  "refuses to attach to %j with input_invalid",
  async (response) => {
    await using scene = await openScene({});
    const attach = (): unknown => scene.client.attach({ response: response as unknown as Response });
    expect(attach).toThrow(expect.objectContaining({ code: "input_invalid" }));
  },
);

it("refuses to attach to an open session with session_in_use", async () => {
  await using scene = await openScene({});
  const { response } = await scene.client.session("/project").create();
  const attach = (): unknown => scene.client.attach({ response: { ...response } });
  expect(attach).toThrow(expect.objectContaining({ code: "session_in_use" }));
});

it("starts a session in the current directory if none is given", async () => {
  await using scene = await openScene({});
  await scene.client.session().create();
  expect(scene.sent("session/new")).toMatchObject([{ cwd: process.cwd() }]);
});

const SLOW_FIRST = {
  on: { "session/new": [{ steps: [{ say: "one" }, { waitForMessage: "_go" }, { say: "two" }] }, {}] },
};

it("sets sessions with the same handlers up at the same time, each with its own updates", async () => {
  await using scene = await openScene(SLOW_FIRST);
  const seen: string[] = [];
  const update: SessionOptions["update"] = (item) => void seen.push(...describeItems([item]));
  const first = scene.client.session("/a").serve({ update }).create();
  await scene.agent.receivedMethod("session/new");
  const plain = scene.client.request<Response>("session/new", NEW);
  expect((await scene.client.session("/b").create()).take()).toEqual([]);
  expect(scene.client.attach({ response: await plain }).take()).toEqual([]);
  expect(seen).toEqual([]);
  await scene.client.notify("_go");
  await first;
  expect(seen).toEqual(["between one", "between two"]);
});

it("lets a session with other request handlers wait for the sessions that are being set up", async () => {
  await using scene = await openScene(SLOW_FIRST);
  const first = scene.client.session("/a").create();
  await scene.agent.receivedMethod("session/new");
  const cancelled = new AbortController();
  const readTextFile = () => ({ content: "" });
  const second = scene.client.session("/b").serve({ readTextFile }).create();
  const third = scene.client.session("/c").serve({ readTextFile }).create({ signal: cancelled.signal });
  cancelled.abort();
  expect(await getRejection(third)).toBe(cancelled.signal.reason);
  expect(scene.sent("session/new")).toHaveLength(1);
  await scene.client.notify("_go");
  expect([(await first).id, (await second).id]).toEqual(["session-1", "session-2"]);
  expect(scene.sent("session/new")).toMatchObject([{ cwd: "/a" }, { cwd: "/b" }]);
});

it("fails only the setup that the agent refuses", async () => {
  const error = { code: -32_000, message: "log in first" };
  await using scene = await openScene({
    on: { "session/new": [{ steps: [{ waitForMessage: "_go" }] }, { answer: { error } }, { answer: { result: {} } }] },
  });
  const first = scene.client.session("/a").create();
  await scene.agent.receivedMethod("session/new");
  const [refused, unnamed] = [scene.client.session("/b").create(), scene.client.session("/c").create()];
  expect(await getRejection(refused)).toMatchObject({ code: -32_000 });
  expect(isRookeryError(await getRejection(unnamed), "agent_failed")).toBe(true);
  await scene.client.notify("_go");
  expect((await first).id).toBe("session-1");
});
