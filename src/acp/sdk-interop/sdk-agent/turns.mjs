/** Plays a turn of the agent, selected by the first word of the prompt. */

import { once } from "node:events";
import path from "node:path";
import { RequestError } from "@agentclientprotocol/sdk";

const text = (text) => ({ type: "text", text });

const PERMISSION_OPTIONS = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

export const TURNS = {
  async echo({ prompt, say }) {
    for (const block of prompt) await say(block.type === "text" ? block.text : `[${block.type}]`);
  },

  async "every-update"({ update, session }) {
    for (const body of everyUpdate(session.cwd)) await update(body);
  },

  async permission({ client, session, say }) {
    const toolCall = { toolCallId: "call-1", title: "Delete a file", kind: "delete" };
    const { outcome } = await client.request("session/request_permission", {
      sessionId: session.id,
      toolCall,
      options: PERMISSION_OPTIONS,
    });
    await say(outcome.outcome === "selected" ? `selected ${outcome.optionId}` : outcome.outcome);
  },

  /** Asks for permission and withdraws the request before it is answered. */
  async "withdrawn-permission"({ client, session, say }) {
    const withdrawn = new AbortController();
    const asked = client.request(
      "session/request_permission",
      { sessionId: session.id, toolCall: { toolCallId: "call-2", title: "Never mind" }, options: PERMISSION_OPTIONS },
      { cancellationSignal: withdrawn.signal },
    );
    withdrawn.abort();
    await asked.then(
      ({ outcome }) => say(outcome.outcome),
      (error) => say(`error ${error.code}`),
    );
  },

  async read({ client, session, rest: [file, line, limit], say }) {
    const { content } = await client.request("fs/read_text_file", {
      sessionId: session.id,
      path: path.resolve(session.cwd, file),
      ...(line === undefined ? {} : { line: Number(line) }),
      ...(limit === undefined ? {} : { limit: Number(limit) }),
    });
    await say(content);
  },

  async write({ client, session, rest: [file, ...words], say }) {
    const target = path.resolve(session.cwd, file);
    await client.request("fs/write_text_file", { sessionId: session.id, path: target, content: words.join(" ") });
    await say("written");
  },

  /** Runs a command to its end. */
  async run({ client, session, rest: [command, ...args], update, say }) {
    const terminal = await client.createTerminal({ sessionId: session.id, command, args, cwd: session.cwd });
    await update({
      sessionUpdate: "tool_call",
      toolCallId: "call-3",
      title: command,
      content: [{ type: "terminal", terminalId: terminal.id }],
    });
    const { exitCode } = await terminal.waitForExit();
    const { output, truncated } = await terminal.currentOutput();
    await terminal.release();
    await say(`${output.trim()}, exit ${exitCode}, ${truncated ? "cut" : "whole"}`);
  },

  /** Runs a command that does not end by itself. */
  async kill({ client, session, rest: [command, ...args], say }) {
    const terminal = await client.createTerminal({ sessionId: session.id, command, args, cwd: session.cwd });
    await terminal.kill();
    const { exitCode, signal } = await terminal.waitForExit();
    await terminal.release();
    const after = await terminal.currentOutput().then(
      () => "still there",
      () => "released",
    );
    await say(`${exitCode == null ? `signal ${signal}` : `exit ${exitCode}`}, ${after}`);
  },

  async form({ client, session, say }) {
    const answer = await client.request("elicitation/create", {
      sessionId: session.id,
      mode: "form",
      message: "Which branch?",
      requestedSchema: { type: "object", properties: { branch: { type: "string" } }, required: ["branch"] },
    });
    await say(answer.action === "accept" ? `branch ${answer.content.branch}` : answer.action);
  },

  async link({ client, session, say }) {
    const { action } = await client.request("elicitation/create", {
      sessionId: session.id,
      mode: "url",
      message: "Sign in",
      elicitationId: "link-1",
      url: "https://example.invalid/sign-in",
    });
    await client.notify("elicitation/complete", { elicitationId: "link-1" });
    await say(action);
  },

  async capabilities({ clientCapabilities, say }) {
    await say(JSON.stringify(clientCapabilities));
  },

  async extension({ client, rest: [method], say }) {
    await client.request(method, {}).then(
      (result) => say(JSON.stringify(result)),
      (error) => say(`error ${error.code}`),
    );
  },

  async wait({ signal, say }) {
    await say("waiting");
    if (!signal.aborted) await once(signal, "abort");
    await say("stopped");
  },

  async die() {
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => undefined);
  },

  async fail() {
    throw new RequestError(-32603, "the model is not reachable", { status: 503 });
  },
};

function everyUpdate(cwd) {
  return [
    { sessionUpdate: "user_message_chunk", content: text("you said") },
    { sessionUpdate: "agent_thought_chunk", content: text("hm") },
    { sessionUpdate: "agent_message_chunk", content: text("I say"), messageId: "m1" },
    { sessionUpdate: "plan", entries: [{ content: "look", priority: "high", status: "pending" }] },
    {
      sessionUpdate: "tool_call",
      toolCallId: "t1",
      title: "Edit",
      kind: "edit",
      status: "pending",
      rawInput: { a: 1 },
    },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "t1",
      status: "completed",
      content: [{ type: "diff", path: path.join(cwd, "a.txt"), oldText: "a", newText: "b" }],
      locations: [{ path: path.join(cwd, "a.txt"), line: 1 }],
    },
    { sessionUpdate: "available_commands_update", availableCommands: [{ name: "test", description: "Runs tests" }] },
    { sessionUpdate: "current_mode_update", currentModeId: "code" },
    { sessionUpdate: "config_option_update", configOptions: [] },
    { sessionUpdate: "session_info_update", title: "A title" },
    { sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: 0.5, currency: "USD" } },
    { sessionUpdate: "notice", severity: "warning", title: "Slow today" },
    { sessionUpdate: "compaction_update", compactionId: "c1", status: "in_progress" },
    { sessionUpdate: "compaction_summary_chunk", compactionId: "c1", content: text("in short") },
  ];
}
