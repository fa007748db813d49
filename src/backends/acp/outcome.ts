/** How a turn ended, from how its prompt did. */
import { isRookeryError, messageOf, type TurnOutcome } from "../../domain/index.ts";
import { ConnectionClosed, PeerError, RPC, type schema } from "../../acp/index.ts";

export function outcomeOfStop({ stopReason }: schema.PromptResponse): TurnOutcome {
  return stopReason === "cancelled" ? { status: "cancelled" } : { status: "done", stopReason };
}

export function outcomeOfFailure(error: unknown, agent: string): TurnOutcome {
  if (error instanceof ConnectionClosed) return failed("agent_exited", error.message);
  if (error instanceof PeerError) return failed(codeOf(error), `${agent} failed: ${wordsOf(error)}`);
  return failed(isRookeryError(error) ? error.code : "agent_failed", messageOf(error));
}

/** What an agent means is often only in the data. */
export function wordsOf({ message, data }: PeerError): string {
  if (data === undefined || data === null) return message;
  const details =
    (data as { details?: unknown; message?: unknown }).details ?? (data as { message?: unknown }).message ?? data;
  const text = typeof details === "string" ? details : JSON.stringify(details);
  return message.includes(text) ? message : `${message} (${text.slice(0, 2_000)})`;
}

function codeOf({ code }: PeerError): "provider_auth" | "agent_failed" {
  return code === RPC.authRequired ? "provider_auth" : "agent_failed";
}

function failed(code: string, message: string): TurnOutcome {
  return { status: "failed", code, message };
}
