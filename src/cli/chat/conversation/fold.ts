/** The state of a chat: a pure fold over the events of its session, which returns the blocks that are finished. */
import type { EventOf, PermissionPolicy, SessionEvent } from "../../../domain/events.ts";
import { formatInput } from "../../../domain/events.ts";
import type { QueuedInput } from "../../../domain/state.ts";
import type { SessionSummary } from "../../../domain/summary.ts";
import { addUsage, NO_USAGE, type Usage } from "../../../domain/usage.ts";
import {
  appendMarkdown,
  EMPTY_MARKDOWN,
  finishMarkdown,
  type MarkdownBlock,
  type MarkdownStream,
  parseMarkdown,
} from "../../markdown/stream.ts";
import type { Paint } from "../../paint.ts";
import { toSingleLine } from "../../sanitize.ts";
import { type PendingRequest, toPendingRequest } from "../../run/pending-request.ts";
import { formatAnsweredQuestion } from "../../questions/question-view.ts";
import { renderEvent } from "../../transcript/render-event.ts";
import { EMPTY_TURN_VIEW, type TurnView } from "../../transcript/turn-view.ts";
import { SUMMARY_PROMPT } from "./summary-prompt.ts";

/** A finished part of the conversation. It is printed once and never changes. */
export type CommandMark = "❯" | "$";

export type ChatBlock =
  | { readonly type: "prompt"; readonly text: string }
  /** A command of the chat, or with the mark `$` one of the shell. What it prints follows. */
  | { readonly type: "command"; readonly text: string; readonly mark: CommandMark }
  | { readonly type: "markdown"; readonly blocks: readonly MarkdownBlock[] }
  | { readonly type: "thought"; readonly ms: number }
  /** The output of a command that failed. */
  | { readonly type: "output"; readonly text: string }
  /** Styled lines of the turn view: tools, notices, the summary of a turn. */
  | { readonly type: "lines"; readonly text: string };

export interface ChatState {
  readonly agent: string;
  /** Undefined until the agent is known. */
  readonly backend: string | undefined;
  readonly model: string | undefined;
  readonly cwd: string;
  readonly permissions: PermissionPolicy | undefined;
  /** When the running turn started. Undefined between turns. */
  readonly runningSince: string | undefined;
  /** How long the last turn took, in milliseconds. */
  readonly lastTurnMs: number | undefined;
  /** Includes the running tools. */
  readonly view: TurnView;
  /** The message that streams. */
  readonly message: { readonly id: string; readonly stream: MarkdownStream } | undefined;
  readonly thinking: { readonly since: string; readonly until: string } | undefined;
  /** Open requests, oldest first. */
  readonly requests: readonly PendingRequest[];
  readonly queue: readonly QueuedInput[];
  /** The output of the last tool that printed something. */
  readonly lastOutput: ToolOutput | undefined;
  readonly usage: Usage;
  readonly contextUsed: number | undefined;
  readonly contextSize: number | undefined;
  readonly closed: boolean;
  /** The `seq` of the last event. */
  readonly head: number;
}

export interface ToolOutput {
  readonly title: string;
  readonly text: string;
}

export interface ChatStep {
  readonly state: ChatState;
  readonly blocks: readonly ChatBlock[];
}

export const EMPTY_CHAT: ChatState = {
  agent: "",
  backend: undefined,
  model: undefined,
  cwd: "",
  permissions: undefined,
  runningSince: undefined,
  lastTurnMs: undefined,
  view: EMPTY_TURN_VIEW,
  message: undefined,
  thinking: undefined,
  requests: [],
  queue: [],
  lastOutput: undefined,
  usage: NO_USAGE,
  contextUsed: undefined,
  contextSize: undefined,
  closed: false,
  head: 0,
};

/** The state before the last part of a log, whose earlier events are not read. */
export function chatFromSummary(summary: SessionSummary): ChatState {
  const { agent, backend, model, cwd, usage = NO_USAGE } = summary;
  return { ...EMPTY_CHAT, agent, backend, model, cwd, usage: { ...NO_USAGE, ...usage } };
}

