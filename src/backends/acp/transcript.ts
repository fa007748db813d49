/** Turns the updates of one turn into events: what the agent says as messages, its tool calls from start to end. */
import { newId, type EventBody, type FileDiff, type Location, type ToolKind } from "../../domain/index.ts";
import { ToolKind as KINDS } from "../../domain/events.ts";
import type { schema } from "../../acp/index.ts";
import { editOf } from "./edits.ts";

type Update = schema.SessionUpdate;
type ToolUpdate = schema.ToolCall | schema.ToolCallUpdate;

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
  /** The log has it under another id. */
  hidden: boolean;
}

/** A longer text of a file is left out of the log, and said so. */
const DIFF_LENGTH = 256 * 1024;
const TOOL_TEXT_LENGTH = 64 * 1024;

export class Transcript {
  readonly #tools = new Map<string, Tool>();
  readonly #taken = new Set<string>();
  readonly #isKnown: (call: Readonly<Tool>) => boolean;
  #message: Message | undefined;
  #thought: { readonly id: string; readonly agentsId: string | undefined } | undefined;
  /** What the agent last said of its context and its cost. */
  usage: schema.UsageUpdate | undefined;

  /** `isKnown`: is this a call of a tool of ours, which the log has already? */
  constructor(isKnown: (call: Readonly<Tool>) => boolean = () => false) {
    this.#isKnown = isKnown;
  }

  update(update: Update): EventBody[] {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#said(update);
      case "agent_thought_chunk":
        return this.#thought_(update);
      case "user_message_chunk":
        return []; // the log has it already
      case "tool_call":
      case "tool_call_update":
        return [...this.#endMessage(), ...this.#tool(update)];
      case "plan":
        return [
          {
            type: "plan.updated",
            entries: update.entries.map(({ content, status, priority }) => ({ content, status, priority })),
          },
        ];
      case "usage_update":
        this.usage = update;
        return [raw(update)];
      default:
        return [raw(update)];
    }
  }

