/** Counts what the sub-agents of a session use while they run, and stops them when their budget is used up. */
import {
  addUsage,
  NO_USAGE,
  RookeryError,
  type SessionEvent,
  type SubagentLimits,
  type Usage,
} from "../../domain/index.ts";

export class SubagentBudget {
  readonly #limits: SubagentLimits;
  readonly #recorded: () => Usage | undefined;
  readonly #running = new Map<string, Usage>();
  readonly #stopping = new AbortController();

  /** `recorded` returns the usage of children that is already in the log. */
  constructor(limits: SubagentLimits, recorded: () => Usage | undefined) {
    this.#limits = limits;
    this.#recorded = recorded;
  }

  /** Fires when the budget is used up. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get isUsedUp(): boolean {
    return this.signal.aborted;
  }

  /** Call for every new event in a child's log. */
  count(childId: string, event: SessionEvent): void {
    if (event.type !== "usage.reported") return;
    this.#running.set(childId, addUsage(this.#running.get(childId) ?? NO_USAGE, event));
    this.#stopIfUsedUp();
  }

  /** Call when the usage of a child is in the log. A child can end before its last events are counted. */
  removeChild(childId: string): void {
    this.#running.delete(childId);
    this.#stopIfUsedUp();
  }

  /**
   * Returns why no further child may start, or undefined. A budget in dollars has no effect if the price is unknown.
   */
  refusal(): string | undefined {
    const { budgetTokens = Infinity, budgetUsd = Infinity } = this.#limits;
    const used = [...this.#running.values()].reduce<Usage>(
      (sum, one) => addUsage(sum, one),
      this.#recorded() ?? NO_USAGE,
    );
    const { inputTokens, outputTokens, costUsd = 0 } = used;
    const tokens = inputTokens + outputTokens;
    if (tokens >= budgetTokens) return formatBudgetReached(`${tokens} tokens of the ${budgetTokens}`);
    return costUsd >= budgetUsd
      ? formatBudgetReached(`$${costUsd.toFixed(2)} of the $${budgetUsd.toFixed(2)}`)
      : undefined;
  }

  #stopIfUsedUp(): void {
    const refusal = this.refusal();
    if (refusal !== undefined) this.#stopping.abort(new RookeryError("subagent_limit", refusal));
  }
}

function formatBudgetReached(used: string): string {
  return `the sub-agents of this session have used ${used} that they may use: do the rest yourself, or ask the user to raise the budget`;
}
