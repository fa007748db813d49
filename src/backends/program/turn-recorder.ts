/**
 * Converts the output of a program during one turn to events (messages, thoughts, tool calls and usage), and records them
 * in the log of the turn. It does not write itself: `TurnContext.log` passes the events to the session's `Recorder`.
 */
import { boundFileDiffs } from "../../domain/file-diff.ts";
import {
  includeParts,
  newId,
  type EventBody,
  type EventOf,
  type FileDiff,
  type Location,
  type ToolOutcome,
  type TurnContext,
} from "../../domain/index.ts";
import { OutputSampler } from "../../stdx/index.ts";
import type { ReportedCall } from "../offered-tools.ts";
import { MAX_MESSAGE_LENGTH, storableEvent } from "../storable.ts";

export interface ToolStart extends ReportedCall {
  readonly id: string;
  readonly locations?: readonly Location[] | undefined;
  /** Computes the changes that the call would make to files, for the person who decides about it. */
  readonly proposeDiffs?: (() => readonly FileDiff[]) | undefined;
}

export interface ToolEnd {
  readonly outcome: ToolOutcome;
  readonly text: string;
  readonly locations?: readonly Location[] | undefined;
  readonly diffs?: readonly FileDiff[] | undefined;
}

interface Tool extends ReportedCall {
  readonly id: string;
  /** Undefined when the call has ended: a turn may have any number of calls. */
  input: unknown;
  ended: boolean;
  taken: boolean;
  output?: OutputSampler;
}

/** The part of a turn that the recorder uses. */
export interface RecordedTurn {
  readonly log: Pick<TurnContext["log"], "record">;
}

const MAX_TOOL_TEXT_LENGTH = 64 * 1024;

export class TurnRecorder {
  readonly #turn: RecordedTurn;
  readonly #isKnown: (call: ReportedCall) => boolean;
  readonly #tools = new Map<string, Tool>();
  #message: { readonly id: string; text: string; readonly isContinued: boolean } | undefined;
  #thought: string | undefined;

  /** `isKnown` reports whether the log already has the call because it is a call of a Rookery tool. */
  constructor(turn: RecordedTurn, isKnown: (call: ReportedCall) => boolean = () => false) {
    this.#turn = turn;
    this.#isKnown = isKnown;
  }

  /** Records a part of a message. A message that becomes too long continues as another one. */
  addMessageText(text: string): void {
    if (text === "") return;
    this.#thought = undefined;
    const isContinued = this.#message !== undefined && this.#message.text.length + text.length > MAX_MESSAGE_LENGTH;
    if (isContinued) this.endMessage();
    this.#message ??= { id: this.#newMessage(), text: "", isContinued };
    this.#message.text += text;
    this.#record({ type: "message.delta", messageId: this.#message.id, text });
  }

  /**
   * Completes the open message. `whole` is the full text, if the program sends it; it replaces the parts, unless the
   * beginning is already in the log as another message.
   */
  endMessage(whole?: string): void {
    this.#thought = undefined;
    const isNew = this.#message === undefined && whole !== undefined && whole !== "";
    const message = isNew ? { id: this.#newMessage(), text: "", isContinued: false } : this.#message;
    this.#message = undefined;
    if (message === undefined) return;
    const text = message.isContinued ? message.text : (whole ?? message.text);
    this.#record({ type: "message.completed", messageId: message.id, text });
  }

  /** Discards the open message because the program starts it again. */
  abandonMessage(): void {
    this.#message = undefined;
    this.#thought = undefined;
  }

  addThoughtText(text: string): void {
    if (text === "") return;
    this.endMessageIfAny();
    this.#thought ??= this.#newMessage();
    this.#record({ type: "thought.delta", messageId: this.#thought, text });
  }

  endMessageIfAny(): void {
    if (this.#message !== undefined) this.endMessage();
  }

  /** Records the start of a call. Does nothing if the id is known. */
  startTool({ id, name, title, kind, input, locations = [] }: ToolStart): void {
    if (this.#tools.has(id)) return;
    this.endMessageIfAny();
    const known = this.#isKnown({ name, title, kind, input });
    this.#tools.set(id, { id, name, title, kind, input: known ? undefined : input, ended: known, taken: known });
    if (known) return;
    const where = locations.length > 0 && { locations: [...locations] };
    this.#record({
      type: "tool.started",
      toolId: id,
      name,
      title: title || name,
      kind,
      input: input ?? null,
      ...where,
    });
  }

  updateTool(id: string, change: { readonly text?: string | undefined; readonly title?: string | undefined }): void {
    const tool = this.#tools.get(id);
    const { text = "", title } = change;
    if (tool === undefined || tool.ended || (text === "" && title === undefined)) return;
    const fields = {
      ...(text !== "" && { text: text.slice(0, MAX_TOOL_TEXT_LENGTH) }),
      ...(title !== undefined && { title }),
    };
    this.#record({ type: "tool.updated", toolId: id, ...fields });
  }

  /** Records output of a running call: its first part completely, and later samples of its end. */
  addToolOutput(id: string, text: string): void {
    const tool = this.#tools.get(id);
    if (tool === undefined || tool.ended) return;
    tool.output ??= new OutputSampler({ emit: (part) => this.updateTool(id, { text: part }) });
    tool.output.add(text);
  }

  /** Records the end of a call. Only the first end counts: Rookery records a refusal before the program reports it. */
  endTool(id: string, { outcome, text, locations = [], diffs = [] }: ToolEnd): void {
    const tool = this.#tools.get(id);
    if (tool === undefined || tool.ended) return;
    tool.ended = true;
    tool.input = undefined;
    tool.output?.[Symbol.dispose]();
    this.#record({
      type: "tool.ended",
      toolId: id,
      outcome,
      text: text.length > MAX_TOOL_TEXT_LENGTH ? `${text.slice(0, MAX_TOOL_TEXT_LENGTH)}…` : text,
      ...(locations.length > 0 && { locations: [...locations] }),
      ...(diffs.length > 0 && { diffs: boundFileDiffs(diffs) }),
    });
  }

  /** Returns the id of a running call that matches. Returns each call at most once. */
  takeCall(isWanted: (call: ReportedCall) => boolean): string | undefined {
    for (const tool of this.#tools.values()) {
      if (tool.ended || tool.taken || !isWanted(tool)) continue;
      tool.taken = true;
      return tool.id;
    }
    return undefined;
  }

  tool(id: string): ReportedCall | undefined {
    return this.#tools.get(id);
  }

  plan(entries: EventOf<"plan.updated">["entries"]): void {
    this.#record({ type: "plan.updated", entries });
  }

  usage(usage: Omit<EventOf<"usage.reported">, "type" | "seq" | "at" | "sessionId" | "turnId" | "agent">): void {
    this.#record({ type: "usage.reported", ...includeParts(usage) });
  }

  /** Records a line of other output of the program. */
  addOutput(text: string): void {
    this.#record({ type: "output.text", text: `${text}\n` });
  }

  /** Records the program's own event unchanged. */
  raw(data: unknown): void {
    this.#record({ type: "agent.raw", data });
  }

  notice(level: "info" | "warning" | "error", code: string, message: string): void {
    this.#record({ type: "notice", level, code, message });
  }

  record(...bodies: EventBody[]): void {
    this.#record(...bodies);
  }

  #newMessage(): string {
    return newId("msg", Date.now());
  }

  #record(...bodies: EventBody[]): void {
    try {
      this.#turn.log.record(...bodies.map((body) => storableEvent(body, "the program")));
    } catch {
      // The turn has ended, or its log is broken; the turn reports that itself.
    }
  }
}
