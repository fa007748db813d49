/** The parts of the built-in agent that its effects use. */
import type { Budget } from "../domain/index.ts";
import type { Model } from "../providers/index.ts";
import type { AgentTools, ToolSnapshot } from "../tools/index.ts";
import type { RetryLimits } from "./retry.ts";
import type { ModelPrice } from "./usage-event.ts";

export interface BuiltInAgentOptions {
  readonly sessionId: string;
  readonly cwd: string;
  readonly model: Model;
  /** The system prompt. */
  readonly system: string;
  readonly tools: Pick<AgentTools, "snapshot">;
  readonly price: ModelPrice | undefined;
  /** Set in the environment of every child process, so that it can be found and stopped. */
  readonly marker: string;
  /** Default: `RETRY_LIMITS`. */
  readonly retry?: RetryLimits | undefined;
  /** The configured name of the agent. */
  readonly name?: string | undefined;
  /** What the agent may use in this session. Default: no limit. */
  readonly budget?: Budget | undefined;
  /** The key under which the provider caches prompts. Default: the session ID. */
  readonly cacheKey?: string | undefined;
  /** Timeouts of tools in seconds, by tool name or by prefix with a `*`. */
  readonly timeouts?: Readonly<Record<string, number>> | undefined;
}

/** The agent with its state during one step of a turn. */
export interface TurnAgent extends BuiltInAgentOptions {
  readonly retry: RetryLimits;
  /** The tools of the current step. */
  readonly snapshot: ToolSnapshot;
  /** The names of all tools that earlier steps of this turn had. After a crash only those of the steps since then. */
  readonly offeredTools: Set<string>;
  /** Budgets that do not apply for the rest of this turn, by `raisedKey`. */
  readonly liftedBudgets: Set<string>;
  /** The ids of all calls so far. */
  readonly callIds: Set<string>;
  /** Called for every part of a model's stream. */
  readonly onModelOutput: () => void;
}
