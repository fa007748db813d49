import { existsSync } from "node:fs";
import { expect, it, vi } from "vitest";
import type { EventOf, EventType, SessionEvent } from "../../domain/index.ts";
import { collect, transcript } from "../../testing/index.ts";
import { delta, openScene, prompt, result, text, type Step } from "./test-scene.ts";

/** Formats two turns with these steps, each from its prompt on. */
async function played(steps: readonly Step[], prompts: readonly string[] = ["hi"]): Promise<string[][]> {
  await using scene = await openScene(steps);
  const session = await scene.open();
  const turns: string[][] = [];
  for (const said of prompts) turns.push(read(await collect(session.prompt(said))));
  return turns;
}

function read(events: readonly SessionEvent[]): string[] {
  return transcript(events).filter((line) => !line.startsWith("opened") && !line.startsWith("started"));
}

function all<Type extends EventType>(events: readonly SessionEvent[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

const ask = (id: string, tool = "Bash") => ({
  send: {
    type: "control_request",
    request_id: id,
    request: { subtype: "can_use_tool", tool_name: tool, input: { command: "rm x" }, tool_use_id: `t-${id}` },
  },
});
const init = { send: { type: "system", subtype: "init", session_id: "other" } };
const lifecycle = (state: string) => ({ send: { type: "command_lifecycle", command_uuid: "$PROMPT", state } });

it("records a message once if it arrives in parts, whole, both, or only with the result", async () => {
  const steps = [prompt, delta("a"), delta("b"), text("ab"), text("whole"), delta("left"), result({ result: "ab" })];
  expect(await played([...steps, prompt, result({ result: "only here" })], ["one", "two"])).toEqual([
    ["says ab", "says whole", "says left", "ended done"],
    ["says only here", "ended done"],
  ]);
});

it("discards a message that was cut off and restarted", async () => {
  const again = { send: { type: "stream_event", event: { type: "message_start" }, parent_tool_use_id: null } };
  await using scene = await openScene([prompt, delta("hal"), again, delta("whole"), text("whole"), result()]);
  const events = await collect((await scene.open()).prompt("hi"));
  const [said, ...more] = all(events, "message.completed");
  expect(more).toEqual([]);
  const parts = all(events, "message.delta").filter(({ messageId }) => messageId === said?.messageId);
  expect(parts.map((part) => part.text).join("")).toBe("whole");
});

it("keeps sub-agent text out of messages and records its tool calls", async () => {
  const of = (content: object) => ({
    send: { type: "assistant", message: { content: [content] }, parent_tool_use_id: "t1" },
  });
  const call = { type: "tool_use", id: "t1", name: "Agent", input: { description: "Looks around" } };
  const ends = (id: string, parent: string | null) => ({
    send: {
      type: "user",
      message: { content: [{ type: "tool_result", tool_use_id: id, content: "found" }] },
      parent_tool_use_id: parent,
    },
  });
  await using scene = await openScene([
    prompt,
    delta("Let me"),
    text("Let me"),
    { send: { type: "assistant", message: { content: [call] }, parent_tool_use_id: null } },
    of({ type: "text", text: "looking" }),
    of({ type: "tool_use", id: "t2", name: "Read", input: { file_path: "/project/a" } }),
    ends("t2", "t1"),
    ends("t1", null),
    text("Done"),
    result(),
  ]);
  const events = await collect((await scene.open()).prompt("hi"));
  expect(read(events)).toEqual([
    "says Let me",
    "tool Looks around",
    "tool Read /project/a",
    "tool ok",
    "tool ok",
    "says Done",
    "ended done",
  ]);
  expect(all(events, "tool.updated")).toMatchObject([{ toolId: "t1", text: "looking" }]);
});

it("waits for a background agent and the model's response to its result", async () => {
  const task = { task_id: "k1", task_type: "local_agent" };
  const tasks = (...running: object[]) => ({
    send: { type: "system", subtype: "background_tasks_changed", tasks: running },
  });
  const ended = { send: { type: "system", subtype: "task_notification", task_id: "k1", status: "completed" } };
  expect(
    await played([prompt, tasks(task), text("It runs"), result(), ended, tasks(), init, text("It is done"), result()]),
  ).toEqual([["says It runs", "says It is done", "ended done"]]);
});

it("does not end the turn with the result of the program's own prompt", async () => {
  const steps = [
    prompt,
    lifecycle("queued"),
    text("by myself"),
    result(),
    lifecycle("started"),
    text("hello"),
    result(),
  ];
  expect(await played(steps)).toEqual([["says by myself", "says hello", "ended done"]]);
});

it("stops work between turns, refuses its requests, and reports it in the next turn", async () => {
  const steps = [prompt, result(), init, { wait: "interrupt" }, ask("q1"), { wait: "control_response" }];
  await using scene = await openScene([...steps, prompt, text("hello"), result()]);
  const session = await scene.open();
  await collect(session.prompt("one"));
  await vi.waitFor(async () => expect((await scene.heard()).at(-1)?.type).toBe("control_response"));
  const last = (await scene.heard()).at(-1);
  expect(last?.response).toMatchObject({ request_id: "q1", response: { behavior: "deny" } });
  expect(read(await collect(session.prompt("two")))).toEqual(["notice agent_stopped", "says hello", "ended done"]);
});

it("does not end the next turn with the result of work stopped between turns", async () => {
  const stopped = result({ subtype: "error_during_execution", is_error: true, errors: ["Request was aborted"] });
  const late = [prompt, result(), init, { wait: "interrupt" }, prompt, stopped];
  await using scene = await openScene([...late, lifecycle("queued"), lifecycle("started"), text("hello"), result()]);
  const session = await scene.open();
  await collect(session.prompt("one"));
  await vi.waitFor(async () => expect((await scene.heard()).at(-1)?.request?.subtype).toBe("interrupt"));
  expect(read(await collect(session.prompt("two")))).toEqual(["notice agent_stopped", "says hello", "ended done"]);
});

it("withdraws a request when the program withdraws it", async () => {
  const withdraw = { send: { type: "control_cancel_request", request_id: "q1" } };
  const steps = [prompt, ask("q1"), ask("q2"), { wait: "control_response" }, withdraw, text("never mind"), result()];
  await using scene = await openScene(steps);
  const session = await scene.open();
  const turn = collect(session.prompt("hi"));
  await vi.waitFor(() => expect(session.state.requests).toHaveLength(2));
  await session.answer("r2", { decision: "allow" });
  expect(all(await turn, "permission.resolved")).toMatchObject([
    { requestId: "r2", decision: "allow" },
    { requestId: "r1", decision: "cancelled" },
  ]);
  const answers = (await scene.heard()).filter(({ type }) => type === "control_response");
  expect(answers.map(({ response }) => response)).toMatchObject([{ request_id: "q2" }]);
});

it.each(["none", "read"] as const)("enforces %s although the program would not ask", async (permissions) => {
  const hook = (id: string, tool_name: string) => {
    const input = { hook_event_name: "PreToolUse", tool_name, tool_input: { command: "rm x" }, tool_use_id: `t-${id}` };
    return {
      send: {
        type: "control_request",
        request_id: id,
        request: { subtype: "hook_callback", callback_id: "gate", input },
      },
    };
  };
  const answered = { wait: "control_response" };
  const steps = [prompt, hook("q1", "Bash"), answered, hook("q2", "AskUserQuestion"), answered, result()];
  await using scene = await openScene(steps, { permissions });
  expect(read(await collect((await scene.open()).prompt("hi")))).toEqual(["tool rm x", "tool denied", "ended done"]);
  const heard = await scene.heard();
  expect(heard[1]?.request?.hooks).toEqual({ PreToolUse: [{ hookCallbackIds: ["gate"] }] });
  const answers = heard.filter(({ type }) => type === "control_response").map(({ response }) => response);
  expect(answers).toMatchObject([
    { response: { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny" } } },
    { response: {} },
  ]);
});

it("asks before each step once the session becomes read-only", async () => {
  await using scene = await openScene([prompt, result(), prompt, result()]);
  const session = await scene.open();
  await collect(session.prompt("one"));
  await session.change({ permissions: "read" });
  await collect(session.prompt("two"));
  const greetings = (await scene.heard()).filter(({ request }) => request?.subtype === "initialize");
  expect(greetings.map(({ request }) => request?.hooks !== null)).toEqual([false, true]);
});

it("refuses unsupported requests with a message", async () => {
  const odd = { send: { type: "control_request", request_id: "q1", request: { subtype: "mcp_message" } } };
  await using scene = await openScene([prompt, odd, { wait: "control_response" }, result()]);
  await collect((await scene.open()).prompt("hi"));
  expect((await scene.heard()).at(-1)?.response).toMatchObject({ subtype: "error", request_id: "q1" });
});

it("forwards an MCP server's elicitation and returns the answer", async () => {
  const schema = { type: "object", properties: { name: { type: "string" } } };
  const request = { subtype: "elicitation", mcp_server_name: "notes", message: "Your name?", requested_schema: schema };
  const asks = { send: { type: "control_request", request_id: "q1", request } };
  await using scene = await openScene([prompt, asks, { wait: "control_response" }, result()]);
  const session = await scene.open();
  const turn = collect(session.prompt("hi"));
  await vi.waitFor(() => expect(session.state.requests).toHaveLength(1));
  await session.answer("r1", { action: "accept", content: { name: "Ada" } });
  expect(all(await turn, "question.asked")).toMatchObject([{ message: "Your name?", from: "notes", schema }]);
  expect((await scene.heard()).at(-1)?.response).toMatchObject({
    response: { action: "accept", content: { name: "Ada" } },
  });
});

it("tolerates malformed records, keeps unknown ones, and shows noise", async () => {
  const odd = [
    { type: "assistant", message: 7 },
    { type: "assistant", message: { content: [null, 7, { type: "text", text: 7 }, { type: "tool_use", id: 7 }] } },
    { type: "user", message: { content: "x" } },
    { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "unknown" }] } },
    { type: "stream_event", event: [] },
    { type: "stream_event" },
    { type: "system", subtype: 7 },
    { type: "rate_limit_event" },
    { type: "control_request" },
    { type: "control_response", response: 7 },
    { type: "command_lifecycle" },
    { nothing: true },
    { type: "brand_new", of: "tomorrow" },
  ].map((send): Step => ({ send }));
  await using scene = await openScene([
    prompt,
    ...odd,
    { print: "\u001B[31mloud\u001B[0m\n" },
    text("hello"),
    result(),
  ]);
  const events = await collect((await scene.open()).prompt("hi"));
  expect(read(events)).toEqual(["prints loud\n", "says hello", "ended done"]);
  expect(all(events, "agent.raw").map(({ data }) => data)).toEqual([
    { type: "system", subtype: 7 },
    { nothing: true },
    { type: "brand_new", of: "tomorrow" },
  ]);
});

it("keeps every record once with raw, in order, also those from between turns", async () => {
  const told = { type: "system", subtype: "status", status: "requesting" };
  const steps = [prompt, { send: told }, delta("hel"), text("hello"), { send: { type: "brand_new" } }, result()];
  await using scene = await openScene([...steps, { send: { type: "late" } }, prompt, result()], { raw: true });
  const session = await scene.open();
  const types = (events: readonly SessionEvent[]) =>
    all(events, "agent.raw").map(({ data }) => (data as { type: string }).type);
  const events = await collect(session.prompt("hi"));
  expect(types(events)).toEqual(["control_response", "system", "stream_event", "assistant", "brand_new", "result"]);
  expect(all(events, "agent.raw")[1]?.data).toEqual(told);
  expect(read(events)).toEqual(["says hello", "ended done"]);
  expect(types(await collect(session.prompt("more")))).toEqual(["late", "result"]);
});

it.each([
  [
    "max turns",
    { subtype: "error_max_turns", errors: ["Reached maximum number of turns (2)"] },
    "agent_failed",
    "Reached maximum number of turns (2)",
  ],
  [
    "max turns in older versions",
    { subtype: "error_max_turns", is_error: false },
    "agent_failed",
    "Claude Code ended the turn with error_max_turns",
  ],
  [
    "diagnostic notes",
    { subtype: "error_during_execution", errors: ["[ede_diagnostic] x=1"] },
    "agent_failed",
    "Claude Code ended the turn with error_during_execution",
  ],
  [
    "a broken API",
    { result: "API Error: 500", terminal_reason: "api_error", api_error_status: 500 },
    "provider_failed",
    "API Error: 500",
  ],
  ["an overloaded API", { result: "Overloaded", api_error_status: 529 }, "provider_overloaded", "Overloaded"],
  ["no login", { result: "Invalid API key · Please run /login" }, "provider_auth", "run `claude` and then /login"],
  [
    "an expired login",
    { result: "OAuth token has expired.", api_error_status: 401 },
    "provider_auth",
    "claude setup-token",
  ],
])("fails a turn with a message after %s", async (_, of, code, words) => {
  await using scene = await openScene([prompt, result({ is_error: true, ...of })]);
  const [end] = all(await collect((await scene.open()).prompt("hi")), "turn.ended");
  expect(end?.outcome).toMatchObject({ status: "failed", code, message: expect.stringContaining(words) as string });
});

it("fails early with a wrong key instead of retrying for three minutes", async () => {
  const retry = (attempt: number) => ({
    send: {
      type: "system",
      subtype: "api_retry",
      attempt,
      max_retries: 10,
      error_status: 401,
      error: "authentication_failed",
    },
  });
  const aborted = result({ is_error: true, subtype: "error_during_execution" });
  expect(await played([prompt, retry(1), retry(2), { wait: "interrupt" }, aborted])).toEqual([
    ["notice api_retry", "notice api_retry", "ended failed provider_auth"],
  ]);
});

it("fails a turn with the last output of a program that died", async () => {
  await using scene = await openScene([prompt, { stderr: "out of memory\n" }, { exit: 7 }]);
  const events = await collect((await scene.open()).prompt("hi"));
  expect(all(events, "turn.ended")).toMatchObject([
    { outcome: { status: "failed", code: "agent_exited", message: "Claude Code exited with code 7: out of memory" } },
  ]);
});

it("ends a program that closed its output, and its turn", async () => {
  await using scene = await openScene([prompt, { mute: true }]);
  const session = await scene.open();
  expect(all(await collect(session.prompt("hi")), "turn.ended")).toMatchObject([
    { outcome: { status: "failed", code: "agent_exited" } },
  ]);
});

it("records an exit between turns before the next turn starts another program", async () => {
  await using scene = await openScene([prompt, result(), { exit: 3 }]);
  const session = await scene.open();
  const [first] = all(await collect(session.prompt("one")), "process.started");
  await vi.waitFor(() => expect(() => process.kill(first?.pid ?? 0, 0)).toThrow("ESRCH"));
  const processes = (await collect(session.prompt("two"))).filter(({ type }) => type.startsWith("process."));
  expect(processes.slice(0, 2)).toMatchObject([
    { type: "process.exited", pid: first?.pid, exitCode: 3 },
    { type: "process.started" },
  ]);
});

it("reports the usage of the turn if the program reports only session totals", async () => {
  const usage = { input_tokens: 10, output_tokens: 2, cache_read_input_tokens: 5, cache_creation_input_tokens: 1 };
  const since = {
    big: { inputTokens: 4, outputTokens: 1, costUSD: 0.5, contextWindow: 100 },
    small: { inputTokens: 1 },
  };
  await using scene = await openScene([
    prompt,
    result({ usage, total_cost_usd: 0.25 }),
    prompt,
    result({ usage, total_cost_usd: 0.75 }),
    prompt,
    result({ usage, total_cost_usd: 2, model_usage_since_last_result: since }),
  ]);
  const session = await scene.open();
  for (const said of ["one", "two", "three"]) await collect(session.prompt(said));
  const tokens = { inputTokens: 16, outputTokens: 2, cacheReadTokens: 5, cacheWriteTokens: 1, costBy: "reported" };
  expect(all(await scene.events(session.id), "usage.reported")).toMatchObject([
    { ...tokens, costUsd: 0.25 },
    { ...tokens, costUsd: 0.5 },
    { model: "big", inputTokens: 4, outputTokens: 1, costUsd: 0.5, contextSize: 100 },
    { model: "small", inputTokens: 1, outputTokens: 0 },
  ]);
});

it("counts nothing twice if a result has no session cost", async () => {
  const usage = { input_tokens: 1 };
  const costs = [{ total_cost_usd: 0.5 }, {}, { total_cost_usd: 0.75 }];
  await using scene = await openScene(costs.flatMap((cost) => [prompt, result({ usage, ...cost })]));
  const session = await scene.open();
  for (const said of ["one", "two", "three"]) await collect(session.prompt(said));
  const told = all(await scene.events(session.id), "usage.reported").map(({ costUsd }) => costUsd);
  expect(told).toEqual([0.5, undefined, 0.25]);
});

it("reports no cost for the first turn of a resumed session if the program reports only session totals", async () => {
  const steps = [prompt, result({ usage: { input_tokens: 1 }, total_cost_usd: 3 })];
  await using scene = await openScene(steps, { context: { nativeId: "s1" } });
  const [usage] = all(await collect((await scene.open()).prompt("hi")), "usage.reported");
  expect(usage).not.toHaveProperty("costUsd");
});

it("disables updates and passes servers in a private file", async () => {
  const server = {
    type: "http" as const,
    name: "notes",
    url: "http://127.0.0.1:9/mcp",
    headers: { Authorization: "s3cret" },
  };
  await using scene = await openScene([prompt, result()], {
    env: { CLAUDE_CODE_MAX_RETRIES: "3" },
    context: { mcpServers: [server] },
    files: { ".mcp.json": JSON.stringify({ mcpServers: { brought: { command: "x" } } }) },
  });
  await scene.open();
  const [started] = await scene.heard();
  expect(started?.env).toMatchObject({ DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_MAX_RETRIES: "3" });
  expect(started?.servers?.config).toEqual({
    mcpServers: { notes: { type: "http", url: server.url, headers: server.headers } },
  });
  expect(existsSync(started?.servers?.file ?? "")).toBe(false);
  expect(started?.args?.join(" ")).not.toContain("s3cret");
  expect(started?.args).toContain(`--settings=${JSON.stringify({ disabledMcpjsonServers: ["brought"] })}`);
});

it.each([
  [
    { stderr: "option '--permission-mode <mode>' argument 'x' is invalid. Allowed choices are plan, auto.\n" },
    "config_invalid",
    "valid modes: plan, auto",
  ],
  [{ stderr: "cannot be used with root/sudo privileges\n" }, "config_invalid", "IS_SANDBOX"],
  [{ stderr: "Not logged in · Please run /login\n" }, "provider_auth", "ANTHROPIC_API_KEY"],
  [{ print: "Segmentation fault\n" }, "agent_exited", "code 1 before it was ready: Segmentation fault"],
])("explains what to do if the program exits at startup with %j", async (words, code, told) => {
  await using scene = await openScene([{ silent: true }, words, { exit: 1 }]);
  await expect(scene.open()).rejects.toMatchObject({ code, message: expect.stringContaining(told) as string });
});

it("fails immediately if the program rejects the handshake", async () => {
  const response = { subtype: "error", request_id: "rookery-1", error: "no such request" };
  const refusal = { send: { type: "control_response", response } };
  await using scene = await openScene([{ silent: true }, { wait: "initialize" }, refusal, { wait: "never" }]);
  await expect(scene.open()).rejects.toMatchObject({
    code: "agent_failed",
    message: expect.stringContaining("no such request") as string,
  });
});

it("gives up on a program that does not answer the handshake", async () => {
  await using scene = await openScene([{ silent: true }, { stderr: "thinking\n" }, { wait: "user" }]);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const opening = expect(scene.open()).rejects.toMatchObject({ code: "agent_failed" });
    while ((await scene.heard()).length < 2) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(30_000);
    await opening;
  } finally {
    vi.useRealTimers();
  }
});

it("lists the commands that Claude Code reports", async () => {
  await using scene = await openScene([prompt, text("hello"), result()]);
  const session = await scene.open();
  expect(session.commands).toEqual([{ name: "review", description: "Reviews the changes", hint: "[file]" }]);
});