  /** A permission may be asked for a call that was never announced. */
  asked(toolCall: schema.ToolCallUpdate): { readonly events: EventBody[]; readonly tool: Readonly<Tool> } {
    const events = [...this.#endMessage(), ...this.#tool(toolCall)];
    return { events, tool: this.#known(toolCall.toolCallId) };
  }

  /** A call that runs and is one of those; each is found once. */
  take(isWanted: (tool: Readonly<Tool>) => boolean): string | undefined {
    for (const tool of this.#tools.values()) {
      if (tool.ended || tool.hidden || this.#taken.has(tool.id) || !isWanted(tool)) continue;
      this.#taken.add(tool.id);
      return tool.id;
    }
    return undefined;
  }

  refused(toolId: string, outcome: "denied" | "cancelled", text: string): EventBody[] {
    const tool = this.#tools.get(toolId);
    if (tool === undefined || tool.ended || tool.hidden) return [];
    tool.ended = true;
    return [{ type: "tool.ended", toolId, outcome, text }];
  }

  /** The turn is over: what was being said is said. */
  end(): EventBody[] {
    return this.#endMessage();
  }

  #said({ content, messageId }: schema.ContentChunk): EventBody[] {
    const before =
      this.#message !== undefined && messageId != null && this.#message.agentsId !== messageId
        ? this.#endMessage()
        : [];
    this.#thought = undefined;
    this.#message ??= { id: newId("msg", Date.now()), agentsId: messageId ?? undefined, text: "" };
    const text = textOf(content);
    this.#message.text += text;
    return [...before, { type: "message.delta", messageId: this.#message.id, text }];
  }

  #thought_({ content, messageId }: schema.ContentChunk): EventBody[] {
    const before = this.#endMessage();
    if (this.#thought === undefined || (messageId != null && this.#thought.agentsId !== messageId)) {
      this.#thought = { id: newId("msg", Date.now()), agentsId: messageId ?? undefined };
    }
    return [...before, { type: "thought.delta", messageId: this.#thought.id, text: textOf(content) }];
  }

  #endMessage(): EventBody[] {
    const message = this.#message;
    this.#message = undefined;
    return message === undefined ? [] : [{ type: "message.completed", messageId: message.id, text: message.text }];
  }

  #tool(update: ToolUpdate): EventBody[] {
    const known = this.#tools.get(update.toolCallId);
    const tool = known ?? opened(update.toolCallId);
    const said = change(tool, update);
    if (known === undefined) {
      this.#tools.set(tool.id, tool);
      tool.hidden = this.#isKnown(tool);
    }
    if (tool.hidden) return [];
    const started: EventBody[] = known === undefined ? [startedEvent(tool)] : [];
    if (tool.ended) return started;
    const ended = update.status === "completed" || update.status === "failed";
    if (ended) {
      tool.ended = true;
      return [...started, endedEvent(tool, update.status === "completed" ? "ok" : "failed")];
    }
    return known !== undefined && said !== undefined ? [{ type: "tool.updated", toolId: tool.id, ...said }] : started;
  }

  #known(toolId: string): Tool {
    const tool = this.#tools.get(toolId);
    if (tool === undefined) throw new Error(`tool ${toolId} was not noted`);
    return tool;
  }
}

function opened(id: string): Tool {
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
  };
}

/** Takes over what the update says; returns what of it is worth an event. */
function change(tool: Tool, update: ToolUpdate): { text?: string; title?: string; locations?: Location[] } | undefined {
  const before = { text: tool.text, title: tool.title };
  tool.title = update.title ?? tool.title;
  tool.kind = kindOf(update.kind) ?? tool.kind;
  tool.name = update.name ?? (tool.name === "" ? tool.kind : tool.name);
  tool.input = update.rawInput ?? tool.input;
  if (update.locations != null) tool.locations = update.locations.map(locationOf);
  if (update.content != null) {
    const diffs = update.content.flatMap((part) => (part.type === "diff" ? [diffOf(part)] : []));
    if (diffs.length > 0) tool.diffs = diffs; // opencode 1.18 tells them when it asks, and not when it is done
    tool.text = update.content
      .map(contentText)
      .filter((text) => text !== "")
      .join("\n")
      .slice(0, TOOL_TEXT_LENGTH);
  } else if (tool.text === "" && typeof update.rawOutput === "string") {
    tool.text = update.rawOutput.slice(0, TOOL_TEXT_LENGTH);
  }
  const more = tool.text.startsWith(before.text) ? tool.text.slice(before.text.length) : tool.text;
  const said = {
    ...(more !== "" && { text: more }),
    ...(tool.title !== before.title && { title: tool.title }),
    ...(update.locations != null && { locations: tool.locations }),
  };
  return Object.keys(said).length === 0 ? undefined : said;
}

function startedEvent({ id, name, title, kind, input, locations }: Tool): EventBody {
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

function endedEvent(tool: Tool, outcome: "ok" | "failed"): EventBody {
  const { id, text, locations } = tool;
  const edit = tool.kind === "edit" && tool.diffs.length === 0 ? editOf(tool.input) : undefined;
  const diffs = outcome === "failed" ? [] : edit === undefined ? tool.diffs : [edit];
  return {
    type: "tool.ended",
    toolId: id,
    outcome,
    text,
    ...(locations.length > 0 && { locations }),
    ...(diffs.length > 0 && { diffs }),
  };
}

function kindOf(kind: string | null | undefined): ToolKind | undefined {
  return kind == null ? undefined : (KINDS.safeParse(kind).data ?? "other");
}

function locationOf({ path, line }: schema.ToolCallLocation): Location {
  return { path, ...(typeof line === "number" && line > 0 && { line }) };
}

function diffOf({ path, oldText, newText }: schema.Diff): FileDiff {
  if ((oldText?.length ?? 0) + newText.length > DIFF_LENGTH)
    return { path, before: null, after: null, truncated: true };
  return { path, before: oldText ?? null, after: newText };
}

function contentText(part: schema.ToolCallContent): string {
  return part.type === "content" ? textOf(part.content) : "";
}

function textOf(content: schema.ContentBlock): string {
  switch (content.type) {
    case "text":
      return content.text;
    case "resource_link":
      return `[${content.name}](${content.uri})`;
    case "resource":
      return "text" in content.resource ? content.resource.text : `[${content.resource.uri}]`;
    default:
      return `[${content.type}]`;
  }
}

function raw(update: Update): EventBody {
  return { type: "agent.raw", data: update };
}
