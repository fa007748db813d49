/** Handles one request: runs its steps, sends as many answers as the script says, then runs its `after` steps. */

import { deferred } from "../../stdx/index.ts";
import { RPC_ERROR, mergeDeep, RpcFailure, type JsonObject, type RpcOutcome } from "./rpc.ts";
import { RequestCancelled, RequestEnd, type CancelSource, type ScriptedAgentContext } from "./step-context.ts";
import type { AcpAnswer, AcpHandling } from "./script.ts";
import type { AcpStep } from "./steps/steps.ts";
import type { ScriptedSession } from "./sessions.ts";
import { openStepContext } from "./steps/play.ts";
import type { AcpUpdate } from "./updates.ts";

export interface RequestPlan {
  readonly id: unknown;
  readonly defaultResult: JsonObject;
  readonly handling: AcpHandling;
  /** What to do when the request is cancelled. `ignore` ignores `session/cancel`. */
  readonly onCancel: "ignore" | AcpHandling;
  /** The default answer of a cancelled request. */
  readonly cancelled: RpcOutcome;
  readonly session: ScriptedSession | undefined;
  /** Called just before the answer is sent, because the client may send its next request as soon as it reads it. */
  readonly onAnswered?: () => void;
  readonly waitFor?: Promise<void> | undefined;
  readonly replay?: { readonly when: "before" | "after" | "never"; readonly updates: readonly AcpUpdate[] } | undefined;
}

/** Owns a request until its last step. */
export class RequestRun {
  readonly #agent: ScriptedAgentContext;
  readonly #plan: RequestPlan;
  readonly #soft = new AbortController();
  readonly #hard = new AbortController();
  readonly #answered = deferred();

  constructor(agent: ScriptedAgentContext, plan: RequestPlan) {
    this.#agent = agent;
    this.#plan = plan;
  }

  /** Resolves when the answer is being sent, or if the script sends none. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  get sessionId(): string | undefined {
    return this.#plan.session?.sessionId;
  }

  cancel(by: CancelSource): void {
    if (by === "session/cancel" && this.#plan.onCancel === "ignore") return;
    const reason = new RequestCancelled(by);
    this.#soft.abort(reason);
    if (by !== "session/cancel") this.#hard.abort(reason);
  }

  /** Resolves after the `after` steps. */
  async run(): Promise<void> {
    const { handling, onCancel, replay, waitFor } = this.#plan;
    const context = openStepContext(this.#agent, {
      sessionId: this.sessionId,
      signal: this.#soft.signal,
      owed: this.#hard.signal,
    });
    let { after } = handling;
    try {
      if (handling.steps !== undefined) await context.play(handling.steps);
      if (waitFor !== undefined) await waitFor;
      this.#soft.signal.throwIfAborted();
      if (replay?.when === "before") await this.#replay(replay.updates);
      await this.#answer({ result: this.#plan.defaultResult }, handling.answer);
      if (replay?.when === "after") await this.#replay(replay.updates);
    } catch (error) {
      if (error instanceof RequestCancelled && onCancel !== "ignore") {
        ({ after } = onCancel);
        await this.#answerCancelled(error, onCancel);
      } else {
        await this.#answer(this.#outcomeOf(error), handling.answer);
      }
    }
    if (after !== undefined) await this.#aside(after);
  }

  async #answerCancelled(cancelled: RequestCancelled, { steps = [], answer }: AcpHandling): Promise<void> {
    await this.#aside(steps);
    const byRequest = { error: { code: RPC_ERROR.cancelled, message: "the request was cancelled" } };
    await this.#answer(cancelled.by === "$/cancel_request" ? byRequest : this.#plan.cancelled, answer);
  }

  /** Runs steps that can no longer be cancelled. */
  async #aside(steps: readonly AcpStep[]): Promise<void> {
    const never = new AbortController().signal;
    const context = openStepContext(this.#agent, { sessionId: this.sessionId, signal: never, owed: never });
    await context.play(steps).catch((error: unknown) => {
      if (!(error instanceof RequestCancelled)) this.#outcomeOf(error);
    });
  }

  async #answer(outcome: RpcOutcome, answer: AcpAnswer = {}): Promise<void> {
    const { times = 1, error, merge } = answer;
    const id = "id" in answer ? answer.id : this.#plan.id;
    let final = outcome;
    if (error !== undefined) final = { error };
    else if ("result" in answer) final = { result: answer.result };
    else if (merge !== undefined && "result" in outcome) final = { result: mergeDeep(outcome.result, merge) };
    this.#plan.onAnswered?.();
    this.#answered.resolve();
    const { output } = this.#agent;
    await Promise.all(Array.from({ length: times }, () => output.send({ jsonrpc: "2.0", id, ...final })));
  }

  async #replay(updates: readonly AcpUpdate[]): Promise<void> {
    const { sessionId } = this;
    for (const update of updates) await this.#agent.client.notify("session/update", { sessionId, update });
  }

  /** Maps an error that a step threw to an answer. Records unexpected errors as problems. */
  #outcomeOf(error: unknown): RpcOutcome {
    if (error instanceof RequestEnd) {
      return "error" in error.outcome
        ? { error: error.outcome.error }
        : { result: { ...this.#plan.defaultResult, ...error.outcome } };
    }
    if (error instanceof RpcFailure) return { error: error.error };
    if (error instanceof RequestCancelled) return this.#plan.cancelled;
    const problem = error instanceof Error ? error.message : String(error);
    this.#agent.record.problem(problem);
    return { error: { code: RPC_ERROR.internal, message: problem } };
  }
}
