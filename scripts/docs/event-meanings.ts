/** One sentence per event type, for the reference. A type without a sentence does not compile. */
import type { EventType } from "../../src/domain/events.ts";
import type { TaskEventType } from "../../src/domain/task/events.ts";

export const SESSION_EVENT_MEANINGS: Readonly<Record<EventType, string>> = {
  "session.opened": "The session begins, or is opened again with other settings.",
  "session.closed": "The session takes no more turns.",
  "agent.switched": "Another agent drives the session from here on.",
  "agent.defined":
    "A program defined an agent for this session, or defined it again. The definition has the keys of a section `[agents.NAME]`, the texts of its prompts, and no secrets.",
  "agent.connected":
    "The agent's program has its own session for this one. `how` says whether it was resumed, loaded, forked, new, or new and given the earlier conversation (`handed_over`). `adopted`: the program had the session before Rookery; the events up to the next `session.opened` were imported from its history.",
  "turn.started":
    "A turn begins with this input. The input is empty if the agent continues its last turn without a prompt.",
  "turn.ended": "The turn ended: `done`, `cancelled`, `failed` or `stalled`. Every started turn ends exactly once.",
  "turn.cancel_requested": "A person asked from another process to cancel the turn.",
  "limit.reached": "The account behind the agent reached a usage limit.",
  "turn.parked": "The turn waits until this time and then continues by itself.",
  "turn.continued": "A parked turn continues.",
  "input.queued": "An input waits: `steer` for the next step of the running turn, `follow_up` for a separate turn.",
  "input.delivered": "A queued input reached the running turn.",
  "input.withdrawn": "A person took a queued input back. No agent gets it, unless an earlier event delivered it.",
  "conversation.replaced":
    "The next request holds these messages instead of the conversation so far. The log keeps the rest.",
  "message.delta": "A part of a message, as it is streamed.",
  "message.completed": "A whole message. Deltas without a completion belong to a message that was abandoned.",
  "thought.delta": "A part of the model's reasoning, as it is streamed.",
  "tool.started": "A tool call begins.",
  "tool.updated": "A running tool call reports progress.",
  "tool.ended": "A tool call ended: `ok`, `failed`, `denied`, `cancelled`, `timed_out` or `unknown`.",
  "permission.requested": "A tool call waits for a permission.",
  "permission.resolved":
    "A person or the policy decided on a permission; with `prefix`, for all commands that start with these words.",
  "permission.revoked":
    "Revokes a permission for the session: a person is asked again before this tool runs or, with `prefix`, before such a command runs.",
  "question.asked": "The agent, a server or Rookery asks a person a question.",
  "question.answered": "A person or the policy answered a question.",
  "plan.updated": "The agent's plan, whole.",
  "usage.reported": "Tokens, cost and context size of a model call or of a turn.",
  "mcp.status": "An MCP server changed its status.",
  "tool.chosen": "A person enabled or disabled a tool for this session.",
  "plugin.saved": "A plugin saved its state.",
  "process.started": "A child process started.",
  "process.exited": "A child process exited.",
  "output.text": "Terminal output that is not part of the protocol.",
  "agent.raw":
    "A JSON record of the agent's program, unchanged: one that Rookery does not know, or with `agents.NAME.raw` every one of Claude Code. Listings hide it by default.",
  "context.compacted": "The conversation up to `throughSeq` was replaced by a summary for the model.",
  "budget.set": "The budget of the session, or of the task it belongs to.",
  "budget.raised": "A person allowed more.",
  "subagent.started": "The agent started a child session.",
  "subagent.ended": "A child session ended.",
  notice: "Something that a person should know, with a code.",
};

export const TASK_EVENT_MEANINGS: Readonly<Record<TaskEventType, string>> = {
  "task.created": "The task and its specification.",
  "task.queued":
    "The task waits for a process again: it was resumed, continued, interrupted or retried, or the process that took it cannot continue it.",
  "task.started": "A process took the task.",
  "worktree.made": "The worktree and branch exist.",
  "worktree.ready": "Files are copied and the setup command has passed.",
  "worktree.saved": "The remote has a snapshot of the worktree, from which another host can continue.",
  "output.text": "Output of the setup command, a stage or a gate.",
  "stage.started": "A stage begins.",
  "stage.ended": "A stage ended. `backTo` names the stage to which the task returns.",
  "task.parked": "The task waits for a usage limit to pass.",
  "task.stop_asked": "Somebody asked the process that runs the task to stop it.",
  "task.ended": "The task ended: `done`, `failed` or `stopped`. It can be resumed.",
  "merge.asked": "Somebody asked for a merge.",
  "merge.prepared": "The merge commit exists and is about to be published.",
  "merge.waiting": "The merge waits, for example because the remote is unreachable, and is tried again.",
  "merge.ended": "The merge ended: `merged`, `nothing`, `conflicts`, `gate_failed` or `failed`.",
  "worktree.removed": "The worktree and its branch were removed.",
  "task.removed": "The task is no longer listed.",
  notice: "Something that a person should know, with a code.",
};
