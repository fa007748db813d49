/** Converts the updates of one turn to events: messages, thoughts, plans and tool calls. */
import { boundFileDiffs } from "../../domain/file-diff.ts";
import { newId, type EventBody, type FileDiff, type Location, type ToolKind } from "../../domain/index.ts";
import { MAX_MESSAGE_LENGTH, storableJson } from "../storable.ts";
import { completeMadeDiff, completeProposedDiff } from "../file-context.ts";
import { diffFromEditInput } from "./edits.ts";
import { parseToolCall, parseUpdate, type ParsedToolCall, type ParsedUsage } from "./parse-update.ts";

interface Message {
  readonly id: string;
  readonly agentsId: string | undefined;
  text: string;
}

interface Tool {
  readonly id: string;
  name: string;
  title: string;
  kind: ToolKind;
  input: unknown;
  text: string;
  locations: Location[];
  diffs: FileDiff[];
  ended: boolean;
  /** The log already has this call under another id. */
  hidden: boolean;
  /** Number of characters of progress recorded so far. */
  recorded: number;
  recordedAt: number;
}

const MAX_TOOL_TEXT_LENGTH = 64 * 1024;
/** Up to this many characters of progress are recorded completely; of longer progress only the end, once per second. */
const MAX_PROGRESS_LENGTH = 50_000;
const SAMPLE_LENGTH = 500;
const SAMPLE_MS = 1_000;
/** Longer skipped updates are cut in the log. */
const MAX_RAW_LENGTH = 4_096;
/** Notices per turn; further invalid updates are skipped silently. */
const MAX_INVALID_NOTICES = 5;

export class AcpTranscript {
  readonly #tools = new Map<string, Tool>();
  readonly #taken = new Set<string>();
  readonly #isKnown: (call: Readonly<Tool>) => boolean;
  #message: Message | undefined;
  #thought: { readonly id: string; readonly agentsId: string | undefined } | undefined;
  /** The agent's last report of its context size and cost. */
  usage: ParsedUsage | undefined;
  #invalid = 0;

  /** `isKnown` reports whether the log already has the call because it is a call of a Rookery tool. */
  constructor(isKnown: (call: Readonly<Tool>) => boolean = () => false) {
    this.#isKnown = isKnown;
  }

