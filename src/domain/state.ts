/**
 * The current state of a session. It is a fold over the session's events (`state-fold.ts`), and nothing else may
 * change it.
 */
import type { AgentDefinition } from "./agent-table.ts";
import type { SessionStatus } from "./enums.ts";
import { NO_BUDGETS, type SessionBudgets } from "./budget.ts";
import type { CommandGrant } from "./command-prefix.ts";
import type { EventOf, InputPart, PermissionPolicy, ToolKind, TurnOutcome } from "./events.ts";
import { NO_USAGE, type Usage } from "./usage.ts";
import { NO_WORK, type WorkState } from "./work.ts";

export interface SessionState {
  readonly id: string;
  readonly head: number;
  readonly agent: string;
  readonly backend: string;
  readonly model: string | undefined;
  readonly cwd: string;
  readonly title: string | undefined;
  readonly parent: string | undefined;
  /** The depth below the session that a person started; 0 for that session or a fork. */
  readonly depth: number;
  readonly task: string | undefined;
  /** The program's own ID of this session, if it has sessions. */
  readonly nativeId: string | undefined;
  /** The program's own ID of the session that this one was forked from, until the program has forked it. */
  readonly forkOf: string | undefined;
  readonly permissions: PermissionPolicy;
  /** The settings of each agent when it last drove the session, by agent name. */
  readonly agents: Readonly<
    Record<string, { readonly backend: string; readonly model: string | undefined; readonly modelChosen?: boolean }>
  >;
  /** The agents that a program defined for this session, by name. They hide configured agents of the same name. */
  readonly definitions: Readonly<Record<string, AgentDefinition>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly closed: boolean;
  readonly copying: boolean;
  readonly turns: number;
  readonly turn: RunningTurn | undefined;
  readonly lastOutcome: TurnOutcome | undefined;
  /** The turn of `lastOutcome`. */
  readonly lastTurnId: string | undefined;
  readonly queue: readonly QueuedInput[];
  /**
   * Requests of the running turn, answered or not, until it ends or is parked; and open requests from between turns.
   */
  readonly requests: readonly Request[];
  readonly requestCount: number;
  /** Tools that a person enabled or disabled, by name. */
  readonly toolChoices: Readonly<Record<string, boolean>>;
  /** Saved states of plugins, by plugin ID. */
  readonly pluginStates: Readonly<Record<string, { readonly version: string; readonly state: unknown }>>;
  /** Tools that a person allowed for the rest of the session. */
  readonly grants: readonly string[];
  /** Commands that a person allowed for the rest of the session, by their first words. */
  readonly commandGrants: readonly CommandGrant[];
  /** Running tools of the turn and from between turns. */
  readonly tools: readonly RunningTool[];
  /** Children that the running turn started, ended or not, until it ends. */
  readonly subagents: readonly Subagent[];
  readonly usage: Usage;
  /** The part of `usage` that children used. */
  readonly usageOfSubagents: Usage;
  /** The usage by agent name. */
  readonly usageByAgent: Readonly<Record<string, Usage>>;
  readonly budgets: SessionBudgets;
  readonly work: WorkState;
}

export interface RunningTurn {
  readonly id: string;
  readonly startedSeq: number;
  readonly startedAt: string;
  readonly input: readonly InputPart[];
  /** Until when the turn is parked. */
  readonly parkedUntil: string | undefined;
  /** How many times the turn was parked. */
  readonly parks: number;
  readonly usage: Usage;
  /** True if a person asked from another process to cancel it. */
  readonly cancelRequested: boolean;
}

export interface QueuedInput {
  readonly inputId: string;
  readonly input: readonly InputPart[];
  readonly deliver: "steer" | "follow_up";
}

export interface Request {
  readonly requestId: string;
  readonly turnId: string | undefined;
  readonly toolId: string | undefined;
  readonly tool: string | undefined;
  readonly title: string;
  readonly answer: EventOf<"permission.resolved"> | EventOf<"question.answered"> | undefined;
}

export interface RunningTool {
  readonly toolId: string;
  readonly turnId: string | undefined;
  readonly name: string;
  readonly kind: ToolKind;
}

/** A child session that the session's agent started. */
export interface Subagent {
  readonly childSessionId: string;
  readonly turnId: string | undefined;
  /** Undefined while the child runs. */
  readonly outcome: TurnOutcome | undefined;
}

export function emptyState(id: string): SessionState {
  return {
    id,
    head: 0,
    agent: "",
    backend: "",
    model: undefined,
    cwd: "",
    title: undefined,
    parent: undefined,
    depth: 0,
    task: undefined,
    nativeId: undefined,
    forkOf: undefined,
    permissions: "ask",
    agents: {},
    definitions: {},
    createdAt: "",
    updatedAt: "",
    closed: false,
    copying: false,
    turns: 0,
    turn: undefined,
    lastOutcome: undefined,
    lastTurnId: undefined,
    queue: [],
    requests: [],
    requestCount: 0,
    toolChoices: {},
    pluginStates: {},
    grants: [],
    commandGrants: [],
    tools: [],
    subagents: [],
    usage: NO_USAGE,
    usageOfSubagents: NO_USAGE,
    usageByAgent: {},
    budgets: NO_BUDGETS,
    work: NO_WORK,
  };
}

export function sessionStatus(state: SessionState): SessionStatus {
  if (state.copying) return "copying";
  if (state.closed) return "closed";
  if (state.turn === undefined) return "idle";
  if (state.turn.parkedUntil !== undefined) return "parked";
  return state.requests.some(isWaitedForByTurn) ? "waiting" : "running";
}

/** True if it started between turns. */
export function isOfNoTurn({ turnId }: Request | RunningTool): boolean {
  return turnId === undefined;
}

/** True if the turn waits for an answer to it. */
export function isWaitedForByTurn(request: Request): boolean {
  return request.answer === undefined && !isOfNoTurn(request);
}
