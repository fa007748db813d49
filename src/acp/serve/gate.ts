/** Asks the owner of the client whether the agent may read, write or execute something. */
import { raceCancellation } from "../cancellation.ts";
import { RPC, peerError, requestCancelled } from "../errors.ts";

export interface GateRequest {
  readonly kind: "read" | "edit" | "execute";
  /** For a person: the complete request, so it may be long and contain line breaks. */
  readonly title: string;
  /** The file, or the working directory of a command, with symlinks resolved. */
  readonly path?: string;
  readonly command?: readonly string[];
  readonly sessionId: string;
  /** The params of the request, unchanged. */
  readonly params: unknown;
  /** Fires when nobody needs the answer. */
  readonly signal: AbortSignal;
}

export type Gate = (
  request: GateRequest,
) => Promise<{ readonly allowed: true } | { readonly allowed: false; readonly message: string }>;

export interface ServeContext {
  /** Fires when the agent cancels the request or disconnects. */
  readonly signal: AbortSignal;
}

/**
 * Returns if the request is allowed. A refusal is an internal error (-32603), because the protocol has no code for it
 * and agents give other codes another meaning, such as -32000 for a missing login. The message and `data.refused`
 * identify it.
 */
export async function passGate(gate: Gate | undefined, request: GateRequest): Promise<void> {
  if (request.signal.aborted) throw requestCancelled();
  if (gate === undefined) return;
  const answer = await raceCancellation(gate(request), request.signal);
  if (!answer.allowed) throw peerError(RPC.internalError, `refused: ${answer.message}`, { refused: true });
}
