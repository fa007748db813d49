/** The port of backends. A backend drives an agent, one turn at a time. */
import type { Amounts, SessionBudgets } from "./budget.ts";
import type { Budget } from "./budget-schema.ts";
import type { BegunChildren, Children, SubagentLimits } from "./children.ts";
import type { EffectHost } from "./effects.ts";
import type { EventBody, InputPart, PermissionPolicy, SessionEvent, TurnOutcome } from "./events.ts";
import type { McpServerSpec } from "./mcp.ts";
import type { AskOptions, PermissionDecision, PermissionRequest, Question, QuestionAnswer } from "./person-requests.ts";
import type { SessionTools } from "./session-tools.ts";
import type { QueuedInput, SessionState } from "./state.ts";
import type { ToolResult, ToolSpec } from "./tools.ts";

export type {
  AskOptions,
  CallPreview,
  PermissionDecision,
  PermissionRequest,
  Question,
  QuestionAnswer,
} from "./person-requests.ts";

/** A named configuration of an agent, after defaults. */
export interface AgentSpec {
  readonly name: string;
  /** The name of a built-in backend (`BackendKind`), or of a registered one. */
  readonly backend: string;
  readonly model: string | undefined;
  readonly permissions: PermissionPolicy | undefined;
  /** The texts of the prompt files, in order. */
  readonly prompts: readonly string[];
  readonly command: readonly string[] | undefined;
  /** The program's own mode: its permission, sandbox or approval mode. */
  readonly mode?: string | undefined;
  /** Limits for sub-agents of the built-in agent; false disables them. Default: `SUBAGENT_LIMITS`. */
  readonly subagents?: SubagentLimits | false | undefined;
  /** The budget of the built-in agent in one session. */
  readonly budget?: Budget | undefined;
}

export interface Backend {
  /**
   * Its name, as in `backend = "NAME"` of an agent. A program can register a backend of its own with
   * `Rookery.open({ backends })`. Its name has at most 50 letters, digits, `-`, `_` and `.`, and differs from those of
   * the built-in ones.
   */
  readonly kind: string;
  /** Rejects with a message that names what the agent lacks, such as a key or a program. */
  open(context: BackendContext): Promise<AgentConnection>;
}

export interface BackendContext {
  readonly sessionId: string;
  readonly agent: AgentSpec;
  readonly cwd: string;
  /** The program's own ID of this session from its last connection. */
  readonly nativeId: string | undefined;
  /** The program's own ID of the session that this one was forked from. The program forks it if it can. */
  readonly forkOf?: string | undefined;
  /** MCP servers of the process that opened the session. Not in the log, because they may contain secrets. */
  readonly mcpServers?: readonly McpServerSpec[] | undefined;
  /** The session's permission policy when it is opened; `TurnContext` has the current one. Default: `ask`. */
  readonly permissions?: PermissionPolicy | undefined;
  /** The tool choices and plugin states from the log. */
  readonly saved?: Pick<SessionState, "toolChoices" | "pluginStates"> | undefined;
  /** Set in the environment of every child process. */
  readonly marker: string;
  /** Undefined if the agent cannot start child sessions. */
  readonly children?: Children | undefined;
  /**
   * The environment for programs that a registered backend starts: with the marker and the variables of the agent, and
   * without the credentials that nobody passes to it. Undefined for built-in backends.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Opens the tools that Rookery has for the agent of a registered backend: those of MCP servers, of plugins and of the
   * session. Call it in `open`, at most once; the connection then needs no `tools`. Undefined for built-in backends.
   */
  readonly openTools?: (() => Promise<BackendTools>) | undefined;
}