  /** Converts one update. Skips an invalid one, and records a notice and its beginning instead. */
  update(update: unknown, line = ""): EventBody[] {
    const parsed = parseUpdate(update);
    switch (parsed.kind) {
      case "message":
        return this.#onMessage(parsed);
      case "thought":
        return this.#onThought(parsed);
      case "echo":
        return [];
      case "tool":
        if (this.#tools.get(parsed.call.toolCallId)?.ended === true) return this.#endMessage();
        return [...this.#endMessage(), ...this.#onToolCall(parsed.call)];
      case "plan":
        return [{ type: "plan.updated", entries: [...parsed.entries] }];
      case "usage":
        this.usage = parsed.usage;
        return [toRawEvent(update)];
      case "other":
        return [toRawEvent(update)];
      case "invalid":
        return this.#skipInvalid(parsed.problem, line);
    }
  }

  /** Records the call of a permission request, which may not be announced yet. Returns undefined if it is invalid. */
  addRequestedCall(toolCall: unknown): { readonly events: EventBody[]; readonly tool: Readonly<Tool> } | undefined {
    const call = parseToolCall(toolCall);
    if (call === undefined) return undefined;
    const events = [...this.#endMessage(), ...this.#onToolCall(call)];
    return { events, tool: this.#requireTool(call.toolCallId) };
  }

  /** Returns the id of a running call that matches. Returns each call at most once. */
  takeCall(isWanted: (tool: Readonly<Tool>) => boolean): string | undefined {
    for (const tool of this.#tools.values()) {
      if (tool.ended || tool.hidden || this.#taken.has(tool.id) || !isWanted(tool)) continue;
      this.#taken.add(tool.id);
      return tool.id;
    }
    return undefined;
  }

  endRefusedCall(toolId: string, outcome: "denied" | "cancelled" | "failed", text: string): EventBody[] {
    const tool = this.#tools.get(toolId);
    if (tool === undefined || tool.ended || tool.hidden) return [];
    tool.ended = true;
    return [{ type: "tool.ended", toolId, outcome, text }];
  }

  /** Completes the open message at the end of the turn. */
  end(): EventBody[] {
    return this.#endMessage();
  }

  #skipInvalid(problem: string, line: string): EventBody[] {
    const data = line.length > MAX_RAW_LENGTH ? `${line.slice(0, MAX_RAW_LENGTH)}…` : line;
    this.#invalid += 1;
    if (this.#invalid > MAX_INVALID_NOTICES) return [];
    const message = `the agent sent an update that does not follow the protocol; Rookery skipped it (${problem.slice(0, 500)})`;
    return [
      { type: "notice", level: "warning", code: "agent_output_invalid", message },
      { type: "agent.raw", data },
    ];
  }

  #onMessage({ text, messageId }: { readonly text: string; readonly messageId: string | undefined }): EventBody[] {
    const isAnother =
      this.#message !== undefined &&
      ((messageId !== undefined && this.#message.agentsId !== messageId) ||
        this.#message.text.length + text.length > MAX_MESSAGE_LENGTH);
    const before = isAnother ? this.#endMessage() : [];
    this.#thought = undefined;
    this.#message ??= { id: newId("msg", Date.now()), agentsId: messageId, text: "" };
    this.#message.text += text;
    return [...before, { type: "message.delta", messageId: this.#message.id, text }];
  }

  #onThought({ text, messageId }: { readonly text: string; readonly messageId: string | undefined }): EventBody[] {
    const before = this.#endMessage();
    if (this.#thought === undefined || (messageId !== undefined && this.#thought.agentsId !== messageId)) {
      this.#thought = { id: newId("msg", Date.now()), agentsId: messageId };
    }
    return [...before, { type: "thought.delta", messageId: this.#thought.id, text }];
  }

  #endMessage(): EventBody[] {
    const message = this.#message;
    this.#message = undefined;
    return message === undefined ? [] : [{ type: "message.completed", messageId: message.id, text: message.text }];
  }

  #onToolCall(update: ParsedToolCall): EventBody[] {
    const known = this.#tools.get(update.toolCallId);
    const tool = known ?? createTool(update.toolCallId);
    const said = applyUpdate(tool, update);
    if (known === undefined) {
      this.#tools.set(tool.id, tool);
      tool.hidden = this.#isKnown(tool);
    }
    if (tool.hidden) return [];
    const started: EventBody[] = known === undefined ? [toStartedEvent(tool)] : [];
    if (tool.ended) return started;
    const ended = update.status === "completed" || update.status === "failed";
    if (ended) {
      const event = toEndedEvent(tool, update.status === "completed" ? "ok" : "failed");
      Object.assign(tool, { ended: true, input: undefined, text: "", diffs: [] }); // a turn may have any number of calls
      return [...started, event];
    }
    return known !== undefined && said !== undefined ? [{ type: "tool.updated", toolId: tool.id, ...said }] : started;
  }

  #requireTool(toolId: string): Tool {
    const tool = this.#tools.get(toolId);
    if (tool === undefined) throw new Error(`tool ${toolId} is not in the transcript`);
    return tool;
  }
}

function createTool(id: string): Tool {
  return {
    id,
    name: "",
    title: "",
    kind: "other",
    input: undefined,
    text: "",
    locations: [],
    diffs: [],
    ended: false,
    hidden: false,
    recorded: 0,
    recordedAt: 0,
  };
}

/** Applies the update to the tool. Returns the changed fields that an event reports, if any. */
function applyUpdate(
  tool: Tool,
  update: ParsedToolCall,
): { text?: string; title?: string; locations?: Location[] } | undefined {
  const before = { text: tool.text, title: tool.title };
  tool.title = update.title ?? tool.title;
  tool.kind = update.kind ?? tool.kind;
  tool.name = update.name ?? (tool.name === "" ? tool.kind : tool.name);
  tool.input = update.rawInput ?? tool.input;
  if (update.locations != null) tool.locations = update.locations;
  if (update.content != null) {
    const diffs = update.content.flatMap((part) => ("diff" in part ? [part.diff] : []));
    if (diffs.length > 0) tool.diffs = diffs; // opencode 1.18 sends diffs with the permission request only
    tool.text = update.content
      .flatMap((part) => ("text" in part && part.text !== "" ? [part.text] : []))
      .join("\n")
      .slice(0, MAX_TOOL_TEXT_LENGTH);
  } else if (tool.text === "" && typeof update.rawOutput === "string") {
    tool.text = update.rawOutput.slice(0, MAX_TOOL_TEXT_LENGTH);
  }
  const more = tool.text.startsWith(before.text) ? tool.text.slice(before.text.length) : tool.text;
  const text = sampleProgress(tool, more);
  const said = {
    ...(text !== "" && { text }),
    ...(tool.title !== before.title && { title: tool.title }),
    ...(update.locations != null && { locations: tool.locations }),
  };
  return Object.keys(said).length === 0 ? undefined : said;
}

/** Bounds the progress of one call by the time that it runs. The end of the call has its whole text. */
function sampleProgress(tool: Tool, more: string): string {
  if (more === "") return "";
  const isFirst = tool.recorded + more.length <= MAX_PROGRESS_LENGTH;
  if (!isFirst && Date.now() - tool.recordedAt < SAMPLE_MS) return "";
  const text = isFirst ? more : `\n…\n${more.slice(-SAMPLE_LENGTH).toWellFormed()}`;
  tool.recorded += isFirst ? more.length : 0;
  tool.recordedAt = Date.now();
  return text;
}

function toStartedEvent({ id, name, title, kind, input, locations }: Tool): EventBody {
  const where = locations.length > 0 && { locations };
  return {
    type: "tool.started",
    toolId: id,
    name,
    title: title === "" ? name : title,
    kind,
    input: input ?? null,
    ...where,
  };
}

function toEndedEvent(tool: Tool, outcome: "ok" | "failed"): EventBody {
  const { id, text, locations } = tool;
  const diffs = outcome === "failed" ? [] : findDiffs(tool).map((diff) => completeMadeDiff(diff));
  return {
    type: "tool.ended",
    toolId: id,
    outcome,
    text,
    ...(locations.length > 0 && { locations }),
    ...(diffs.length > 0 && { diffs: boundFileDiffs(diffs) }),
  };
}

/** Returns the changes that a call would make to files, as far as the agent reports them. */
export function proposeDiffs(tool: Readonly<Tool>): FileDiff[] {
  return boundFileDiffs(findDiffs(tool).map((diff) => completeProposedDiff(diff)));
}

/** Some agents report diffs, others only the input of their edit tool. */
function findDiffs({ kind, input, diffs }: Readonly<Tool>): FileDiff[] {
  const edit = kind === "edit" && diffs.length === 0 ? diffFromEditInput(input) : undefined;
  return edit === undefined ? diffs : [edit];
}

function toRawEvent(update: unknown): EventBody {
  return { type: "agent.raw", data: storableJson(update) };
}
