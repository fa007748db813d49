/** The mark and the color of each state of a task. */
import type { Color } from "../../paint.ts";
import type { TaskGroup } from "./state.ts";

export const GROUP_STYLES: Record<TaskGroup, { readonly mark: string; readonly color: Color }> = {
  "needs you": { mark: "?", color: "yellow" },
  working: { mark: "●", color: "cyan" },
  interrupted: { mark: "!", color: "red" },
  parked: { mark: "‖", color: "yellow" },
  queued: { mark: "○", color: "dim" },
  done: { mark: "✓", color: "green" },
  failed: { mark: "✗", color: "red" },
  stopped: { mark: "⊘", color: "red" },
  merged: { mark: "✓", color: "dim" },
};
