/** The transcript of a task: a fold over its events and those of its sessions that returns finished lines. */
import type { LogEvent } from "../../../domain/task/store.ts";
import { type ChatBlock, type ChatState, EMPTY_CHAT, foldChatEvent } from "../../chat/conversation/fold.ts";
import { type ChatStyle, renderChatBlock, renderProgress } from "../../chat/conversation/view.ts";
import { wrapStyled } from "../../tui/styled-text.ts";
import { isTaskEvent } from "../messages.ts";
import { formatTaskEventLine } from "../task-event-screen.ts";

export interface TaskTranscript {
  readonly sessions: ReadonlyMap<string, ChatState>;
  /** The session of the last event. */
  readonly current: string | undefined;
  readonly lastBlock: ChatBlock["type"] | undefined;
}

export const EMPTY_TASK_TRANSCRIPT: TaskTranscript = { sessions: new Map(), current: undefined, lastBlock: undefined };

/** `stages`: the names of the stages of the task. */
export function foldTaskEvent(
  before: TaskTranscript,
  event: LogEvent,
  stages: readonly string[],
  style: ChatStyle,
): readonly [TaskTranscript, string[]] {
  if (isTaskEvent(event)) {
    const line = formatTaskEventLine(event, stages, style.paint);
    if (line === undefined) return [before, []];
    const gap = before.lastBlock === undefined || before.lastBlock === "lines" ? [] : [""];
    const lines = line.split("\n").flatMap((part) => wrapStyled(part, style.width, "  "));
    return [{ ...before, lastBlock: "lines" }, [...gap, ...lines]];
  }
  const { state, blocks } = foldChatEvent(before.sessions.get(event.sessionId) ?? EMPTY_CHAT, event, style.paint);
  let { lastBlock } = before;
  const lines: string[] = [];
  for (const block of blocks) {
    lines.push(...renderChatBlock(block, lastBlock, style));
    lastBlock = block.type;
  }
  const sessions = new Map(before.sessions).set(event.sessionId, state);
  return [{ sessions, current: event.sessionId, lastBlock }, lines];
}

/** What the agent does now. */
export function renderTranscriptProgress(
  { sessions, current }: TaskTranscript,
  now: number,
  frame: string,
  style: ChatStyle,
): string[] {
  const state = current === undefined ? undefined : sessions.get(current);
  return state === undefined ? [] : renderProgress(state, now, frame, style);
}
