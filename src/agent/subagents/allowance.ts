/** What the children of a session may still use: counted while they work, and they are stopped where it is used up. */
import {
  addUsage,
  NO_USAGE,
  RookeryError,
  type SessionEvent,
  type SubagentLimits,
  type Usage,
} from "../../domain/index.ts";

export class Allowance {
  readonly #limits: SubagentLimits;
  readonly #recorded: () => Usage | undefined;
  readonly #running = new Map<string, Usage>();
  readonly #stopping = new AbortController();

  /** `recorded`: what the log says that children have used. */
  constructor(limits: SubagentLimits, recorded: () => Usage | undefined) {
    this.#limits = limits;
    this.#recorded = recorded;
  }

  /** Fires when it is used up. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get wasMet(): boolean {
    return this.signal.aborted;
  }

  /** Called for what is new in a child's log. */
  count(childId: string, event: SessionEvent): void {
    if (event.type !== "usage.reported") return;
    this.#running.set(childId, addUsage(this.#running.get(childId) ?? NO_USAGE, event));
    const refusal = this.refusal();
    if (refusal !== undefined) this.#stopping.abort(new RookeryError("subagent_limit", refusal));
  }

  settled(childId: string): void {
    this.#running.delete(childId);
  }

  /** Why no other may begin, if none may. Where no price is known, dollars cannot be counted. */
  refusal(): string | undefined {
    const { budgetTokens = Infinity, budgetUsd = Infinity } = this.#limits;
    const used = [...this.#running.values()].reduce<Usage>(
      (sum, one) => addUsage(sum, one),
      this.#recorded() ?? NO_USAGE,
    );
    const { inputTokens, outputTokens, costUsd = 0 } = used;
    const tokens = inputTokens + outputTokens;
    if (tokens >= budgetTokens) return metWords(`${tokens} tokens of the ${budgetTokens}`);
    return costUsd >= budgetUsd ? metWords(`$${costUsd.toFixed(2)} of the $${budgetUsd.toFixed(2)}`) : undefined;
  }
}

function metWords(used: string): string {
  return `the sub-agents of this session have used ${used} that they may: do the rest yourself, or ask the user to raise the budget`;
}
