/** The port of child sessions, which the agent of a session starts and waits for. */
import type { EventBody, PermissionPolicy, SessionEvent, TurnOutcome } from "./events.ts";
import type { AskOptions, PermissionDecision, PermissionRequest, Question, QuestionAnswer } from "./person-requests.ts";
import type { Subagent } from "./state.ts";
import { NO_USAGE, type Usage } from "./usage.ts";

export interface Children {
  /** The depth of the parent session. */
  readonly depth: number;
  /** The agents that can run as children. */
  readonly agents: readonly ChildAgent[];
  /**
   * Starts the child, resumes one that a dead process left, or returns its earlier result. A failure of the child is
   * an outcome, and so is `cancelled` when the signal fires; it resolves when the child has stopped. Rejects only if
   * the watcher does.
   */
  run(child: Child, options: { readonly watcher: ChildWatcher; readonly signal: AbortSignal }): Promise<ChildEnd>;
  /** Ends a child that a dead process left, without resuming it. */
  settle(childId: Child["id"]): Promise<ChildEnd>;
}

export interface ChildAgent {
  readonly name: string;
  readonly backend: string;
  readonly model: string | undefined;
}

export interface Child {
  /** The ID of its session. The same after a crash, so that the child is found again. */
  readonly id: string;
  readonly prompt: string;
  readonly title: string;
  /** Default: the parent's agent. */
  readonly agent: string | undefined;
  /** The parent's permission policy. */
  readonly permissions: PermissionPolicy | undefined;
  /** The outcome in the parent's log. If set, the child does not run anymore. */
  readonly ended: TurnOutcome | undefined;
}

/** Observes a child, and asks people on its behalf. */
export interface ChildWatcher {
  /** Called with each event of the child while it is driven. Must not throw. */
  saw(event: SessionEvent): void;
  permit(request: PermissionRequest, options: Pick<AskOptions, "signal">): Promise<PermissionDecision>;
  ask(question: Question, options: Pick<AskOptions, "signal">): Promise<QuestionAnswer>;
}

export interface ChildEnd {
  readonly outcome: TurnOutcome;
  /** The child's last message; empty if there is none. */
  readonly text: string;
  /** Undefined if no usage was reported. */
  readonly usage: Usage | undefined;
}

/** The children that the running turn started, and the usage of all children so far. */
export interface BegunChildren {
  readonly ofTurn: readonly Subagent[];
  readonly usage: Usage;
}

export interface SubagentLimits {
  /** The maximum depth of nested children. With 1, children have none. */
  readonly maxDepth: number;
  /** The maximum number of children in one call. */
  readonly maxWidth: number;
  /** The maximum number of running children of one session. */
  readonly maxRunning: number;
  /** The budget of all children of one session, including their own children. */
  readonly budgetUsd: number | undefined;
  readonly budgetTokens: number | undefined;
}

export const SUBAGENT_LIMITS: SubagentLimits = {
  maxDepth: 2,
  maxWidth: 8,
  maxRunning: 4,
  budgetUsd: undefined,
  budgetTokens: undefined,
};

/** The events that the parent records when a child has ended. The child's usage counts for the parent too. */
export function childEnded(childSessionId: string, outcome: TurnOutcome, usage: Usage | undefined): EventBody[] {
  const ended: EventBody = { type: "subagent.ended", childSessionId, outcome };
  if (usage === undefined || usage === NO_USAGE) return [ended];
  const costBy = usage.costBy === "mixed" ? "computed" : usage.costBy;
  return [{ type: "usage.reported", ...usage, costBy, childSessionId }, ended];
}
