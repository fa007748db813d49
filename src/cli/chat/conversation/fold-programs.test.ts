/** Tests how the chat shows programs, which send absolute paths and choose their model themselves. */
import { expect, it } from "vitest";
import type { EventBody } from "../../../domain/events.ts";
import { plainPaint } from "../../paint.ts";
import { type ChatState, EMPTY_CHAT, foldChatEvent } from "./fold.ts";
import { renderChatBlock } from "./view.ts";

function fold(bodies: readonly EventBody[]): { state: ChatState; text: string } {
  let state = EMPTY_CHAT;
  const lines: string[] = [];
  bodies.forEach((body, index) => {
    const own = {
      seq: index + 1,
      at: "2026-01-01T00:00:00.000Z",
      sessionId: "ses_1",
      turnId: "trn_1",
      agent: "claude",
    };
    const step = foldChatEvent(state, { ...body, ...own }, plainPaint);
    state = step.state;
    for (const block of step.blocks) lines.push(...renderChatBlock(block, undefined, { width: 60, paint: plainPaint }));
  });
  return { state, text: lines.join("\n") };
}

const OPENED: EventBody = {
  type: "session.opened",
  backend: "claude",
  cwd: "/tmp/x/proj",
  permissions: "ask",
};

it("shows paths inside the directory relative to it in tool lines, diffs and requests", () => {
  const diffs = [{ path: "/tmp/x/proj/src/a.ts", before: "a\n", after: "b\n" }];
  const edit = {
    title: "Edit /tmp/x/proj/src/a.ts",
    kind: "edit" as const,
    input: { file_path: "/tmp/x/proj/src/a.ts" },
  };
  const { state, text } = fold([
    OPENED,
    { type: "tool.started", toolId: "t1", name: "Edit", ...edit },
    { type: "tool.ended", toolId: "t1", outcome: "ok", text: "", diffs },
    { type: "permission.requested", requestId: "r1", toolId: "t2", tool: "Edit", ...edit, diffs },
  ]);
  expect(text).toContain("✓ Edit src/a.ts");
  expect(text).not.toContain("/tmp");
  expect(state.requests[0]).toMatchObject({
    title: "Edit src/a.ts",
    input: { file_path: "src/a.ts" },
    diffs: [{ path: "src/a.ts" }],
  });
});

it("shows the model that the program reports, not that of its helper calls or of a child", () => {
  const used = { type: "usage.reported" as const, inputTokens: 1, outputTokens: 1 };
  const helper: EventBody = { ...used, model: "claude-haiku" };
  const main: EventBody = { ...used, model: "claude-opus", contextUsed: 10 };
  const child: EventBody = { ...used, model: "gpt", contextUsed: 10, childSessionId: "ses_2" };
  expect(fold([OPENED, helper]).state.model).toBe("claude-haiku");
  expect(fold([OPENED, helper, main, helper, child]).state.model).toBe("claude-opus");
});

it("prints an unfinished paragraph before the notice that the turn resumes", () => {
  const message = "the process that ran this turn exited; the turn resumes from the log";
  const { text } = fold([
    OPENED,
    { type: "message.delta", messageId: "m1", text: "One.\n\nTwo is cut" },
    { type: "notice", level: "info", code: "turn_resumed", message },
    { type: "message.delta", messageId: "m2", text: "Again.\n\nx" },
  ]);
  expect(text.replaceAll(/\n+/g, " ")).toMatch(/^One\. Two is cut the process that ran .* log Again\.$/);
});
