/** Whether the agent may do what it asks a client for: decided by whoever runs the client. */
import { raceCancellation } from "../cancellation.ts";
import { RPC, peerError, requestCancelled } from "../errors.ts";

export interface GateRequest {
  readonly kind: "read" | "edit" | "execute";
  /** For a person: all of what was asked, so it may be long and have line breaks. */
  readonly title: string;
  /** Of the file, or of the folder that a command runs in; symlinks are resolved. */
  readonly path?: string;
  readonly command?: readonly string[];
  readonly sessionId: string;
  /** As they came. */
  readonly params: unknown;
  /** Fires when the answer is of no use any more. */
  readonly signal: AbortSignal;
}

export type Gate = (
  request: GateRequest,
) => Promise<{ readonly allowed: true } | { readonly allowed: false; readonly message: string }>;

export interface ServeContext {
  /** Fires when the agent cancels the request, or is gone. */
  readonly signal: AbortSignal;
}

/**
 * Returns when it is allowed. A refusal is an internal error to the protocol, which has no code for it that agents do
 * not take for something else, as they do -32000 for a login that is needed; the words and `data` say what it is.
 */
export async function passGate(gate: Gate | undefined, request: GateRequest): Promise<void> {
  if (request.signal.aborted) throw requestCancelled();
  if (gate === undefined) return;
  const answer = await raceCancellation(gate(request), request.signal);
  if (!answer.allowed) throw peerError(RPC.internalError, `refused: ${answer.message}`, { refused: true });
}
