/** What a session is now. It is a fold over the session's events (`state-fold.ts`), and nothing else may change it. */
import type { SessionStatus } from "./enums.ts";
import { NO_BUDGETS, type SessionBudgets } from "./budget.ts";
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
  /** How deep it is below the session that a person began; 0 is that one, or a fork. */
  readonly depth: number;
  readonly task: string | undefined;
  /** What the agent's program calls this session, if it has sessions of its own. */
  readonly nativeId: string | undefined;
  /** What the program called the session that this one was forked from, until it has one for this. */
  readonly forkOf: string | undefined;
  readonly permissions: PermissionPolicy;
  /** What each agent had when it last drove the session, by their names. */
  readonly agents: Readonly<
    Record<string, { readonly backend: string; readonly model: string | undefined; readonly modelChosen?: boolean }>
  >;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly closed: boolean;
  readonly copying: boolean;
  readonly turns: number;
  readonly turn: RunningTurn | undefined;
  readonly lastOutcome: TurnOutcome | undefined;
  /** Whose outcome that is. */
  readonly lastTurnId: string | undefined;
  readonly queue: readonly QueuedInput[];
  /** Requests of the running turn, answered or not, until it ends or is parked; and those that no turn made, until they are answered. */
  readonly requests: readonly Request[];
  readonly requestCount: number;
  /** Which tools a person wants or does not, by name. */
  readonly toolChoices: Readonly<Record<string, boolean>>;
  /** What plugins want to find again, by their ids. */
  readonly pluginStates: Readonly<Record<string, { readonly version: string; readonly state: unknown }>>;
  /** Tools that a person allowed for the rest of the session. */
  readonly grants: readonly string[];
  /** Those of the running turn, until it ends; and those that no turn began. */
  readonly tools: readonly RunningTool[];
  /** Those that the running turn began, ended or not, until it ends. */
  readonly subagents: readonly Subagent[];
  readonly usage: Usage;
  /** The part of it that children have used. */
  readonly usageOfSubagents: Usage;
  /** The same by the names of the agents. */
  readonly usageByAgent: Readonly<Record<string, Usage>>;
  readonly budgets: SessionBudgets;
  readonly work: WorkState;
}

export interface RunningTurn {
  readonly id: string;
  readonly startedSeq: number;
  readonly startedAt: string;
  readonly input: readonly InputPart[];
  /** Waits until then. */
  readonly parkedUntil: string | undefined;
  /** How often it was parked. */
  readonly parks: number;
  readonly usage: Usage;
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

/** A child that the session's agent began. */
export interface Subagent {
  readonly childSessionId: string;
  readonly turnId: string | undefined;
  /** Undefined while it runs. */
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

/** Was it made or begun between turns? */
export function isOfNoTurn({ turnId }: Request | RunningTool): boolean {
  return turnId === undefined;
}

/** Does its turn wait for an answer to it? */
export function isWaitedForByTurn(request: Request): boolean {
  return request.answer === undefined && !isOfNoTurn(request);
}
