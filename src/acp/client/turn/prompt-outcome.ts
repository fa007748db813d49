/** What a session says and hears in the protocol's own terms: content, and how a turn and a cancel end. */
import { RookeryError } from "../../../domain/errors.ts";
import type { Verbatim } from "../../connection/incoming.ts";
import { PeerError } from "../../errors.ts";
import type * as acp from "../../schema.ts";
import type { StopItem } from "../session-items.ts";

export const CANCELLED_PERMISSION: acp.RequestPermissionResponse = { outcome: { outcome: "cancelled" } };
export const CANCELLED_ELICITATION: acp.CreateElicitationResponse = { action: "cancel" };

/** What a client must answer when it cancels the turn; undefined of what a cancel does not answer. */
export function getCancelledAnswer(method: string): unknown {
  if (method === "session/request_permission") return CANCELLED_PERMISSION;
  return method === "elicitation/create" ? CANCELLED_ELICITATION : undefined;
}

/** An error after a cancel is what agents in the field say for `cancelled`. */
export function toPromptOutcome({ result, error }: Verbatim, cancelled: boolean): StopItem | Error {
  if (error !== undefined) {
    const failure = new PeerError(error);
    return cancelled ? { kind: "stop", response: { stopReason: "cancelled" }, error: failure } : failure;
  }
  const { stopReason } = (result ?? {}) as { stopReason?: unknown };
  if (typeof stopReason === "string") return { kind: "stop", response: result as acp.PromptResponse };
  return new RookeryError("agent_failed", "the agent answered session/prompt without a stop reason");
}

export function toContentBlocks(prompt: string | acp.ContentBlock | readonly acp.ContentBlock[]): acp.ContentBlock[] {
  if (typeof prompt === "string") return [{ type: "text", text: prompt }];
  return "type" in prompt ? [prompt] : [...prompt];
}

/** Of an update that agents say their answer with; it is theirs, so it may be anything. */
export function getAgentText(update: acp.SessionUpdate): string {
  if (update.sessionUpdate !== "agent_message_chunk") return "";
  const { type, text } = (update.content ?? {}) as { type?: unknown; text?: unknown };
  return type === "text" && typeof text === "string" ? text : "";
}
