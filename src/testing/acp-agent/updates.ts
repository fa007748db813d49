/** Session updates: their type, functions for common ones, and one valid sample of every kind. */

/** Any `session/update`, known or unknown. The agent sends it unchanged. */
export interface AcpUpdate {
  readonly sessionUpdate: string;
  readonly [field: string]: unknown;
}

export type StableUpdateKind =
  | "user_message_chunk"
  | "agent_message_chunk"
  | "agent_thought_chunk"
  | "tool_call"
  | "tool_call_update"
  | "plan"
  | "available_commands_update"
  | "current_mode_update"
  | "config_option_update"
  | "session_info_update"
  | "usage_update"
  | "notice"
  | "compaction_update"
  | "compaction_summary_chunk";

export function textContent(text: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text };
}

export function agentText(text: string): AcpUpdate {
  return { sessionUpdate: "agent_message_chunk", content: textContent(text) };
}

export function agentThought(text: string): AcpUpdate {
  return { sessionUpdate: "agent_thought_chunk", content: textContent(text) };
}

/** One valid update of each of the 14 kinds of ACP v1, in an order that is plausible for one turn. */
export const STABLE_UPDATES: Readonly<Record<StableUpdateKind, AcpUpdate>> = {
  user_message_chunk: {
    sessionUpdate: "user_message_chunk",
    content: { type: "resource_link", name: "notes.md", uri: "file:///project/notes.md" },
  },
  agent_thought_chunk: agentThought("Let me think."),
  agent_message_chunk: { ...agentText("I will read the file."), messageId: "message-1" },
  plan: {
    sessionUpdate: "plan",
    entries: [
      { content: "Read the file", priority: "high", status: "in_progress" },
      { content: "Change it", priority: "medium", status: "pending" },
    ],
  },
  tool_call: {
    sessionUpdate: "tool_call",
    toolCallId: "call-1",
    title: "Read notes.md",
    kind: "read",
    status: "pending",
    locations: [{ path: "/project/notes.md", line: 1 }],
    rawInput: { path: "/project/notes.md" },
  },
  tool_call_update: {
    sessionUpdate: "tool_call_update",
    toolCallId: "call-1",
    status: "completed",
    content: [
      { type: "content", content: textContent("the notes") },
      { type: "diff", path: "/project/notes.md", oldText: "old", newText: "new" },
      { type: "terminal", terminalId: "terminal-1" },
    ],
    rawOutput: { bytes: 9 },
  },
  available_commands_update: {
    sessionUpdate: "available_commands_update",
    availableCommands: [{ name: "review", description: "Reviews the changes", input: { hint: "what to look at" } }],
  },
  current_mode_update: { sessionUpdate: "current_mode_update", currentModeId: "ask" },
  config_option_update: {
    sessionUpdate: "config_option_update",
    configOptions: [
      {
        type: "select",
        id: "model",
        name: "Model",
        category: "model",
        currentValue: "small",
        options: [
          { value: "small", name: "Small" },
          { value: "large", name: "Large" },
        ],
      },
    ],
  },
  session_info_update: {
    sessionUpdate: "session_info_update",
    title: "The notes",
    updatedAt: "2025-01-01T00:00:00Z",
  },
  usage_update: {
    sessionUpdate: "usage_update",
    used: 1_200,
    size: 200_000,
    cost: { amount: 0.01, currency: "USD" },
  },
  notice: { sessionUpdate: "notice", severity: "warning", title: "The quota is nearly used", description: "90 %" },
  compaction_update: { sessionUpdate: "compaction_update", compactionId: "compaction-1", status: "in_progress" },
  compaction_summary_chunk: {
    sessionUpdate: "compaction_summary_chunk",
    compactionId: "compaction-1",
    content: textContent("They talked about notes."),
  },
};

/** Updates of kinds that the stable schema lacks and a peer must pass on: two unstable ones and an invented one. */
export const UNKNOWN_UPDATES: readonly AcpUpdate[] = [
  { sessionUpdate: "plan_update", plan: { type: "markdown", planId: "plan-1", content: "# Plan" } },
  { sessionUpdate: "plan_removed", planId: "plan-1" },
  { sessionUpdate: "_rookery.invalid/weather", degrees: -3, _meta: { from: "nobody" } },
];