/** `columns`: the width for diffs. */
export function foldChatEvent(before: ChatState, event: SessionEvent, paint: Paint, columns?: number): ChatStep {
  const [view, text] = isMessage(event)
    ? [before.view, ""]
    : renderEvent({ ...before.view, atStart: true }, event, paint, {
        columns,
        folder: before.cwd,
        repeatsDecisions: true,
      });
  const { state, blocks } = stepBlocks({ ...before, view, head: event.seq }, event);
  const shown = isAnswered(before, event) ? "" : text.trimEnd();
  const parts = [formatCause(event, paint), formatAnswer(before, event, paint), shown];
  const line = parts.filter((part) => part !== "").join("\n");
  const after: ChatBlock[] = line === "" ? [] : [{ type: "lines", text: line }];
  const output = commandOutput(before, event);
  if (output === undefined) return { state: stepFacts(state, event), blocks: [...blocks, ...after] };
  const failed: ChatBlock[] = output.hasFailed ? [{ type: "output", text: output.text }] : [];
  return {
    state: { ...stepFacts(state, event), lastOutput: output },
    blocks: [...blocks, ...after, ...failed],
  };
}

/** The output of a command that ends with the event, without its exit code, which the turn view shows. */
function commandOutput(
  { view }: ChatState,
  event: SessionEvent,
): (ToolOutput & { readonly hasFailed: boolean }) | undefined {
  if (event.type !== "tool.ended") return undefined;
  const tool = view.tools.get(event.toolId);
  if (tool?.kind !== "execute" || event.outcome === "denied") return undefined;
  const text = event.text.replaceAll(/^\[?exit code:? \d+\]?$/gim, "").trim();
  if (text === "") return undefined;
  return { title: tool.title, text, hasFailed: event.outcome === "failed" || event.outcome === "timed_out" };
}

/** Why a turn failed. The turn view does not show it. */
function formatCause(event: SessionEvent, paint: Paint): string {
  if (event.type !== "turn.ended" || !("message" in event.outcome)) return "";
  return `${paint("red", "!")} ${toSingleLine(event.outcome.message)}`;
}

/** Blocks that the turn view does not render: prompts, messages as Markdown, and thinking. */
function stepBlocks(state: ChatState, event: SessionEvent): ChatStep {
  switch (event.type) {
    case "turn.started": {
      const text = formatInput(event.input);
      return { state, blocks: text === SUMMARY_PROMPT || text === "" ? [] : [{ type: "prompt", text }] };
    }
    case "message.delta":
      return stepDelta(state, event);
    case "message.completed":
      return stepCompleted(state, event);
    case "thought.delta": {
      const since = state.thinking?.since ?? event.at;
      return { state: { ...state, thinking: { since, until: event.at } }, blocks: [] };
    }
    case "tool.started":
      return endThinking(state);
    case "turn.ended":
      return abandonMessage(state);
    case "notice": // the process that wrote the message is gone
      return event.code === "turn_resumed" ? abandonMessage(state) : { state, blocks: [] };
    default: // the turn view renders the others
      return { state, blocks: [] };
  }
}

/** Prints the part of the streaming message that has arrived. */
function abandonMessage(before: ChatState): ChatStep {
  const { state, blocks } = endThinking(before);
  const { message } = state;
  if (message === undefined) return { state, blocks };
  return {
    state: { ...state, message: undefined },
    blocks: [...blocks, ...toMarkdown(finishMarkdown(message.stream))],
  };
}

/** A delta of another message means that the previous message was abandoned. */
function stepDelta(before: ChatState, event: EventOf<"message.delta">): ChatStep {
  const { state, blocks } = endThinking(before);
  const { message } = state;
  const isSame = message?.id === event.messageId;
  const rest = message === undefined || isSame ? [] : finishMarkdown(message.stream);
  const { stream, closed } = appendMarkdown(isSame ? message.stream : EMPTY_MARKDOWN, event.text);
  return {
    state: { ...state, message: { id: event.messageId, stream } },
    blocks: [...blocks, ...toMarkdown(rest), ...toMarkdown(closed)],
  };
}

