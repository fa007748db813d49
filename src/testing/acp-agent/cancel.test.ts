import { describe, expect, it } from "vitest";
import type { AcpStep } from "./steps/steps.ts";
import type { AcpTurnScript } from "./index.ts";
import { type InProcess, open } from "./test-client.ts";

/** Starts a prompt that says "begun" and then runs these steps. */
async function begun(rest: readonly AcpStep[], onCancel: NonNullable<AcpTurnScript["onCancel"]> = {}) {
  const scene = open({ prompts: [{ steps: [{ say: "begun" }, ...rest], onCancel }, []] });
  const { client } = scene;
  const sessionId = await client.newSession();
  const prompted = client.prompt(sessionId, "Go", "the-prompt");
  await client.until(() => (client.text().startsWith("begun") ? true : undefined));
  const cancel = () => client.send({ method: "session/cancel", params: { sessionId } });
  return { ...scene, sessionId, prompted, cancel };
}

/** Resolves when the agent has handled all earlier messages. */
const roundTrip = ({ client }: InProcess) => client.request("session/list");

describe("session/cancel", () => {
  it.each<[string, AcpStep[]]>([
    ["a pause", [{ pause: 60_000 }]],
    ["a file that never comes", [{ waitForFile: "/nowhere/at/all" }]],
    ["a message that never comes", [{ waitForMessage: "_never" }]],
    ["its cancellation", [{ waitForCancel: true }]],
    ["two things at once", [{ atOnce: [[{ pause: 60_000 }], [{ waitForCancel: true }]] }]],
  ])("ends a prompt that waits for %s with cancelled", async (_, steps) => {
    await using scene = await begun(steps);
    scene.cancel();
    expect((await scene.prompted).result).toEqual({ stopReason: "cancelled" });
    expect((await scene.client.prompt(scene.sessionId)).result).toEqual({ stopReason: "end_turn" });
  });

  it("abandons a pending request to the client and ignores its late answer", async () => {
    await using scene = await begun([{ request: { method: "_slow" } }]);
    const { client, agent } = scene;
    const { id } = await client.first(({ method }) => method === "_slow");
    scene.cancel();
    expect((await scene.prompted).result).toEqual({ stopReason: "cancelled" });
    expect((await client.first(({ method }) => method === "$/cancel_request")).params).toEqual({ requestId: id });
    client.send({ id, result: {} });
    await roundTrip(scene);
    expect(agent.problems).toEqual([]);
  });

  it("runs scripted steps, answers with an error or with nothing, or is ignored", async () => {
    await using steps = await begun([{ waitForCancel: true }], { steps: [{ say: "stopping" }] });
    steps.cancel();
    expect((await steps.prompted).result).toEqual({ stopReason: "cancelled" });
    expect(steps.client.text()).toBe("begun|stopping");

    const error = { code: -32603, message: "aborted" };
    await using failing = await begun([{ waitForCancel: true }], { answer: { error } });
    failing.cancel();
    expect((await failing.prompted).error).toEqual(error);

    await using silent = await begun([{ waitForCancel: true }], { answer: { times: 0 } });
    silent.cancel();
    await roundTrip(silent);
    expect(silent.client.messages.some(({ id }) => id === "the-prompt")).toBe(false);

    await using stubborn = await begun([{ waitForMessage: "_go" }, { say: "on" }], "ignore");
    stubborn.cancel();
    await roundTrip(stubborn);
    stubborn.client.send({ method: "_go" });
    expect((await stubborn.prompted).result).toEqual({ stopReason: "end_turn" });
    expect(stubborn.client.text()).toBe("begun|on");
  });

  it("does not end a hanging prompt; the end of the input does", async () => {
    await using scene = await begun([{ hang: true }]);
    scene.cancel();
    await roundTrip(scene);
    expect(scene.client.messages.some(({ id }) => id === "the-prompt")).toBe(false);
    scene.input.end();
    expect((await scene.prompted).result).toEqual({ stopReason: "cancelled" });
    expect((await scene.agent.closed).reason).toBe("eof");
  });

  it("skips the steps after the answer, unless onCancel has its own", async () => {
    const turn = { steps: [{ waitForCancel: true as const }], after: [{ say: "tail" }] };
    await using scene = open({ prompts: [turn, { ...turn, onCancel: { after: [{ say: "late" }] } }, []] });
    const { client } = scene;
    const sessionId = await client.newSession();
    for (const id of [1, 2]) {
      const prompted = client.prompt(sessionId, "Go", id);
      client.send({ method: "session/cancel", params: { sessionId } });
      expect((await prompted).result).toEqual({ stopReason: "cancelled" });
    }
    await client.prompt(sessionId);
    expect(client.text()).toBe("late");
  });

  it("does not affect a session without a prompt, or the next prompt", async () => {
    await using scene = open({ otherwise: [{ say: "fine" }] });
    const sessionId = await scene.client.newSession();
    scene.client.send({ method: "session/cancel", params: { sessionId } });
    scene.client.send({ method: "session/cancel", params: { sessionId: "nobody" } });
    expect((await scene.client.prompt(sessionId)).result).toEqual({ stopReason: "end_turn" });
  });
});

