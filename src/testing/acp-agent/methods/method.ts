/** The context and the result of a method handler. */

import type { ClientHandle } from "../client-handle.ts";
import type { JsonObject } from "../rpc.ts";
import type { AcpScript } from "../script.ts";
import type { ScriptedSession, ScriptedSessions } from "../sessions.ts";

export interface MethodContext {
  readonly script: AcpScript;
  readonly sessions: ScriptedSessions;
  readonly client: ClientHandle;
  authenticated: boolean;
  /** Cancels the running prompt of a session, if any, and waits for its answer. */
  endTurn(sessionId: string): Promise<void>;
}

/** The response of a well-behaved agent, before the script changes it. */
export interface DefaultResponse {
  readonly result: JsonObject;
  readonly session?: ScriptedSession;
  /** The answer waits for this. */
  readonly waitFor?: Promise<void>;
  /** Whether to send the session's history. Default: false. */
  readonly replays?: boolean;
}

/** Throws an `RpcFailure` to reject the request. */
export type MethodHandler = (params: JsonObject, context: MethodContext) => DefaultResponse;
