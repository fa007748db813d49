/** How what goes wrong in Rookery is told to a client: the only place that knows the codes of the protocol. */
import { ConnectionClosed, PeerError, peerError, RPC } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { isRookeryError, messageOf, type ErrorCode } from "../../domain/errors.ts";
import type { TurnOutcome } from "../../domain/events.ts";

/** Whatever is not here is an internal error; its own code is in `data`. */
const CODES: Partial<Record<ErrorCode, number>> = {
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

export function asPeerError(error: unknown): Error {
  if (error instanceof PeerError || error instanceof ConnectionClosed) return error;
  if (!isRookeryError(error)) return peerError(RPC.internalError, messageOf(error), { code: "internal" });
  return peerError(CODES[error.code] ?? RPC.internalError, error.message, { code: error.code });
}

/** What a turn's end is in the protocol. Throws where the turn failed. */
export function stopReasonOf(outcome: TurnOutcome): acp.StopReason {
  switch (outcome.status) {
    case "done":
      return REASONS[outcome.stopReason ?? ""] ?? "end_turn";
    case "cancelled":
      return "cancelled";
    case "stalled":
      throw peerError(RPC.internalError, outcome.message, { code: "stalled", clock: outcome.clock });
    case "failed": {
      const reason = FAILURES[outcome.code];
      if (reason !== undefined) return reason;
      const code = CODES[outcome.code as ErrorCode] ?? RPC.internalError;
      throw peerError(code, outcome.message, { code: outcome.code });
    }
  }
}

/** As the backends call them. */
const REASONS: Readonly<Record<string, acp.StopReason>> = {
  length: "max_tokens",
  max_tokens: "max_tokens",
  max_turn_requests: "max_turn_requests",
  refusal: "refusal",
  "content-filter": "refusal",
};

/** Failures that the protocol has a word for. */
const FAILURES: Readonly<Record<string, acp.StopReason>> = {
  reply_truncated: "max_tokens",
  reply_refused: "refusal",
};