describe("session/close", () => {
  it("cancels the session's prompt first, even with a pending permission request", async () => {
    await using scene = await begun([{ permission: {} }]);
    const { client, sessionId } = scene;
    await client.first(({ method }) => method === "session/request_permission");
    const closed = client.request("session/close", { sessionId }, "the-close");
    expect((await scene.prompted).result).toEqual({ stopReason: "cancelled" });
    expect((await closed).result).toEqual({});
    const answers = client.messages.flatMap(({ id, method }) => (method === undefined ? [id] : []));
    expect(answers.slice(-2)).toEqual(["the-prompt", "the-close"]);
    expect((await client.prompt(sessionId)).error?.code).toBe(-32002);
    expect((await client.request("session/close", { sessionId })).error?.code).toBe(-32002);
  });
});

describe("$/cancel_request", () => {
  it.each([
    ["a prompt", "session/prompt"],
    ["another request", "session/new"],
  ])("ends %s with -32800", async (_, method) => {
    const waits = [{ say: "begun" }, { waitForCancel: true as const }];
    await using scene = open({ otherwise: waits, on: { "session/new": [{}, { steps: waits }] } });
    const { client } = scene;
    const sessionId = await client.newSession();
    const prompt = [{ type: "text", text: "Go" }];
    const asked = client.request(method, { sessionId, prompt, cwd: "/project", mcpServers: [] }, 77);
    await client.until(() => (client.text() === "begun" ? true : undefined));
    client.send({ method: "$/cancel_request", params: { requestId: 77 } });
    expect((await asked).error?.code).toBe(-32800);
  });

  it("has no effect on a finished request", async () => {
    await using scene = open({ otherwise: [] });
    const sessionId = await scene.client.newSession();
    await scene.client.prompt(sessionId, "Go", 5);
    scene.client.send({ method: "$/cancel_request", params: { requestId: 5 } });
    await roundTrip(scene);
    expect(scene.client.messages.filter(({ id }) => id === 5)).toHaveLength(1);
  });
});

describe("a session", () => {
  it("runs one prompt at a time, and accepts the next one while the steps after the response still run", async () => {
    const tail = { steps: [{ say: "body" }], after: [{ waitForMessage: "_go" }, { say: "tail" }] };
    await using scene = open({ prompts: [tail, [{ waitForMessage: "_go" }, { say: "second" }]] });
    const { client } = scene;
    const sessionId = await client.newSession();
    await client.prompt(sessionId);
    const second = client.prompt(sessionId);
    expect((await client.prompt(sessionId)).error?.code).toBe(-32600);
    client.send({ method: "_go" });
    await second;
    await client.until(() => (client.text().includes("tail") ? true : undefined));
    expect(client.text()).toMatch(/^body\|(tail\|second|second\|tail)$/);
  });
});
