/** A conversation with one of everything, for tests and pictures of the session screen. */
import type { BodyOfTurn } from "./session-log.ts";

const ANSWER = `I fixed the **race** in \`queue.ts\`. Three things changed:

1. The lock is taken *before* the read.
2. \`drain()\` waits for the writer.
3. A test covers it.

| case | before | after |
| --- | ---: | ---: |
| one writer | 12 ms | 12 ms |
| ten writers | 480 ms | 31 ms |

\`\`\`ts
export async function drain(queue: Queue): Promise<void> {
  await queue.lock(); // waits for the writer
  return queue.flush({ timeout: 30 });
}
\`\`\`

> The old behavior lost the last item. See [the report](https://example.org/report).`;

export const DEMO_EVENTS: readonly BodyOfTurn[] = [
  {
    type: "turn.started",
    input: [{ type: "text", text: "The last item of the queue gets lost. Find out why, and fix it." }],
  },
  { type: "thought.delta", messageId: "m1", text: "The queue has two writers. " },
  { type: "thought.delta", messageId: "m1", text: "Let me look at the lock first." },
  {
    type: "plan.updated",
    entries: [
      { content: "Reproduce it with a test", status: "completed" },
      { content: "Take the lock before the read", status: "in_progress" },
      { content: "Run the whole suite", status: "pending" },
    ],
  },
  { type: "message.delta", messageId: "m1", text: "I look at the queue " },
  { type: "message.completed", messageId: "m1", text: "I look at the queue and its tests." },
  {
    type: "tool.started",
    toolId: "t1",
    name: "read",
    title: "src/queue.ts",
    kind: "read",
    input: { path: "src/queue.ts" },
  },
  { type: "tool.ended", toolId: "t1", outcome: "ok", text: "export class Queue {}\n" },
  { type: "tool.started", toolId: "t2", name: "edit", title: "src/queue.ts", kind: "edit", input: {} },
  {
    type: "tool.ended",
    toolId: "t2",
    outcome: "ok",
    text: "edited",
    diffs: [
      {
        path: "src/queue.ts",
        before:
          "export class Queue {\n  async drain() {\n    const last = this.read();\n    await this.lock();\n  }\n}\n",
        after:
          "export class Queue {\n  async drain() {\n    await this.lock();\n    const last = this.read();\n    return last;\n  }\n}\n",
        line: 41,
      },
    ],
  },
  {
    type: "tool.started",
    toolId: "t3",
    name: "bash",
    title: "npm test",
    kind: "execute",
    input: { command: "npm test" },
  },
  {
    type: "tool.ended",
    toolId: "t3",
    outcome: "failed",
    text: "\u001b[31m1 failed\u001b[0m, 41 passed\nexit code 1\n",
  },
  { type: "subagent.started", childSessionId: "ses_child", title: "Find other users of drain()" },
  { type: "subagent.ended", childSessionId: "ses_child", outcome: { status: "done" } },
  { type: "notice", level: "warning", code: "slow", message: "The model answers slowly." },
  { type: "input.delivered", inputId: "i1", input: [{ type: "text", text: "Do not change the public API." }] },
  { type: "message.completed", messageId: "m2", text: ANSWER },
  {
    type: "usage.reported",
    inputTokens: 41_200,
    outputTokens: 2_310,
    costUsd: 0.21,
    costBy: "reported",
    contextUsed: 45_000,
    contextSize: 200_000,
  },
];

export const DEMO_PERMISSION: BodyOfTurn = {
  type: "permission.requested",
  requestId: "req_1",
  toolId: "t4",
  tool: "bash",
  title: "git push origin main",
  kind: "execute",
  input: { command: "git push origin main" },
};

export const DEMO_QUESTION: BodyOfTurn = {
  type: "question.asked",
  requestId: "req_2",
  message: "Which release should the fix go to?",
  from: "release server",
  schema: {
    type: "object",
    required: ["branch", "notify"],
    properties: {
      branch: { type: "string", title: "Branch", enum: ["main", "1.x"], enumNames: ["Main", "Version 1"] },
      note: { type: "string", title: "Note", description: "For the change log", maxLength: 20 },
      days: { type: "integer", title: "Days to wait", minimum: 0, maximum: 30, default: 3 },
      urgent: { type: "boolean", title: "Urgent" },
      notify: { type: "array", title: "Notify", minItems: 1, items: { enum: ["ops", "docs"] } },
    },
  },
};
