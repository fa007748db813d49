import { expect, it } from "vitest";
import { createClient } from "../../client/index.ts";
import { builtEnvironment, say, temporaryFolder } from "../../testing/index.ts";
import { openHttp } from "./test-scene.ts";

const REVIEWER = {
  name: "reviewer",
  backend: "api" as const,
  model: "anthropic/claude-reviewer",
  prompts: [{ text: "You review code." }],
  permissions: "none" as const,
};

it("opens a session with an agent that the request defines, and shows the definition in the state", async () => {
  await using scene = await openHttp([say("Fine.")]);
  const client = createClient({ url: scene.server.url, token: scene.server.token });
  const opened = await client.POST("/v1/sessions", { body: { agent: REVIEWER } });
  const id = opened.data!.id;
  expect(opened.data).toMatchObject({ agent: "reviewer", model: "anthropic/claude-reviewer" });
  await client.POST("/v1/sessions/{id}/turns", { params: { path: { id } }, body: { input: "Look at it" } });
  for await (const { event } of client.follow({ session: id })) if (event.type === "turn.ended") break;
  expect(scene.model.requests[0]).toMatchObject({ model: "claude-reviewer" });
  expect(scene.model.requests[0]?.system).toContain("You review code.");
  const state = await client.GET("/v1/sessions/{id}/state", { params: { path: { id } } });
  expect(state.data).toMatchObject({ agent: "reviewer", definitions: { reviewer: REVIEWER } });
});

it("switches a session to an agent that the request defines, once for a repeated request", async () => {
  await using scene = await openHttp([]);
  const { id } = (await scene.post("/v1/sessions", {})).json;
  const change = () =>
    scene.call("PATCH", `/v1/sessions/${id}`, { agent: REVIEWER }, { headers: { "idempotency-key": "define-once" } });
  expect(await change()).toMatchObject({ status: 200, json: { agent: "reviewer" } });
  expect(await change()).toMatchObject({ status: 200, json: { agent: "reviewer" } });
  const { events } = (await scene.get(`/v1/sessions/${id}/events`)).json;
  expect(events.map(({ type }) => type)).toEqual([
    "session.opened",
    "agent.defined",
    "agent.switched",
    "session.opened",
  ]);
});

it.each<[string, object, string]>([
  ["an unknown key", { colour: "red" }, "agent.colour"],
  ["a wrong type", { retries: "three" }, "agent.retries"],
  ["a secret", { env: { API_TOKEN: "abc" } }, "agent.env.API_TOKEN"],
  ["no name", { name: undefined }, "agent.name"],
])("rejects a definition with %s as input_invalid, and writes nothing", async (_, fields, at) => {
  await using scene = await openHttp([]);
  const refused = await scene.post("/v1/sessions", { agent: { ...REVIEWER, ...fields } });
  expect(refused).toMatchObject({ status: 400, json: { code: "input_invalid" } });
  expect(refused.text).toContain(at);
  expect((await scene.get("/v1/sessions")).json.sessions).toEqual([]);
});

it("rejects a definition whose key the server lacks with agent_not_ready, and writes nothing", async () => {
  await using home = await temporaryFolder();
  await using scene = await openHttp([], { env: builtEnvironment({ home: home.path }) });
  const refused = await scene.post("/v1/sessions", { agent: REVIEWER });
  expect(refused.json).toMatchObject({
    code: "agent_not_ready",
    detail: expect.stringContaining("cannot run the agent reviewer: ANTHROPIC_API_KEY is not set") as unknown,
  });
  expect((await scene.get("/v1/sessions")).json.sessions).toEqual([]);
});
