/** Maps the result of a prompt to a turn outcome. */
import { isRookeryError, messageOf, type LimitReached, type TurnOutcome } from "../../domain/index.ts";
import { ConnectionClosed, PeerError, type schema } from "../../acp/index.ts";
import { storableJson } from "../storable.ts";
import { detectAccountProblem } from "./account-problem.ts";

const MAX_STOP_REASON_LENGTH = 200;
const MAX_ERROR_LENGTH = 4_000;

export function toStopOutcome({ stopReason }: schema.PromptResponse): TurnOutcome {
  return stopReason === "cancelled"
    ? { status: "cancelled" }
    : { status: "done", stopReason: stopReason.slice(0, MAX_STOP_REASON_LENGTH) };
}

export function toFailureOutcome(error: unknown, agent: string): TurnOutcome | LimitReached {
  if (error instanceof ConnectionClosed) return failedOutcome("agent_exited", error.message);
  if (error instanceof PeerError) return toAgentErrorOutcome(formatPeerError(error), agent, error.code);
  return failedOutcome(isRookeryError(error) ? error.code : "agent_failed", messageOf(error));
}

/** Maps an agent's error message to an outcome. `code` is the agent's error code, if it sent one. */
export function toAgentErrorOutcome(words: string, agent: string, code?: number): TurnOutcome | LimitReached {
  const trouble = detectAccountProblem(words, Date.now(), code);
  if (trouble?.status === "limited") return trouble;
  if (trouble?.status === "unauthorized") return failedOutcome("provider_auth", formatAcpLoginError(agent, words));
  return failedOutcome("agent_failed", `${agent} failed: ${words}`);
}

export function formatAcpLoginError(agent: string, words: string): string {
  return `${agent} is not logged in, or its login was rejected: log in with the program's own command, or set an API key; it reported: ${words}`;
}

/** Formats an error of the agent. Includes `data`, which often has the actual reason. */
export function formatPeerError({ message: said, data }: PeerError): string {
  const message = said.slice(0, MAX_ERROR_LENGTH);
  if (data === undefined || data === null) return message;
  const details =
    (data as { details?: unknown; message?: unknown }).details ?? (data as { message?: unknown }).message ?? data;
  const text = typeof details === "string" ? details : JSON.stringify(storableJson(details));
  return message.includes(text) ? message : `${message} (${text.slice(0, 2_000)})`;
}

function failedOutcome(code: string, message: string): TurnOutcome {
  return { status: "failed", code, message };
}
