/** The prompts that run now: at most one per session. Each can be cancelled until it is answered. */
import { RPC, peerError } from "../errors.ts";
import type * as acp from "../schema.ts";

const CANCELLED: acp.PromptResponse = { stopReason: "cancelled" };

export class RunningPrompts {
  readonly #running = new Map<string, { readonly controller: AbortController; readonly finished: Promise<unknown> }>();

  /**
   * Rejects with -32600 if a prompt already runs in the session. If `play` fails after a cancel, resolves with
   * `cancelled`.
   */
  async run<Answer>(
    sessionId: string,
    requested: AbortSignal,
    play: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer | acp.PromptResponse> {
    if (this.#running.has(sessionId)) {
      const message = `session ${sessionId} is busy with a prompt: wait for its answer, or cancel it`;
      throw peerError(RPC.invalidRequest, message, { code: "turn_in_progress" });
    }
    const controller = new AbortController();
    const signal = AbortSignal.any([requested, controller.signal]);
    const finished = play(signal);
    const running = { controller, finished };
    this.#running.set(sessionId, running);
    try {
      return await finished;
    } catch (error) {
      if (signal.aborted) return CANCELLED;
      throw error;
    } finally {
      this.#running.delete(sessionId);
    }
  }

  cancel(sessionId: string): void {
    this.#running.get(sessionId)?.controller.abort(new Error("the turn was cancelled"));
  }

  /** Resolves when all running prompts have ended. */
  async cancelAll(reason: Error): Promise<void> {
    const running = [...this.#running.values()];
    for (const { controller } of running) controller.abort(reason);
    await Promise.allSettled(running.map(({ finished }) => finished));
  }
}
