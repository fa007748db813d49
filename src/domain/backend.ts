/** The port of backends: a way to drive an agent, one turn at a time. */
import type { Amounts, Budget, SessionBudgets } from "./budget.ts";
import type { BegunChildren, Children, SubagentLimits } from "./children.ts";
import type { EffectHost } from "./effects.ts";
import type { EventBody, InputPart, PermissionPolicy, SessionEvent, ToolKind, TurnOutcome } from "./events.ts";
import type { McpServerSpec } from "./mcp.ts";
import type { SessionTools } from "./session-tools.ts";
import type { QueuedInput, SessionState } from "./state.ts";

export const BACKEND_KINDS = ["api", "claude-code", "codex", "gemini-cli", "opencode", "acp", "command"] as const;
export type BackendKind = (typeof BACKEND_KINDS)[number];

/** A named configuration of an agent, after defaults. */
export interface AgentSpec {
  readonly name: string;
  readonly backend: BackendKind;
  readonly model: string | undefined;
  readonly permissions: PermissionPolicy | undefined;
  /** Texts of the prompt files, in order. */
  readonly prompts: readonly string[];
  readonly command: readonly string[] | undefined;
  /** What the agent's program calls a way to work: its permission, sandbox or approval mode. */
  readonly mode?: string | undefined;
  /** Of the built-in agent; false: it has none. The usual ones where they are left out. */
  readonly subagents?: SubagentLimits | false | undefined;
  /** Of the built-in agent, in one session. */
  readonly budget?: Budget | undefined;
}

export interface Backend {
  readonly kind: BackendKind;
  /** Rejects in words where something the agent needs is missing (a key, a program). */
  open(context: BackendContext): Promise<AgentConnection>;
}

export interface BackendContext {
  readonly sessionId: string;
  readonly agent: AgentSpec;
  readonly cwd: string;
  /** What the agent's program called this session when it was last driven. */
  readonly nativeId: string | undefined;
  /** What the program called the session that this one was forked from, and that it is to fork itself if it can. */
  readonly forkOf?: string | undefined;
  /** What whoever opened the session brings for it. Not in the log: it may hold secrets. */
  readonly mcpServers?: readonly McpServerSpec[] | undefined;
  /** The session's policy when it is opened; `TurnContext` has the one that holds. Where it is not said, it is to ask. */
  readonly permissions?: PermissionPolicy | undefined;
  /** What the log says of the session's tools and plugins. */
  readonly saved?: Pick<SessionState, "toolChoices" | "pluginStates"> | undefined;
  /** Put in the environment of every child. */
  readonly marker: string;
  /** Left out where an agent cannot begin sessions of its own. */
  readonly children?: Children | undefined;
}

export interface AgentConnection extends AsyncDisposable {
  /**
   * Resolves with the turn's outcome. An agent's failure is an outcome; a rejection is a defect or a lost lease. Where it
   * is a limit that passes, the turn is parked, and run again then.
   */
  runTurn(turn: TurnContext): Promise<TurnOutcome | LimitReached>;
  readonly capabilities: Capabilities;
  /** In the environment of the agent's program and of all that it starts, and of nothing else; undefined while none runs. */
  readonly childMarker?: string | undefined;
  /** Another number whenever something came from the agent, also what is not recorded: it is alive. */
  readonly heard?: number | undefined;
  /** Can it go on with a turn whose process died? If not, such a turn is ended when the session is opened. */
  readonly resumesTurns: boolean;
  /** Told once, when the session is there, what it may do between turns. What it has to say before that waits. */
  attach?(desk: BetweenTurnsContext): void;
  /**
   * Another agent drove the session, and this one goes on with it: what it has of the log is old. Rejects where it cannot,
   * and stays as it was then.
   */
  returned?(saved: Pick<SessionState, "toolChoices" | "pluginStates">): Promise<void>;
  /** The conversation was replaced: what the agent itself remembers of the old one is not to reach the next turn. */
  forget?(): Promise<void>;
  /** What the agent has of Rookery's tools; left out where it gets none. */
  readonly tools?: SessionTools | undefined;
}

/** What a backend can do with the agent that it drives. */
export interface Capabilities {
  /** The program goes on with its own session after its end; if not, it is told from the log what was said. */
  readonly resume: boolean;
  /** The program can fork its own session; if not, the fork is told from the log what was said. */
  readonly fork: boolean;
  /** It asks before it acts, and the answer may come from any door. */
  readonly permissions: boolean;
  /** It can ask the user something else. */
  readonly questions: boolean;
  /** It takes MCP servers, ours among them. */
  readonly mcp: boolean;
  readonly models: boolean;
  readonly modes: boolean;
  /** A turn can be stopped without ending the program. */
  readonly interrupt: boolean;
  readonly usage: boolean;
  /** The program itself says what a turn cost. */
  readonly cost: boolean;
}

