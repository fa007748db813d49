import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userConfigFile } from "../src/config/index.ts";
import { Rookery } from "../src/rookery.ts";
import { DisposeStack } from "../src/stdx/index.ts";
import { startCollector, type CollectedSpan, type TestCollector } from "../src/telemetry/otlp/test-collector.ts";
import {
  builtEnvironment,
  call,
  say,
  startModelServer,
  temporaryFolder,
  temporaryRepository,
  type Script,
} from "../src/testing/index.ts";

const SECRET = "Bearer-of-the-collector";

let owned: DisposeStack;
let collector: TestCollector;
beforeEach(async () => {
  owned = new DisposeStack();
  collector = owned.use(await startCollector());
});
afterEach(() => owned[Symbol.asyncDispose]());

async function openScene(script: Script, extra: Record<string, string> = {}) {
  const home = owned.use(await temporaryFolder());
  const repository = owned.use(await temporaryRepository({ "a.txt": "one\n" }));
  const model = owned.use(await startModelServer(script));
  const env = builtEnvironment({
    home: home.path,
    extra: {
      ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      ...{ OTEL_SERVICE_NAME: "nest", OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test%20one" },
      ...{ OTEL_EXPORTER_OTLP_HEADERS: `authorization=${SECRET}`, ...extra },
    },
  });
  await mkdir(dirname(userConfigFile(env)), { recursive: true });
  await writeFile(
    userConfigFile(env),
    `[agents.builtin]\nmodel = "anthropic/claude-sonnet-5"\npermissions = "all"\n[agents.shell]\nbackend = "command"\ncommand = ["sh", "-c", "env > seen.txt; {prompt}"]\n`,
  );
  const open = (home: string) => Rookery.open({ env: { ...env, ROOKERY_HOME: home }, cwd: repository.path });
  return { open, home: join(home.path, "state"), repository, env };
}

const find = (name: string): CollectedSpan => {
  const found = collector.spans.filter((span) => span.name === name);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0]!;
};

