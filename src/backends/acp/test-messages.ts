/** One message of each kind that an ACP agent can send, with every field that the protocol has for it. */

const annotations = { audience: ["user"], priority: 1, lastModified: "2026-01-01T00:00:00Z" };
const text = { type: "text", text: "words", annotations };
const BLOCKS = {
  text,
  image: { type: "image", data: "AA==", mimeType: "image/png", uri: "file:///a.png" },
  audio: { type: "audio", data: "AA==", mimeType: "audio/wav" },
  link: { type: "resource_link", uri: "file:///a", name: "a", title: "A", mimeType: "text/plain", size: 3 },
  resource: { type: "resource", resource: { uri: "file:///a", text: "words", mimeType: "text/plain" } },
  blob: { type: "resource", resource: { uri: "file:///a", blob: "AA==", mimeType: "image/png" } },
};
const toolCall = {
  toolCallId: "call",
  title: "Edit a",
  kind: "edit",
  status: "in_progress",
  name: "edit_file",
  rawInput: { file_path: "/w/a", old_string: "a", new_string: "b" },
  rawOutput: "done",
  locations: [{ path: "/w/a", line: 3 }],
  content: [
    { type: "content", content: text },
    { type: "content", content: BLOCKS.resource },
    { type: "diff", path: "/w/a", oldText: "a", newText: "b" },
    { type: "terminal", terminalId: "term" },
  ],
};
const option = {
  type: "select",
  id: "model",
  name: "Model",
  category: "model",
  currentValue: "one",
  options: [
    { value: "one", name: "One" },
    { group: "g", name: "G", options: [{ value: "two", name: "Two" }] },
  ],
};
const modes = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask", description: "asks" }] };

/** Params of `session/update`, by name. */
export const UPDATES: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    Object.entries(BLOCKS).map(([name, content]) => [
      `message ${name}`,
      { sessionUpdate: "agent_message_chunk", content, messageId: "m" },
    ]),
  ),
  thought: { sessionUpdate: "agent_thought_chunk", content: text, messageId: "m" },
  "user message": { sessionUpdate: "user_message_chunk", content: text, messageId: "m" },
  tool_call: { sessionUpdate: "tool_call", ...toolCall },
  "completed tool": { sessionUpdate: "tool_call_update", ...toolCall, status: "completed" },
  plan: { sessionUpdate: "plan", entries: [{ content: "Do", priority: "high", status: "pending" }] },
  commands: {
    sessionUpdate: "available_commands_update",
    availableCommands: [{ name: "web", description: "looks", input: { hint: "what" } }],
  },
  mode: { sessionUpdate: "current_mode_update", currentModeId: "ask" },
  options: { sessionUpdate: "config_option_update", configOptions: [option] },
  info: { sessionUpdate: "session_info_update", title: "Title", updatedAt: "2026-01-01T00:00:00Z" },
  usage: { sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: 0.5, currency: "USD" } },
  notice: { sessionUpdate: "notice", level: "info", message: "words" },
  compaction: { sessionUpdate: "compaction_update", compactionId: "c", status: "running" },
  "compaction summary": { sessionUpdate: "compaction_summary_chunk", compactionId: "c", content: text },
};

const session = { sessionId: "session-1" };

/** Params of the agent's requests, by method. A suffix after `#` distinguishes two requests of one method. */
export const REQUESTS: Readonly<Record<string, object>> = {
  "session/request_permission": {
    ...session,
    toolCall,
    options: [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ],
  },
  "fs/read_text_file": { ...session, path: "/w/a", line: 1, limit: 2 },
  "fs/write_text_file": { ...session, path: "/w/a", content: "words" },
  "terminal/create": {
    ...session,
    command: "true",
    args: ["a"],
    env: [{ name: "A", value: "b" }],
    cwd: "/w",
    outputByteLimit: 10,
  },
  "terminal/output": { ...session, terminalId: "term" },
  "terminal/wait_for_exit": { ...session, terminalId: "term" },
  "terminal/kill": { ...session, terminalId: "term" },
  "terminal/release": { ...session, terminalId: "term" },
  "elicitation/create": {
    ...session,
    mode: "form",
    message: "Which?",
    requestedSchema: {
      type: "object",
      properties: { color: { type: "string", enum: ["red"], title: "Color" } },
      required: ["color"],
    },
  },
  "elicitation/create#url": {
    ...session,
    mode: "url",
    message: "Log in",
    elicitationId: "e",
    url: "https://example.invalid/",
  },
};

/** The result of a prompt. */
export const PROMPT_RESULT = {
  stopReason: "end_turn",
  usage: {
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 15,
    cachedReadTokens: 1,
    cachedWriteTokens: 1,
    thoughtTokens: 1,
  },
  _meta: { quota: { token_count: { input_tokens: 10, output_tokens: 5 } } },
};

/** Results of the requests that start an agent, by method. */
export const SET_UP_RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { resume: {}, close: {}, list: {}, fork: {} },
    },
    agentInfo: { name: "scripted", title: "Scripted", version: "1" },
    authMethods: [{ id: "login", name: "Log in", description: "logs in" }],
  },
  "session/new": {
    sessionId: "session-1",
    modes,
    configOptions: [option, { ...option, id: "mode", category: "mode" }],
  },
  "session/load": { modes, configOptions: [option] },
};