function stepCompleted(before: ChatState, event: EventOf<"message.completed">): ChatStep {
  const { state, blocks } = endThinking(before);
  const { message } = state;
  const rest = message?.id === event.messageId ? finishMarkdown(message.stream) : parseMarkdown(event.text);
  return { state: { ...state, message: undefined }, blocks: [...blocks, ...toMarkdown(rest)] };
}

function toMarkdown(blocks: readonly MarkdownBlock[]): ChatBlock[] {
  return blocks.length === 0 ? [] : [{ type: "markdown", blocks }];
}

function endThinking(state: ChatState): ChatStep {
  const { thinking } = state;
  if (thinking === undefined) return { state, blocks: [] };
  const ms = Date.parse(thinking.until) - Date.parse(thinking.since);
  return { state: { ...state, thinking: undefined }, blocks: [{ type: "thought", ms }] };
}

/** What the person answered to a question. The turn view does not show it. */
function formatAnswer({ requests }: ChatState, event: SessionEvent, paint: Paint): string {
  if (event.type !== "question.answered") return "";
  const question = requests.find(({ requestId }) => requestId === event.requestId)?.question;
  return question === undefined ? "" : formatAnsweredQuestion(question, event, paint).join("\n");
}

/** The tool that asked a question says no more than the line with the answer. */
function isAnswered({ view }: ChatState, event: SessionEvent): boolean {
  return event.type === "tool.ended" && event.outcome === "ok" && view.tools.get(event.toolId)?.kind === "ask";
}

/** What the live region and the status line show. */
function stepFacts(state: ChatState, event: SessionEvent): ChatState {
  const asked = toPendingRequest(event, state.cwd);
  if (asked !== undefined) return { ...state, requests: [...state.requests, asked] };
  switch (event.type) {
    case "session.opened": {
      const { agent, backend, model, cwd, permissions } = event;
      return { ...state, agent, backend, model, cwd, permissions };
    }
    case "session.closed":
      return { ...state, closed: true, queue: [] };
    case "agent.switched":
      return { ...state, agent: event.to };
    case "turn.started":
      return {
        ...state,
        runningSince: event.at,
        queue: state.queue.filter(({ inputId }) => inputId !== event.inputId),
      };
    case "turn.ended": {
      const { runningSince = event.at } = state;
      const lastTurnMs = Date.parse(event.at) - Date.parse(runningSince);
      return { ...state, runningSince: undefined, lastTurnMs, requests: [] };
    }
    case "input.queued": {
      const { inputId, input, deliver = "follow_up" } = event;
      return { ...state, queue: [...state.queue, { inputId, input, deliver }] };
    }
    case "input.delivered":
    case "input.withdrawn":
      return { ...state, queue: state.queue.filter(({ inputId }) => inputId !== event.inputId) };
    case "conversation.replaced":
      return { ...state, queue: [] };
    case "permission.resolved":
    case "question.answered":
      return { ...state, requests: state.requests.filter(({ requestId }) => requestId !== event.requestId) };
    case "usage.reported": {
      const { contextUsed = state.contextUsed, contextSize = state.contextSize } = event;
      const model = reportedModel(state, event);
      return { ...state, usage: addUsage(state.usage, event), contextUsed, contextSize, model };
    }
    default: // the others do not change it
      return state;
  }
}

/** A program chooses its model itself, and reports it with the usage. The main model also reports its context. */
function reportedModel({ backend, model }: ChatState, event: EventOf<"usage.reported">): string | undefined {
  if (backend === "api" || event.childSessionId !== undefined) return model;
  return event.contextUsed === undefined ? (model ?? event.model) : (event.model ?? model);
}

function isMessage({ type }: SessionEvent): boolean {
  return type === "message.delta" || type === "message.completed" || type === "thought.delta";
}