export const NO_CAPABILITIES: Capabilities = {
  resume: false,
  fork: false,
  permissions: false,
  questions: false,
  mcp: false,
  models: false,
  modes: false,
  interrupt: false,
  usage: false,
  cost: false,
};

/** The account behind the agent may do no more for now. */
export interface LimitReached {
  readonly status: "limited";
  readonly message: string;
  /** ISO 8601, where it was said until when. */
  readonly resetsAt?: string | undefined;
}

/** A session's pen and ear outside of a turn: for what servers say and ask while no turn runs. */
export interface BetweenTurnsContext {
  /** Never throws: what cannot be written any more is told by the next turn. */
  record(...bodies: EventBody[]): void;
  /**
   * Waits for a person's answer; where nobody can be asked it is declined. Rejects when the signal fires, or the
   * session is let go.
   */
  ask(question: Question, options?: AskOptions): Promise<QuestionAnswer>;
  permit(request: PermissionRequest, options?: Pick<AskOptions, "signal">): Promise<PermissionDecision>;
  readonly attended: boolean;
  /** Keeps bytes beside the log and answers with what they are called there. */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** Undefined where they are gone. */
  getBlob(hash: string): Promise<Uint8Array | undefined>;
}

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** Resolves when what was asked has happened by itself: it counts as accepted then. */
  readonly completed?: Promise<void> | undefined;
}

export interface TurnContext {
  readonly turnId: string;
  /** It was parked and goes on: the agent may have heard the input already. */
  readonly continued?: boolean | undefined;
  /** The session's policy when the turn began: for a program that must be told before. The gate goes by the one of the moment. */
  readonly permissions?: PermissionPolicy | undefined;
  readonly input: readonly InputPart[];
  /** Fires when the turn is cancelled. */
  readonly signal: AbortSignal;
  readonly log: TurnLog;
  readonly effects: EffectHost;
  /** Inputs that wait for the next step of this turn, oldest first, as far as this process has heard of them. */
  readonly steering?: (() => readonly QueuedInput[]) | undefined;
  /** What the log says of children. */
  readonly subagents?: (() => BegunChildren) | undefined;
  /** The turn has not come to a stop while this goes on, however silent it is: it is watched elsewhere. */
  away?<T>(work: Promise<T>): Promise<T>;
  /** What was spent so far, as far as it is committed, and what may be. */
  readonly spent?: (() => Spent) | undefined;
  /** The session before and within this turn, oldest first, as far as it is committed. */
  history(): AsyncIterable<SessionEvent>;
  /** Waits for a decision: by policy at once, by a person as long as it takes. Rejects when a signal fires. */
  permit(request: PermissionRequest, options?: Pick<AskOptions, "signal">): Promise<PermissionDecision>;
  /** Waits for a person's answer; where nobody can be asked it is declined. Rejects when the signal fires. */
  ask(question: Question, options?: AskOptions): Promise<QuestionAnswer>;
  /** The bytes of an input part; undefined where they are gone. */
  blob(hash: string): Promise<Uint8Array | undefined>;
  /** Keeps bytes beside the log and answers with what they are called there. */
  putBlob(bytes: Uint8Array): Promise<string>;
}

export interface Spent {
  readonly session: Amounts;
  /** By the agent that runs the turn, in this session. */
  readonly agent: Amounts;
  readonly budgets: SessionBudgets;
  /** The task that the session is of. */
  readonly task?: string | undefined;
}

/** The turn's pen. Everything recorded is in order; deltas of one message that are committed together are merged. */
export interface TurnLog {
  /** Never waits. Throws what broke the log, if it is broken. */
  record(...bodies: EventBody[]): void;
  /** Resolves at once while the buffer has room, and otherwise when it has again: call it between records. */
  ready(): Promise<void>;
  /** Resolves when all that was recorded so far is durable. */
  commit(): Promise<void>;
  /** The `seq` of the last event that is durable. */
  readonly head?: number | undefined;
}

export interface PermissionRequest {
  readonly toolId: string;
  readonly tool: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly readOnly: boolean;
  readonly input: unknown;
  /** Who asks, if not the agent itself. */
  readonly from?: string | undefined;
}

export interface Question {
  readonly message: string;
  /** Who asks, if not the agent itself. */
  readonly from?: string | undefined;
  /** JSON Schema of the answer's content. */
  readonly schema?: unknown;
  /** To be opened by the person instead. */
  readonly url?: string | undefined;
}

export interface QuestionAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: unknown;
}

export type PermissionDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly outcome: "denied" | "cancelled"; readonly message: string };
