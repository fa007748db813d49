/** The context that steps run in: the agent, the session, and the signals that stop them. */

import type { ClientHandle } from "./client-handle.ts";
import type { AgentRecord, AcpRecordEntry } from "./record.ts";
import type { RpcError } from "./rpc.ts";
import type { AcpStep, ExitStep, AcpGrandchildStep } from "./steps/steps.ts";
import type { ScriptedSessions } from "./sessions.ts";
import type { OrderedOutput } from "./streams.ts";

/** Parts of the agent that all steps share. */
export interface ScriptedAgentContext {
  readonly client: ClientHandle;
  readonly output: OrderedOutput;
  readonly record: AgentRecord;
  readonly sessions: ScriptedSessions;
  readonly host: AcpAgentHost;
  /** Aborts when the client has disconnected, so that no more responses can arrive. */
  readonly gone: AbortSignal;
  /** Pauses or resumes reading the input. */
  listen(listening: boolean): void;
}

export interface StepContext {
  readonly agent: ScriptedAgentContext;
  readonly sessionId: string | undefined;
  /** Aborts when the request is cancelled. Checked between steps. */
  readonly signal: AbortSignal;
  /**
   * Aborts waits that end with the request: pauses, gates, and requests whose answer a cancelled agent does not need.
   */
  readonly waitSignal: AbortSignal;
  /** Aborts waits for answers that the client owes even after `session/cancel`, such as to permission requests. */
  readonly owedSignal: AbortSignal;
  /** Messages that `waitForMessage` has already consumed. */
  readonly consumed: ConsumedMessages;
  play(steps: readonly AcpStep[], session?: string): Promise<void>;
}

export interface ConsumedMessages {
  readonly since: number;
  readonly taken: Set<AcpRecordEntry>;
}

/** The process that the agent runs in. */
export interface AcpAgentHost {
  /** Ends the agent. Called after all output was written. */
  exit(how: ExitStep): Promise<never>;
  stderr(text: string): void;
  /** Starts a process that outlives the agent. Absent if the agent has no separate process. */
  leaveBehind?(what: AcpGrandchildStep): Promise<void>;
}

export type CancelSource = "session/cancel" | "session/close" | "$/cancel_request" | "gone";

/** The signal's reason, if it has aborted. */
export class RequestCancelled extends Error {
  readonly by: CancelSource;

  constructor(by: CancelSource) {
    super(`cancelled by ${by}`);
    this.by = by;
  }
}

/** Thrown by the `stop` and `fail` steps to end the request. */
export class RequestEnd extends Error {
  readonly outcome: { readonly stopReason: string } | { readonly error: RpcError };

  constructor(outcome: RequestEnd["outcome"]) {
    super("the script ended the request");
    this.outcome = outcome;
  }
}
