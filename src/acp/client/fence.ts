/** Tells what comes late of a cancelled turn from what the next one brings: by the tool calls and messages they are about. */
import type * as acp from "../schema.ts";

/** Of one turn, and of all that were cancelled. */
const MOST = 4096;

export class Fence {
  #late = new Set<string>();

  /** The things that a cancelled turn was about. */
  close(things: ReadonlySet<string>): void {
    this.#late = new Set([...this.#late, ...things].slice(-MOST));
  }

  /** A tool call that begins is a new one, also where the agent counts them from one again. */
  holdsBack(update: acp.SessionUpdate): boolean {
    const thing = thingOf(update);
    if (thing === undefined || !this.#late.has(thing)) return false;
    if (update.sessionUpdate !== "tool_call") return true;
    this.#late.delete(thing);
    return false;
  }

  hasTool(toolCallId: unknown): boolean {
    return typeof toolCallId === "string" && this.#late.has(tool(toolCallId));
  }
}

export class Things {
  readonly seen = new Set<string>();

  see(update: acp.SessionUpdate): void {
    const thing = this.seen.size < MOST ? thingOf(update) : undefined;
    if (thing !== undefined) this.seen.add(thing);
  }
}

function thingOf(update: acp.SessionUpdate): string | undefined {
  const { toolCallId, messageId } = update as { toolCallId?: unknown; messageId?: unknown };
  if (typeof toolCallId === "string") return tool(toolCallId);
  return typeof messageId === "string" ? `message ${messageId}` : undefined;
}

function tool(id: string): string {
  return `tool ${id}`;
}