/** Rookery's tools, as a registered backend uses them. */
export interface BackendTools {
  /** The tools that the agent can call now. It may change between two calls. */
  list(): readonly ToolSpec[];
  /** Instructions of plugins, MCP servers and the session, for the agent's prompt. Empty if there are none. */
  instructions(): string;
  /**
   * Calls a tool through the session's permission gate and records the call. A failure of the call is an outcome.
   * Rejects if the turn is cancelled.
   */
  call(name: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<ToolResult>;
}

export interface AgentConnection extends AsyncDisposable {
  /**
   * Resolves with the outcome of the turn. A failure of the agent is an outcome; a rejection means a defect or a lost
   * lease. With `LimitReached`, the turn is parked and runs again after the limit resets.
   */
  runTurn(turn: TurnContext): Promise<TurnOutcome | LimitReached>;
  readonly capabilities: Capabilities;
  /** Set in the environment of the agent's program and its descendants only. Undefined while no program runs. */
  readonly childMarker?: string | undefined;
  /** A number that changes whenever the agent sends something, even if nothing is recorded. */
  readonly activityCount?: number | undefined;
  /** True if it can resume a turn whose process died. If false, such a turn is ended when the session is opened. */
  readonly resumesTurns: boolean;
  /**
   * Called once, when the session is open, with the context for the time between turns. The connection keeps its
   * events until then.
   */
  attach?(context: BetweenTurnsContext): void;
  /**
   * Called when the session switches back to this agent: its copy of the log's data is outdated. If it rejects, the
   * connection stays as it was.
   */
  returned?(saved: Pick<SessionState, "toolChoices" | "pluginStates">): Promise<void>;
  /** Called when the conversation was replaced: the agent must forget the old one before the next turn. */
  forget?(): Promise<void>;
  /** The agent's tools from Rookery. Undefined if it takes none. Registered backends use `BackendContext.openTools`. */
  readonly tools?: SessionTools | undefined;
  /** The commands that the agent's program last reported. Undefined if it reports none. */
  readonly commands?: readonly OfferedCommand[] | undefined;
  /** The models that the agent's program offers. Undefined if it does not list them. */
  readonly models?: readonly string[] | undefined;
}

/** A command of the agent's program. A prompt that starts with a slash and its name runs it. */
export interface OfferedCommand {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  /** What can follow the name, such as `[file]`. */
  readonly hint?: string | undefined;
}

/** The features that a backend supports for its agent. */
export interface Capabilities {
  /** The program can resume its own session. If false, it gets the earlier conversation from the log as text. */
  readonly resume: boolean;
  /** The program can fork its own session. If false, the fork gets the earlier conversation from the log as text. */
  readonly fork: boolean;
  /** The agent asks for permission before it acts, and any interface can answer. */
  readonly permissions: boolean;
  /** The agent can ask the user other questions. */
  readonly questions: boolean;
  /** The agent accepts MCP servers, including Rookery's. */
  readonly mcp: boolean;
  readonly models: boolean;
  readonly modes: boolean;
  /** A turn can be cancelled without stopping the program. */
  readonly interrupt: boolean;
  readonly usage: boolean;
  /** The program itself reports the cost of a turn. */
  readonly cost: boolean;
  /** The program can continue its last turn without a prompt. Default: false. */
  readonly resumeTurn?: boolean;
}

export const ALL_CAPABILITIES: Capabilities = {
  resume: true,
  fork: true,
  permissions: true,
  questions: true,
  mcp: true,
  models: true,
  modes: true,
  interrupt: true,
  usage: true,
  cost: true,
};

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

/** The agent's account has reached a usage limit. */
export interface LimitReached {
  readonly status: "limited";
  readonly message: string;
  /** When the limit resets, in ISO 8601. Undefined if unknown. */
  readonly resetsAt?: string | undefined;
}

/** Lets an agent connection record events and ask questions between turns. */
export interface BetweenTurnsContext {
  /** Never throws: the next turn reports events that cannot be written. */
  record(...bodies: EventBody[]): void;
  /**
   * Resolves with a person's answer, or with `decline` if nobody can be asked. Rejects when the signal fires or the
   * session is released.
   */
  ask(question: Question, options?: AskOptions): Promise<QuestionAnswer>;
  permit(request: PermissionRequest, options?: Pick<AskOptions, "signal">): Promise<PermissionDecision>;
  readonly attended: boolean;
  /** Stores bytes beside the log and resolves with their hash. */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** Resolves with undefined if the bytes do not exist. */
  getBlob(hash: string): Promise<Uint8Array | undefined>;
}

export interface TurnContext {
  readonly turnId: string;
  /** True if the turn was parked and continues, so the agent may know the input already. */
  readonly continued?: boolean | undefined;
  /**
   * The permission policy at the start of the turn, for programs that need it in advance. The permission gate uses
   * the current one.
   */
  readonly permissions?: PermissionPolicy | undefined;
  /** Empty if the agent continues its last turn without a prompt: see `Capabilities.resumeTurn`. */
  readonly input: readonly InputPart[];
  /** Fires when the turn is cancelled. */
  readonly signal: AbortSignal;
  readonly log: TurnLog;
  readonly effects: EffectHost;
  /** Steering inputs for the next step of this turn, oldest first, as far as this process has read the log. */
  readonly steering?: (() => readonly QueuedInput[]) | undefined;
  /** The state of child sessions from the log. */
  readonly subagents?: (() => BegunChildren) | undefined;
  /** Resolves with the work. Until it settles, the turn does not count as stalled, because something else watches it. */
  pauseStallCheck?<T>(work: Promise<T>): Promise<T>;
  /** The amounts used so far, as far as they are committed, and the budgets. */
  readonly spent?: (() => Spent) | undefined;
  /** The committed events of the session, including this turn, oldest first. */
  history(): AsyncIterable<SessionEvent>;
  /** Resolves with a decision: at once by policy, or after a person has answered. Rejects when a signal fires. */
  permit(request: PermissionRequest, options?: Pick<AskOptions, "signal">): Promise<PermissionDecision>;
  /** Resolves with a person's answer, or with `decline` if nobody can be asked. Rejects when the signal fires. */
  ask(question: Question, options?: AskOptions): Promise<QuestionAnswer>;
  /** The bytes of an input part. Resolves with undefined if they do not exist. */
  blob(hash: string): Promise<Uint8Array | undefined>;
  /** Stores bytes beside the log and resolves with their hash. */
  putBlob(bytes: Uint8Array): Promise<string>;
  /**
   * The part of the conversation that the agent of a registered backend does not know, as a text to put before the
   * input: all of it, or what another agent did in between. Resolves with undefined if it knows everything. Set
   * `resumed` if the agent has resumed or forked its own session. Undefined for built-in backends.
   */
  readonly missedConversation?: ((options?: { readonly resumed?: boolean }) => Promise<string | undefined>) | undefined;
}

export interface Spent {
  readonly session: Amounts;
  /** Amounts used by the current agent in this session. */
  readonly agent: Amounts;
  readonly budgets: SessionBudgets;
  /** The task that the session belongs to. */
  readonly task?: string | undefined;
}

/** Records events of a turn, in order. Deltas of one message that are committed together are merged. */
export interface TurnLog {
  /** Records events without waiting. Throws the failure if the log is broken. */
  record(...bodies: EventBody[]): void;
  /** Resolves when the buffer has room. Call it between records. */
  ready(): Promise<void>;
  /** Resolves when all recorded events are durable. */
  commit(): Promise<void>;
  /** The `seq` of the last durable event. */
  readonly head?: number | undefined;
}
