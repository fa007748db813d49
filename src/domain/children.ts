/** The port of children: sessions that the agent of a session begins, and waits for. */
import type {
  AskOptions,
  BackendKind,
  PermissionDecision,
  PermissionRequest,
  Question,
  QuestionAnswer,
} from "./backend.ts";
import type { EventBody, PermissionPolicy, SessionEvent, TurnOutcome } from "./events.ts";
import type { Subagent } from "./state.ts";
import { NO_USAGE, type Usage } from "./usage.ts";

export interface Children {
  /** Of the session whose children they are. */
  readonly depth: number;
  /** Who can be one. */
  readonly agents: readonly ChildAgent[];
  /**
   * Begins the child, goes on with the one that a dead process left, or gives back what it came to. What the child does
   * wrong is an outcome, and so is `cancelled` when the signal fires: it resolves once the child is at rest. Rejects
   * only where the watcher does.
   */
  run(child: Child, watcher: ChildWatcher, signal: AbortSignal): Promise<ChildEnd>;
  /** Ends one that a dead process left, without going on with it. */
  settle(childId: Child["id"]): Promise<ChildEnd>;
}

export interface ChildAgent {
  readonly name: string;
  readonly backend: BackendKind;
  readonly model: string | undefined;
}

export interface Child {
  /** Of its session. Whoever asks for the same again after a crash gives the same. */
  readonly id: string;
  readonly prompt: string;
  readonly title: string;
  /** The parent's own where it is left out. */
  readonly agent: string | undefined;
  /** The parent's policy. */
  readonly permissions: PermissionPolicy | undefined;
  /** What the parent's log says that it came to: then it is not driven any more. */
  readonly ended: TurnOutcome | undefined;
}

/** Whoever stands between a child and the people who can be asked. */
export interface ChildWatcher {
  /** Each event of the child from when it is driven on. Must not throw. */
  saw(event: SessionEvent): void;
  permit(request: PermissionRequest, options: Pick<AskOptions, "signal">): Promise<PermissionDecision>;
  ask(question: Question, options: Pick<AskOptions, "signal">): Promise<QuestionAnswer>;
}

export interface ChildEnd {
  readonly outcome: TurnOutcome;
  /** What it said last; empty where it said nothing. */
  readonly text: string;
  /** Undefined where nothing was reported. */
  readonly usage: Usage | undefined;
}

/** What the log says of the children that the running turn began, and of all that were there before. */
export interface BegunChildren {
  readonly ofTurn: readonly Subagent[];
  readonly usage: Usage;
}

export interface SubagentLimits {
  /** How deep children of children go; 1: they have none. */
  readonly maxDepth: number;
  /** In one call. */
  readonly maxWidth: number;
  /** Of one session, at once. */
  readonly maxRunning: number;
  /** What all children of one session may use, and theirs. */
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

/** What the parent records when a child has ended: what the child used counts for the parent too. */
export function childEnded(childSessionId: string, outcome: TurnOutcome, usage: Usage | undefined): EventBody[] {
  const ended: EventBody = { type: "subagent.ended", childSessionId, outcome };
  if (usage === undefined || usage === NO_USAGE) return [ended];
  const costBy = usage.costBy === "mixed" ? "computed" : usage.costBy;
  return [{ type: "usage.reported", ...usage, costBy, childSessionId }, ended];
}
