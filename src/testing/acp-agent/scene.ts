/** Where steps are played: the agent, the session they speak for, and what makes them stop. */

import type { Client } from "./client.ts";
import type { AgentRecord, Entry } from "./record.ts";
import type { RpcError, Step } from "./script.ts";
import type { Sessions } from "./sessions.ts";
import type { ExitStep, GrandchildStep } from "./steps/steps.ts";
import type { Output } from "./wire.ts";

/** What all scenes of an agent share. */
export interface Stage {
  readonly client: Client;
  readonly output: Output;
  readonly record: AgentRecord;
  readonly sessions: Sessions;
  readonly host: Host;
  /** Aborted when the client is gone: nothing it owes will come any more. */
  readonly gone: AbortSignal;
  /** Stops reading the input, or goes on with it. */
  listen(listening: boolean): void;
}

export interface Scene {
  readonly stage: Stage;
  readonly sessionId: string | undefined;
  /** Looked at between steps: aborted when the request is cancelled, however that happened. */
  readonly signal: AbortSignal;
  /** For what ends with the request: delays, gates, and calls whose answer nobody waits for after a cancel. */
  readonly waiting: AbortSignal;
  /** For answers that the client owes even after `session/cancel`: those to permissions. */
  readonly owed: AbortSignal;
  /** Messages that steps have waited for since the scene opened; each is waited for once. */
  readonly heard: Heard;
  play(steps: readonly Step[], session?: string): Promise<void>;
}

export interface Heard {
  readonly since: number;
  readonly taken: Set<Entry>;
}

/** What the agent runs in. */
export interface Host {
  /** Ends the agent at once; everything was passed on before. */
  exit(how: ExitStep): Promise<never>;
  stderr(text: string): void;
  /** Left out: there is no process of its own that could leave one behind. */
  leaveBehind?(what: GrandchildStep): Promise<void>;
}

export type CancelledBy = "session/cancel" | "session/close" | "$/cancel_request" | "gone";

/** The reason of an aborted scene. */
export class Cancelled extends Error {
  readonly by: CancelledBy;

  constructor(by: CancelledBy) {
    super(`cancelled by ${by}`);
    this.by = by;
  }
}

/** Thrown by the step that ends the steps on purpose. */
export class Ended extends Error {
  readonly outcome: { readonly stopReason: string } | { readonly error: RpcError };

  constructor(outcome: Ended["outcome"]) {
    super("the script ended the request");
    this.outcome = outcome;
  }
}
