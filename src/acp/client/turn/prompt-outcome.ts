/** Converts prompts and their responses between the session API and the protocol. */
import { RookeryError } from "../../../domain/errors.ts";
import type { Verbatim } from "../../connection/incoming.ts";
import { PeerError } from "../../errors.ts";
import type * as acp from "../../schema.ts";
import type { StopItem } from "../session-items.ts";

export const CANCELLED_PERMISSION: acp.RequestPermissionResponse = { outcome: { outcome: "cancelled" } };
export const CANCELLED_ELICITATION: acp.CreateElicitationResponse = { action: "cancel" };

/** Returns the answer that the protocol requires after a cancel. Undefined if a cancel does not answer the method. */
export function getCancelledAnswer(method: string): unknown {
  if (method === "session/request_permission") return CANCELLED_PERMISSION;
  return method === "elicitation/create" ? CANCELLED_ELICITATION : undefined;
}

/** Some agents answer a cancelled prompt with an error; after a cancel that counts as `cancelled`. */
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

/**
 * The text of an agent message chunk; empty for every other update. The update is not validated, so any field may be
 * wrong.
 */
export function getAgentText(update: acp.SessionUpdate): string {
  if (update.sessionUpdate !== "agent_message_chunk") return "";
  const { type, text } = (update.content ?? {}) as { type?: unknown; text?: unknown };
  return type === "text" && typeof text === "string" ? text : "";
}
