/** Recognizes late updates of cancelled turns by the tool calls and messages that they are about. */
import type * as acp from "../../schema.ts";

/** The limit for one turn, and for all cancelled turns together. */
const MAX_SUBJECTS = 4096;

export class LateUpdateFilter {
  #late = new Set<string>();

  /** Adds the subjects of a cancelled turn. */
  addCancelledTurn(things: ReadonlySet<string>): void {
    this.#late = new Set([...this.#late, ...things].slice(-MAX_SUBJECTS));
  }

  /** A `tool_call` starts a new tool call, even if the agent reuses the id. */
  isLate(update: acp.SessionUpdate): boolean {
    const thing = subjectOf(update);
    if (thing === undefined || !this.#late.has(thing)) return false;
    if (update.sessionUpdate !== "tool_call") return true;
    this.#late.delete(thing);
    return false;
  }

  isLateTool(toolCallId: unknown): boolean {
    return typeof toolCallId === "string" && this.#late.has(toolSubject(toolCallId));
  }
}

export class UpdateSubjects {
  readonly seen = new Set<string>();

  add(update: acp.SessionUpdate): void {
    const thing = this.seen.size < MAX_SUBJECTS ? subjectOf(update) : undefined;
    if (thing !== undefined) this.seen.add(thing);
  }
}

function subjectOf(update: acp.SessionUpdate): string | undefined {
  const { toolCallId, messageId } = update as { toolCallId?: unknown; messageId?: unknown };
  if (typeof toolCallId === "string") return toolSubject(toolCallId);
  return typeof messageId === "string" ? `message ${messageId}` : undefined;
}

function toolSubject(id: string): string {
  return `tool ${id}`;
}