describe("OpenTelemetry", () => {
  it("gets a span for a turn, its model calls and its tool calls, without content", async () => {
    const scene = await openScene([call("bash", { command: "echo secret-argument" }), say("secret-reply")]);
    const rookery = await scene.open(scene.home);
    const session = await rookery.openSession({ agent: "builtin" });
    const { id } = session;
    expect(await session.prompt("secret-prompt").outcome).toMatchObject({ status: "done" });
    await rookery.close();
    expect(collector.faults).toEqual([]);
    const turn = find("invoke_agent builtin");
    const tool = find("execute_tool bash");
    const chats = collector.spans.filter(({ name }) => name === "chat claude-sonnet-5");
    expect(chats).toHaveLength(2);
    expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(turn.parentSpanId).toBeUndefined();
    for (const span of [tool, ...chats]) {
      expect(span.parentSpanId).toBe(turn.spanId);
      expect(span.start).toBeGreaterThanOrEqual(turn.start);
      expect(span.end).toBeLessThanOrEqual(turn.end);
    }
    expect(turn.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.agent.name": "builtin",
      "gen_ai.request.model": "claude-sonnet-5",
      "gen_ai.conversation.id": id,
      "rookery.turn.outcome": "done",
    });
    expect(chats[0]?.kind).toBe(3);
    expect(chats[0]?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.usage.input_tokens": expect.any(Number) as unknown,
      "gen_ai.usage.output_tokens": expect.any(Number) as unknown,
    });
    expect(tool.attributes).toMatchObject({ "gen_ai.tool.name": "bash", "rookery.tool.outcome": "ok" });
    const sent = collector.requests.map(({ body }) => body).join("\n");
    expect(sent).not.toMatch(/secret-(prompt|reply|argument)/);
    expect(collector.requests[0]?.headers.authorization).toBe(SECRET);
    expect(collector.resources[0]).toMatchObject({
      "service.name": "nest",
      "deployment.environment.name": "test one",
      "process.pid": process.pid,
    });
    expect([...collector.metrics.keys()]).toEqual(
      expect.arrayContaining(["rookery.turns.ended", "gen_ai.client.token.usage", "rookery.append.duration"]),
    );
  });

  it("gets prompts, replies, arguments and results only if they are asked for", async () => {
    const scene = await openScene([call("bash", { command: "echo a-result" }), say("the reply")], {
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    });
    const rookery = await scene.open(scene.home);
    const session = await rookery.openSession({ agent: "builtin" });
    await session.prompt("the prompt").outcome;
    await rookery.close();
    expect(collector.faults).toEqual([]);
    expect(find("invoke_agent builtin").attributes).toMatchObject({
      "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: "the prompt" }] }],
      "gen_ai.output.messages": [{ role: "assistant", parts: [{ type: "text", content: "the reply" }] }],
    });
    expect(find("execute_tool bash").attributes).toMatchObject({
      "gen_ai.tool.call.arguments": { command: "echo a-result" },
      "gen_ai.tool.call.result": expect.stringContaining("a-result") as unknown,
    });
  });

  it("gets one trace for a task with its stages, merge and turns; children do not get the headers", async () => {
    const scene = await openScene([]);
    const rookery = await scene.open(scene.home);
    const task = await rookery.startTask({
      prompt: "echo two >> a.txt",
      id: "t",
      agent: "shell",
      cwd: scene.repository.path,
    });
    await rookery.runTasks({ only: task.id });
    const { worktree } = (await rookery.store.task("t"))!;
    await rookery.close();
    expect(collector.faults).toEqual([]);
    const root = find("invoke_workflow");
    const stage = collector.spans.find(({ name }) => name.startsWith("stage "))!;
    const turn = find("invoke_agent shell");
    expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect([root.parentSpanId, stage.parentSpanId, turn.parentSpanId]).toEqual([undefined, root.spanId, stage.spanId]);
    expect(root.attributes).toMatchObject({ "rookery.task.id": "t", "rookery.task.outcome": "done" });
    expect(stage.attributes).toMatchObject({ "rookery.stage.passed": true, "rookery.stage.attempt": 1 });
    expect(worktree).toBeDefined();
    const seen = await scene.repository.git("show", "rookery/t:seen.txt");
    expect(seen).toContain("OTEL_SERVICE_NAME=nest");
    expect(seen).not.toContain(SECRET);
  });

  it("receives nothing from a process that only reads", async () => {
    const scene = await openScene([]);
    const rookery = await scene.open(scene.home);
    expect(rookery.telemetry).toBeDefined();
    await rookery.sessions();
    await rookery.close();
    expect(collector.requests).toEqual([]);
  });

  it("does not delay or break a turn, and delays the end by at most two seconds, if its collector hangs", async () => {
    const hanging = owned.use(await startCollector(Array.from({ length: 9 }, () => "hang" as const)));
    const scene = await openScene([say("hello")], { OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url });
    const rookery = await scene.open(scene.home);
    const session = await rookery.openSession({ agent: "builtin" });
    expect(await session.prompt("hi").outcome).toMatchObject({ status: "done" });
    await session[Symbol.asyncDispose]();
    const since = performance.now();
    await rookery.close();
    expect(hanging.requests.length).toBeGreaterThan(0);
    expect(performance.now() - since).toBeLessThan(4_000); // with room for a busy machine
  });

  it("is not loaded, and nothing is sent, without its variables", async () => {
    const scene = await openScene([say("hello")], { OTEL_EXPORTER_OTLP_ENDPOINT: "" });
    await using rookery = await scene.open(scene.home);
    expect(rookery.telemetry).toBeUndefined();
    const session = await rookery.openSession({ agent: "builtin" });
    await session.prompt("hi").outcome;
    expect(collector.requests).toEqual([]);
  });
});
