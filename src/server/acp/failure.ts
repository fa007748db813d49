/** Maps errors and turn outcomes to ACP errors and stop reasons. No other file knows the protocol codes. */
import { ConnectionClosed, PeerError, peerError, RPC } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { isRookeryError, messageOf, type ErrorCode } from "../../domain/errors.ts";
import type { TurnOutcome } from "../../domain/events.ts";

/** Other codes map to an internal error. `data.code` always has the Rookery code. */
const RPC_CODES: Partial<Record<ErrorCode, number>> = {
  session_not_found: RPC.notFound,
  usage: RPC.invalidParams,
  input_invalid: RPC.invalidParams,
  input_too_large: RPC.invalidParams,
  agent_unknown: RPC.invalidParams,
  model_invalid: RPC.invalidParams,
  cwd_missing: RPC.invalidParams,
  turn_in_progress: RPC.invalidRequest,
  provider_unconfigured: RPC.authRequired,
  provider_auth: RPC.authRequired,
};

export function toPeerError(error: unknown): Error {
  if (error instanceof PeerError || error instanceof ConnectionClosed) return error;
  if (!isRookeryError(error)) return peerError(RPC.internalError, messageOf(error), { code: "internal" });
  return peerError(RPC_CODES[error.code] ?? RPC.internalError, error.message, { code: error.code });
}

/** The stop reason of a turn. Throws a protocol error if the turn failed or stalled. */
export function toStopReason(outcome: TurnOutcome): acp.StopReason {
  switch (outcome.status) {
    case "done":
      return ACP_STOP_REASONS[outcome.stopReason ?? ""] ?? "end_turn";
    case "cancelled":
      return "cancelled";
    case "stalled":
      throw peerError(RPC.internalError, outcome.message, { code: "stalled", clock: outcome.clock });
    case "failed": {
      const reason = FAILURE_STOP_REASONS[outcome.code];
      if (reason !== undefined) return reason;
      const code = RPC_CODES[outcome.code as ErrorCode] ?? RPC.internalError;
      throw peerError(code, outcome.message, { code: outcome.code });
    }
  }
}

/** By the stop reason that the backend reports. */
const ACP_STOP_REASONS: Readonly<Record<string, acp.StopReason>> = {
  length: "max_tokens",
  max_tokens: "max_tokens",
  max_turn_requests: "max_turn_requests",
  refusal: "refusal",
  "content-filter": "refusal",
};

/** Failures that have a stop reason in the protocol. */
const FAILURE_STOP_REASONS: Readonly<Record<string, acp.StopReason>> = {
  reply_truncated: "max_tokens",
  reply_refused: "refusal",
};
