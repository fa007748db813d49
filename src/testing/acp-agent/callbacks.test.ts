import { describe, expect, it } from "vitest";
import type { AcpScript } from "./index.ts";
import type { AcpStep } from "./steps/steps.ts";
import { type Answers, open, type Params } from "./test-client.ts";

const EVERYTHING = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {}, url: {} },
};

/** Sends one prompt with these steps. Returns the agent's text and its requests to the client. */
async function played(steps: readonly AcpStep[], answers: Answers, more: AcpScript = {}, offered: Params = EVERYTHING) {
  await using scene = open({ ...more, prompts: [steps] }, answers);
  const { client } = scene;
  await client.result("initialize", { protocolVersion: 1, clientCapabilities: offered });
  const sessionId = await client.newSession();
  const { result } = await client.prompt(sessionId);
  const asked = client.messages.filter(({ id, method }) => id !== undefined && method !== undefined);
  return {
    said: client.text().split("|"),
    asked: asked.map(({ method, params }) => [method, params]),
    ids: asked.map(({ id }) => id),
    notified: client.messages.filter(({ id, method }) => id === undefined && method !== "session/update"),
    updates: client.updates(),
    result,
    problems: scene.agent.problems,
  };
}

describe("the agent requests", () => {
  it("a permission with the options of the script", async () => {
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    const toolCall = { toolCallId: "call-9", title: "Delete all", kind: "delete" };
    const outcome = { outcome: "selected", optionId: "yes" };
    const { asked, said } = await played([{ permission: { options, toolCall, echo: false } }, { say: "quiet" }], {
      "session/request_permission": { outcome },
    });
    expect(asked).toEqual([["session/request_permission", { sessionId: "session-1", toolCall, options }]]);
    expect(said).toEqual(["quiet"]);
  });

  it("reads and writes of files", async () => {
    const steps = [
      { readFile: { path: "/project/a", line: 2, limit: 1 } },
      { writeFile: { path: "/project/b", content: "text" } },
    ];
    const { asked, said } = await played(steps, { "fs/read_text_file": { content: "a" }, "fs/write_text_file": {} });
    expect(asked).toEqual([
      ["fs/read_text_file", { sessionId: "session-1", path: "/project/a", line: 2, limit: 1 }],
      ["fs/write_text_file", { sessionId: "session-1", path: "/project/b", content: "text" }],
    ]);
    expect(said).toEqual(['fs/read_text_file: {"content":"a"}', "fs/write_text_file: {}"]);
  });

  it("a terminal, shows it, waits for its exit and releases it", async () => {
    const answers = {
      "terminal/create": { terminalId: "t" },
      "terminal/wait_for_exit": { exitCode: 0 },
      "terminal/output": { output: "hi", truncated: false },
      "terminal/release": {},
    };
    const step = { terminal: { command: "echo", args: ["hi"], cwd: "/project", toolCallId: "call-1" } };
    const { asked, said, updates } = await played([step], answers);
    const of = { sessionId: "session-1", terminalId: "t" };
    expect(asked).toEqual([
      ["terminal/create", { sessionId: "session-1", command: "echo", args: ["hi"], cwd: "/project" }],
      ["terminal/wait_for_exit", of],
      ["terminal/output", of],
      ["terminal/release", of],
    ]);
    expect(said.at(-2)).toBe('terminal/output: {"output":"hi","truncated":false}');
    expect(updates).toContainEqual({
      sessionUpdate: "tool_call_update",
      toolCallId: "call-1",
      content: [{ type: "terminal", terminalId: "t" }],
    });
  });

  it("the end of a terminal, in the order of the script", async () => {
    const answers = { "terminal/create": { terminalId: "t" }, "terminal/kill": {}, "terminal/release": {} };
    const { asked } = await played([{ terminal: { command: "sleep", then: ["kill", "release"] } }], answers);
    expect(asked.map(([method]) => method)).toEqual(["terminal/create", "terminal/kill", "terminal/release"]);
  });

  it("input of the user, in a form or on a page", async () => {
    const answers = { "elicitation/create": { action: "accept", content: { answer: "42" } } };
    const steps = [{ elicit: { message: "How many?" } }, { elicit: { message: "Log in", url: "https://x.invalid" } }];
    const { asked, notified } = await played(steps, answers);
    expect(asked.map(([, params]) => params)).toMatchObject([
      { sessionId: "session-1", mode: "form", message: "How many?", requestedSchema: { type: "object" } },
      { sessionId: "session-1", mode: "url", url: "https://x.invalid", elicitationId: "elicitation-1" },
    ]);
    expect(notified.map(({ method, params }) => [method, params])).toEqual([
      ["elicitation/complete", { elicitationId: "elicitation-1" }],
    ]);
  });

  it("nothing that the client does not support, unless the script says so", async () => {
    const steps: AcpStep[] = [
      { readFile: { path: "/a" } },
      { writeFile: { path: "/a", content: "" } },
      { terminal: { command: "ls" } },
      { elicit: { message: "?" } },
      { request: { method: "fs/read_text_file", params: { path: "/a" } } },
    ];
    const { asked, said } = await played(steps, { "fs/read_text_file": { content: "" } }, {}, {});
    expect(asked.map(([method]) => method)).toEqual(["fs/read_text_file"]);
    expect(said.slice(0, 4)).toEqual([
      "the client does not support fs/read_text_file",
      "the client does not support fs/write_text_file",
      "the client does not support terminal/create",
      "the client does not support elicitation/create",
    ]);
  });

  it("several things concurrently, with ids of the scripted type", async () => {
    const ask = (method: string) => [{ request: { method } }];
    const { ids, said } = await played([{ atOnce: [ask("_a"), ask("_b")] }], { _a: {}, _b: {} }, { ids: "string" });
    expect(ids).toEqual(["agent-1", "agent-2"]);
    expect(said.toSorted()).toEqual(["_a: {}", "_b: {}"]);
  });

  it("and says the error when the client rejects a request", async () => {
    await using scene = open({ prompts: [[{ request: { method: "_ext" } }]] });
    const { client } = scene;
    const sessionId = await client.newSession();
    const prompted = client.prompt(sessionId);
    const { id } = await client.first(({ method }) => method === "_ext");
    client.send({ id, error: { code: -32601, message: "no" } });
    await prompted;
    expect(client.text()).toBe('_ext failed: {"code":-32601,"message":"no"}');
  });
});

it("releases its terminal when it is cancelled", async () => {
  const answers = { "terminal/create": { terminalId: "t" }, "terminal/release": {} };
  await using scene = open({ prompts: [[{ terminal: { command: "sleep" } }]] }, answers);
  const { client } = scene;
  await client.result("initialize", { clientCapabilities: EVERYTHING });
  const sessionId = await client.newSession();
  const prompted = client.prompt(sessionId);
  await client.first(({ method }) => method === "terminal/wait_for_exit");
  client.send({ method: "session/cancel", params: { sessionId } });
  expect((await prompted).result).toEqual({ stopReason: "cancelled" });
  expect(client.messages.some(({ method }) => method === "terminal/release")).toBe(true);
});

it("records a response without a request as a problem", async () => {
  await using scene = open({});
  scene.client.send({ id: 99, result: {} });
  await scene.client.request("session/list");
  expect(scene.agent.problems).toEqual(['a response without a request: {"jsonrpc":"2.0","id":99,"result":{}}']);
});
