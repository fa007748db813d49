import { describe, expect, it } from "vitest";
import type { AcpStep } from "./steps/steps.ts";
import { STABLE_UPDATES, UNKNOWN_UPDATES } from "./index.ts";
import { open } from "./test-client.ts";

describe("a scripted agent", () => {
  it("initializes, opens sessions and runs the turns in order", async () => {
    await using scene = open({ prompts: [[{ think: "Hm." }, { say: ["Hel", "lo"] }], [{ stop: "max_tokens" }]] });
    const { client } = scene;
    expect(await client.result("initialize", { protocolVersion: 1 })).toMatchObject({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true },
    });
    const sessionId = await client.newSession();
    expect(await client.newSession()).not.toBe(sessionId);
    expect((await client.prompt(sessionId)).result).toEqual({ stopReason: "end_turn" });
    expect(client.updates(sessionId)).toEqual([
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Hm." } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Hel" } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "lo" } },
    ]);
    expect((await client.prompt(sessionId)).result).toEqual({ stopReason: "max_tokens" });
    expect(scene.agent.problems).toEqual([]);
  });

  it("sends updates of every kind unchanged, including unknown ones", async () => {
    const updates = [...Object.values(STABLE_UPDATES), ...UNKNOWN_UPDATES];
    await using scene = open({ prompts: [updates.map((update) => ({ update }))] });
    const sessionId = await scene.client.newSession();
    await scene.client.prompt(sessionId);
    expect(scene.client.updates(sessionId)).toEqual(updates);
    expect(Object.keys(STABLE_UPDATES)).toHaveLength(14);
  });

  it("says which option the client chose and runs its steps", async () => {
    const outcome = { outcome: "selected", optionId: "allow_once" };
    const asks = { permission: { on: { allow_once: [{ say: "allowed" }], cancelled: [{ say: "cancelled" }] } } };
    await using scene = open({ prompts: [[asks, { say: "done" }]] }, { "session/request_permission": { outcome } });
    const sessionId = await scene.client.newSession();
    await scene.client.prompt(sessionId);
    expect(scene.client.text()).toBe(
      'session/request_permission: {"outcome":{"outcome":"selected","optionId":"allow_once"}}|allowed|done',
    );
  });

  it("uses a conditional turn for the first prompt that matches", async () => {
    const about = (word: string) => ({ when: word, steps: [{ say: `about ${word}` }] });
    await using scene = open({ prompts: [about("cats"), about("dogs")], otherwise: [{ say: "otherwise" }] });
    const sessionId = await scene.client.newSession();
    for (const text of ["Tell me of dogs", "and dogs", "and cats"]) await scene.client.prompt(sessionId, text);
    expect(scene.client.text()).toBe("about dogs|otherwise|about cats");
  });

  it("fails a prompt without a scripted turn and records the problem", async () => {
    await using scene = open({});
    const sessionId = await scene.client.newSession();
    expect((await scene.client.prompt(sessionId)).error?.message).toBe("the script has no turn for prompt number 1");
    expect(scene.agent.problems).toEqual(["the script has no turn for prompt number 1"]);
  });

  it.each<[string, AcpStep[]]>([
    ["in the middle", [{ permission: {} }, { say: "too far" }]],
    ["at the end", [{ permission: {} }]],
  ])("waits for the answer to a pending permission request when a prompt is cancelled %s", async (_, steps) => {
    await using scene = open({ prompts: [steps] });
    const { client } = scene;
    const sessionId = await client.newSession();
    const prompted = client.prompt(sessionId);
    const asked = await client.first(({ method }) => method === "session/request_permission");
    client.send({ method: "session/cancel", params: { sessionId } });
    client.send({ id: asked.id, result: { outcome: { outcome: "cancelled" } } });
    expect((await prompted).result).toEqual({ stopReason: "cancelled" });
    expect(client.text()).toBe('session/request_permission: {"outcome":{"outcome":"cancelled"}}');
  });

  it("records received messages unchanged and in order", async () => {
    await using scene = open({ otherwise: [] });
    const { client } = scene;
    await client.request("initialize", { protocolVersion: 1, _meta: { kept: true } }, 7);
    client.send({ method: "_anything", params: { x: 1 } });
    await client.newSession();
    expect(scene.agent.received.slice(0, 2)).toEqual([
      { jsonrpc: "2.0", id: 7, method: "initialize", params: { protocolVersion: 1, _meta: { kept: true } } },
      { jsonrpc: "2.0", method: "_anything", params: { x: 1 } },
    ]);
    expect(await scene.agent.receivedMethod("session/new")).toEqual({ cwd: "/project", mcpServers: [] });
    const second = scene.agent.receivedMethod("session/new", 1);
    await client.newSession({ cwd: "/elsewhere" });
    expect(await second).toEqual({ cwd: "/elsewhere", mcpServers: [] });
  });

  it("accepts the next prompt, even with the same id, as soon as the response is readable", async () => {
    await using scene = open({ otherwise: [{ say: "again" }] });
    const { client, output, agent } = scene;
    const sessionId = await client.newSession();
    const ask = () => client.send({ id: 1, method: "session/prompt", params: { sessionId, prompt: [] } });
    let left = 100;
    output.on("data", () => {
      if (client.messages.at(-1)?.id === 1 && --left > 0) ask();
    });
    ask();
    await client.until(() => (left === 0 ? true : undefined));
    expect(client.messages.filter(({ id, error }) => id === 1 && error === undefined)).toHaveLength(100);
    expect(agent.problems).toEqual([]);
  });

  it("ends when its input ends, after it has answered pending requests", async () => {
    await using scene = open({ otherwise: [{ say: "still here" }] });
    const { client, input, agent } = scene;
    const sessionId = await client.newSession();
    const prompted = client.prompt(sessionId);
    const listed = client.first(({ id }) => id === 9);
    input.end('\n  \n{"jsonrpc":"2.0","id":9,"method":"session/list"}');
    expect((await prompted).result).toEqual({ stopReason: "end_turn" });
    expect((await listed).result).toHaveProperty("sessions");
    expect(await agent.closed).toEqual({ reason: "eof", code: 0, signal: null });
    expect(client.messages.map(({ error }) => error)).not.toContainEqual(expect.anything());
  });
});
