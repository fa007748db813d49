import { expect, it } from "vitest";
import type { TaskEvent } from "../../../src/domain/task/events.ts";
import { describeEvent } from "./describe.ts";

const event = (body: object): TaskEvent =>
  ({ seq: 1, at: "2026-01-01T00:00:00.000Z", taskId: "fix", ...body }) as TaskEvent;

it.each([
  [{ type: "task.ended", outcome: "done" }, "is done", "good"],
  [{ type: "task.ended", outcome: "stopped" }, "was stopped", "warn"],
  [{ type: "task.ended", outcome: "failed", message: "no luck" }, "failed: no luck", "bad"],
  [{ type: "merge.ended", outcome: "merged" }, "was merged", "good"],
  [{ type: "merge.ended", outcome: "nothing" }, "had nothing to merge", "muted"],
  [{ type: "merge.ended", outcome: "conflicts" }, "was not merged: it has conflicts", "bad"],
  [{ type: "merge.ended", outcome: "gate_failed" }, "was not merged: the gate did not pass", "bad"],
  [{ type: "merge.ended", outcome: "failed", message: "no room" }, "was not merged: no room", "bad"],
])("continues a sentence that starts with the title of the task: %o", (body, text, tone) => {
  expect(describeEvent(1, event(body))).toMatchObject({ text, tone });
});
