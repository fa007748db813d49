/** The interface between a program's backend and `program-connection.ts`, which implements everything that programs share. */
import type {
  OfferedCommand,
  AskOptions,
  BackendContext,
  BackendKind,
  Capabilities,
  EventOf,
  LimitReached,
  PermissionDecision,
  PermissionPolicy,
  RemoteServerSpec,
  StdioServerSpec,
  TurnContext,
  TurnOutcome,
} from "../../domain/index.ts";
import type { AgentProcess } from "../../programs/index.ts";
import type { ReportedCall } from "../offered-tools.ts";
import type { PromptPart } from "./prompt.ts";
import type { TurnRecorder, ToolStart } from "./turn-recorder.ts";

/** `Server` is the kind of MCP servers that the program accepts. */
export interface AgentProgram<Server = ReachableServer> {
  readonly kind: BackendKind;
  readonly capabilities: Capabilities;
  /** Set if it continues its last turn only when it starts, not later. */
  readonly resumesTurnAtStart?: boolean;
  /**
   * Starts the program, or prepares to start one per turn. Rejects with a `RookeryError` if it is missing, incompatible or
   * not logged in, and with `SessionLost` if it no longer has the session.
   */
  start(start: ProgramStart<Server>): Promise<LiveProgram>;
  /** Converts an error of `start` or `run`. Default: `failed`, with the code and the message of the error. */
  toFailureOutcome?(error: unknown): TurnOutcome | LimitReached;
}

export interface ProgramStart<Server = ReachableServer> {
  readonly context: BackendContext;
  /** The complete environment of the program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program's own session to resume or fork. */
  readonly native: NativeSession | undefined;
  /** The program continues its last turn by itself when it has started. */
  readonly resumesTurn?: boolean | undefined;
  /** The permission policy. Under `all`, a backend may tell the program not to ask. */
  readonly permissions: PermissionPolicy;
  /** MCP servers for the program, in addition to its own. Rookery's own is named `rookery`. */
  readonly servers: readonly Server[];
  /** Returns the running turn, if any, for output and requests that the program starts on its own. */
  readonly turn: () => ProgramTurn | undefined;
  /** Cancels the start. Give up quickly: the next start waits for this one. */
  readonly signal: AbortSignal;
}

export interface NativeSession {
  readonly id: string;
  readonly as: "resume" | "fork";
}

export type ReachableServer = StdioServerSpec | RemoteServerSpec;

/** How the program got its session, as `how` of `agent.connected` records it. */
export type NativeSessionOrigin = Exclude<EventOf<"agent.connected">["how"], "handed_over" | "adopted">;

export interface LiveProgram extends AsyncDisposable {
  /** The process that serves all turns. A backend with one process per turn calls `ProgramTurn.started` instead. */
  readonly process?: AgentProcess | undefined;
  readonly command?: readonly string[] | undefined;
  readonly how: NativeSessionOrigin;
  /** Why it has a new session instead of the one to resume, for a program that starts a new one without `SessionLost`. */
  readonly lost?: string | undefined;
  /** Undefined if not known yet; `ProgramTurn.connected` reports it later. */
  readonly nativeId?: string | undefined;
  readonly version?: string | undefined;
  /** Set if they differ from those of the program. */
  readonly capabilities?: Capabilities | undefined;
  /** The commands that it last reported. */
  readonly commands?: readonly OfferedCommand[] | undefined;
  /** The models that it offers. */
  readonly models?: readonly string[] | undefined;
  /** Whether it was started for this policy. If not, the turn starts another one. Default: it fits every policy. */
  fitsPolicy?(permissions: PermissionPolicy): boolean;
  /** Whether a prompt may contain an attachment of this type. Default: images only. */
  acceptsMedia?(mediaType: string): boolean;
  /** Whether it has exited or cannot be used any longer. The next turn then starts another one. */
  readonly hasEnded: boolean;
  /**
   * Runs a turn and returns its outcome. Interrupts the program when `turn.signal` fires; the caller disposes of a program
   * that does not stop in time. Rejects with `SessionLost` as `start` does.
   */
  run(turn: ProgramTurn): Promise<TurnOutcome | LimitReached>;
  /** Like `TurnRecorder.takeCall`, for a backend that records calls without `ProgramTurn.recorder`. */
  takeCall?(isWanted: (call: ReportedCall) => boolean): string | undefined;
  /** Ends the program in its own way, then with EOF, SIGTERM and SIGKILL. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** One turn, as the backend of a program sees it. */
export interface ProgramTurn {
  /** The session's turn, for a backend that records and asks without `recorder` and `permit`. */
  readonly context: TurnContext;
  readonly signal: AbortSignal;
  /**
   * Instructions and the earlier conversation if the program lacks them, then the user's input. Empty if the program
   * continues its last turn.
   */
  readonly prompt: readonly PromptPart[];
  readonly recorder: TurnRecorder;
  readonly ask: TurnContext["ask"];
  /** Call now and then during long output, and do not read from the program until it resolves. */
  ready(): Promise<void>;
  /** Records a process that was started for this turn. Do not use the process before this resolves. */
  started(process: AgentProcess, command: readonly string[]): Promise<void>;
  /** Records the program's session id. */
  connected(native: { readonly nativeId: string; readonly version?: string | undefined }): void;
  /**
   * Asks for permission. Records the call if it is not recorded yet, and its end if it is refused. Calls of Rookery tools
   * are allowed here, because the tool server decides about them. Rejects when the turn is cancelled, or when
   * `options.signal` fires because the program withdrew the request.
   */
  permit(call: ToolStart, options?: Pick<AskOptions, "signal">): Promise<PermissionDecision>;
  /** Returns the Rookery tool that the call means, if any. `recorder` and `permit` use it already. */
  findOfferedTool(call: ReportedCall): string | undefined;
  /** Whether the log has the call already, because it reached the tool server first. True once per call. */
  isKnownCall(call: ReportedCall): boolean;
}

/** The program no longer has the session that it should resume. */
export class SessionLost extends Error {
  override readonly name = "SessionLost";
}
