/** One request from its arrival to its aftermath: steps, exactly as many answers as the script wants, steps. */

import { deferred } from "../../stdx/index.ts";
import { CODE, laidOver, Refusal } from "./rpc.ts";
import { Cancelled, Ended, type CancelledBy, type Stage } from "./scene.ts";
import type { Answer, Handling, JsonObject, RpcError, Step } from "./script.ts";
import type { Session } from "./sessions.ts";
import { openScene } from "./steps/play.ts";
import type { Update } from "./updates.ts";

export type Outcome = { readonly result: unknown } | { readonly error: RpcError };

export interface Plan {
  readonly id: unknown;
  readonly usual: JsonObject;
  readonly handling: Handling;
  /** How it goes on when it is cancelled; `ignore` lets `session/cancel` pass. */
  readonly onCancel: "ignore" | Handling;
  /** The usual answer when it is cancelled. */
  readonly cancelled: Outcome;
  readonly session: Session | undefined;
  /** Called at the moment of the answer: a client that has read it may ask the next thing at once. */
  readonly over?: () => void;
  readonly first?: Promise<void> | undefined;
  readonly replay?: { readonly when: "before" | "after" | "never"; readonly updates: readonly Update[] } | undefined;
}

/** A request that is being answered. */
export class Exchange {
  readonly #stage: Stage;
  readonly #plan: Plan;
  readonly #soft = new AbortController();
  readonly #hard = new AbortController();
  readonly #answered = deferred();

  constructor(stage: Stage, plan: Plan) {
    this.#stage = stage;
    this.#plan = plan;
  }

  /** Resolves when the answer is on its way, or will never be. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  get sessionId(): string | undefined {
    return this.#plan.session?.sessionId;
  }

  cancel(by: CancelledBy): void {
    if (by === "session/cancel" && this.#plan.onCancel === "ignore") return;
    const reason = new Cancelled(by);
    this.#soft.abort(reason);
    if (by !== "session/cancel") this.#hard.abort(reason);
  }

  /** Resolves behind the aftermath. */
  async conduct(): Promise<void> {
    const { handling, onCancel, replay, first } = this.#plan;
    const scene = openScene(this.#stage, {
      sessionId: this.sessionId,
      signal: this.#soft.signal,
      owed: this.#hard.signal,
    });
    let { after } = handling;
    try {
      if (handling.steps !== undefined) await scene.play(handling.steps);
      if (first !== undefined) await first;
      this.#soft.signal.throwIfAborted();
      if (replay?.when === "before") await this.#replay(replay.updates);
      await this.#answer({ result: this.#plan.usual }, handling.answer);
      if (replay?.when === "after") await this.#replay(replay.updates);
    } catch (error) {
      if (error instanceof Cancelled && onCancel !== "ignore") {
        ({ after } = onCancel);
        await this.#answerCancelled(error, onCancel);
      } else {
        await this.#answer(this.#outcomeOf(error), handling.answer);
      }
    }
    if (after !== undefined) await this.#aside(after);
  }

  async #answerCancelled(cancelled: Cancelled, { steps = [], answer }: Handling): Promise<void> {
    await this.#aside(steps);
    const byRequest = { error: { code: CODE.cancelled, message: "the request was cancelled" } };
    await this.#answer(cancelled.by === "$/cancel_request" ? byRequest : this.#plan.cancelled, answer);
  }

  /** Steps that no cancel reaches any more. */
  async #aside(steps: readonly Step[]): Promise<void> {
    const never = new AbortController().signal;
    const scene = openScene(this.#stage, { sessionId: this.sessionId, signal: never, owed: never });
    await scene.play(steps).catch((error: unknown) => {
      if (!(error instanceof Cancelled)) this.#outcomeOf(error);
    });
  }

  async #answer(outcome: Outcome, answer: Answer = {}): Promise<void> {
    const { times = 1, error, merge } = answer;
    const id = "id" in answer ? answer.id : this.#plan.id;
    let final = outcome;
    if (error !== undefined) final = { error };
    else if ("result" in answer) final = { result: answer.result };
    else if (merge !== undefined && "result" in outcome) final = { result: laidOver(outcome.result, merge) };
    this.#plan.over?.();
    this.#answered.resolve();
    const { output } = this.#stage;
    await Promise.all(Array.from({ length: times }, () => output.send({ jsonrpc: "2.0", id, ...final })));
  }

  async #replay(updates: readonly Update[]): Promise<void> {
    const { sessionId } = this;
    for (const update of updates) await this.#stage.client.notify("session/update", { sessionId, update });
  }

  /** What was thrown by a step, or is wrong with the script. */
  #outcomeOf(error: unknown): Outcome {
    if (error instanceof Ended) {
      return "error" in error.outcome
        ? { error: error.outcome.error }
        : { result: { ...this.#plan.usual, ...error.outcome } };
    }
    if (error instanceof Refusal) return { error: error.error };
    if (error instanceof Cancelled) return this.#plan.cancelled;
    const problem = error instanceof Error ? error.message : String(error);
    this.#stage.record.problem(problem);
    return { error: { code: CODE.internal, message: problem } };
  }
}
