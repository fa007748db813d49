/** Connection to a program with its own conversation. Starts the program when needed, and again after it exits. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  isRookeryError,
  messageOf,
  RookeryError,
  type OfferedCommand,
  type AgentConnection,
  type BackendContext,
  type Capabilities,
  type EventOf,
  type LimitReached,
  type BetweenTurnsContext,
  type SessionTools,
  type TurnContext,
  type TurnOutcome,
} from "../../domain/index.ts";
import { raceAbort, type EnvironmentVariables } from "../../stdx/index.ts";
import type { Equipment } from "../equipment.ts";
import { ConversationMemory } from "../memory.ts";
import { findOfferedTool, type ReportedCall } from "../offered-tools.ts";
import { SessionLost, type AgentProgram, type LiveProgram, type NativeSession } from "./agent-program.ts";
import { isUsableNativeId } from "./native-id.ts";
import { ProcessRecorder } from "./process-recorder.ts";
import { hasToolsToOffer, type ProgramServers } from "./program-servers.ts";
import { promptParts, toTextPart, type PromptPart } from "./prompt.ts";
import { RunningProgramTurn } from "./turn.ts";

/** Time a program has to stop after a cancel. Then its process is ended, and the next turn starts another one. */
const CANCEL_MS = 5_000;
/** How often one turn may start over because the program lost the session or cannot fork it. */
const MAX_LOST_SESSIONS = 2;

export interface ProgramConnectionOptions<Server> {
  readonly program: AgentProgram<Server>;
  readonly context: BackendContext;
  /** The complete environment of the program; nothing else is inherited. */
  readonly env: EnvironmentVariables;
  /** Creates the list of MCP servers for the program. The connection owns it. */
  readonly createServers: (equipment: Equipment) => ProgramServers<Server>;
}

export class ProgramConnection<Server> implements AgentConnection {
  /** False: the turn runs inside the program's process and dies with it. */
  readonly resumesTurns = false;
  readonly #program: AgentProgram<Server>;
  readonly #context: BackendContext;
  readonly #env: EnvironmentVariables;
  readonly #equipment: Equipment;
  readonly #servers: ProgramServers<Server>;
  readonly #processes: ProcessRecorder;
  readonly #memory: ConversationMemory;
  #native: NativeSession | undefined;
  #live: LiveProgram | undefined;
  #turn: RunningProgramTurn | undefined;
  /** Whether the log has `process.started` for the running program. */
  #startRecorded = false;
  /** How the program obtained its conversation. */
  #how: EventOf<"agent.connected">["how"] = "new";
  /** The last start, finished or not. The next one waits for it. */
  #starting: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor({ program, context, env, createServers }: ProgramConnectionOptions<Server>, equipment: Equipment) {
    this.#program = program;
    this.#context = context;
    this.#env = env;
    this.#equipment = equipment;
    this.#servers = createServers(equipment);
    this.#processes = new ProcessRecorder(context.marker);
    this.#native = toNativeSession(context);
    this.#memory = new ConversationMemory(context.agent.name);
  }

  /** Starts the program, so that problems appear when the session opens, not in its first turn. */
  async open(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      if (error instanceof SessionLost) return; // the first turn reports it
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  get capabilities(): Capabilities {
    return this.#live?.capabilities ?? this.#program.capabilities;
  }

  get commands(): readonly OfferedCommand[] | undefined {
    return this.#live?.commands;
  }

  get models(): readonly string[] | undefined {
    return this.#live?.models;
  }

  get childMarker(): string | undefined {
    return this.#processes.current?.marker;
  }

  get activityCount(): number | undefined {
    return this.#processes.current?.transport.received?.();
  }

  get tools(): SessionTools {
    return this.#equipment.sessionTools;
  }

  attach(betweenTurns: BetweenTurnsContext): void {
    this.#equipment.attach(betweenTurns);
  }

  /** The program missed the turns in between; the next prompt includes them once. */
  async returned(saved: Parameters<Equipment["restore"]>[0]): Promise<void> {
    await this.#equipment.restore(saved);
    this.#memory.markMissed();
  }

  /** Replaces the program's own session, which may remember the old one, and hands the remaining conversation over. */
  async forget(): Promise<void> {
    this.#native = undefined;
    const hadSome = this.#memory.forget() || this.#live?.how !== "new";
    if (hadSome) await this.#drop(this.#live);
  }

  /** Returns the id that the program gave to its call of the Rookery tool. */
  takeReportedCall(tool: string): string | undefined {
    const isWanted = (call: ReportedCall) => this.#findOfferedTool(call) === tool;
    return this.#live?.takeCall === undefined ? this.#turn?.recorder.takeCall(isWanted) : this.#live.takeCall(isWanted);
  }

  runTurn(turn: TurnContext): Promise<TurnOutcome | LimitReached> {
    return this.#equipment.turn(turn, () => this.#run(turn));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new RookeryError("interrupted", "the session was closed while its agent was starting"));
    await this.#starting;
    try {
      await this.#drop(this.#live);
    } finally {
      await this.#servers[Symbol.asyncDispose]().finally(() => this.#equipment[Symbol.asyncDispose]());
    }
  }

  async #run(turn: TurnContext): Promise<TurnOutcome | LimitReached> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#attempt(turn);
      } catch (error) {
        if (
          error instanceof SessionLost &&
          !isResumption(turn) &&
          this.#native !== undefined &&
          tries < MAX_LOST_SESSIONS
        )
          await this.#replaceSession(turn, error);
        else if (turn.signal.aborted) return { status: "cancelled" };
        else return this.#program.toFailureOutcome?.(error) ?? toProgramFailure(error);
      }
    }
  }

  async #attempt(turn: TurnContext): Promise<TurnOutcome | LimitReached> {
    if (isResumption(turn) && this.#native?.as !== "resume") return NOTHING_TO_RESUME;
    const live = await this.#ensureRunning(turn);
    const isNew = !this.#startRecorded;
    const prompt = await this.#prompt(turn, live);
    if (isResumption(turn) && prompt.length > 0) return MISSED_TURNS;
    const running = new RunningProgramTurn({
      turn,
      prompt,
      findOfferedTool: (call) => this.#findOfferedTool(call),
      isKnownCall: (call) => {
        const tool = this.#findOfferedTool(call);
        return tool !== undefined && this.#equipment.arrivedEarly(tool);
      },
      started: (process, command) => {
        this.#processes.recordStart(turn, process, command);
        return turn.log.commit();
      },
      connected: (nativeId, version) => this.#recordConnection(turn, nativeId, version),
    });
    if (isNew) await turn.log.commit(); // a program is recorded before it is used
    if (turn.signal.aborted) return { status: "cancelled" }; // the prompt was not sent
    this.#memory.markDelivered(turn);
    this.#turn = running;
    const finished = new AbortController();
    const hung = this.#endIfHung(turn.signal, finished.signal, live);
    try {
      return await Promise.race([live.run(running), hung]);
    } finally {
      finished.abort();
      running.recorder.endMessageIfAny();
      this.#turn = undefined;
      await this.#recordExit(turn);
    }
  }

  /** Resolves after a cancelled program did not stop in time and was ended. */
  async #endIfHung(signal: AbortSignal, finished: AbortSignal, live: LiveProgram): Promise<TurnOutcome> {
    if (!signal.aborted) {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true, signal: finished });
      });
    }
    await sleep(CANCEL_MS, undefined, { ref: false });
    if (!finished.aborted) await this.#drop(live);
    return { status: "cancelled" };
  }

  /** Returns the running program, or starts another one if it has exited or no longer fits the turn. */
  async #ensureRunning(turn: TurnContext): Promise<LiveProgram> {
    const { permissions } = turn;
    const lacksTools = !this.#servers.areToolsOffered && hasToolsToOffer(this.#equipment); // an overlay was added after the start
    const live = this.#live;
    const suits = permissions === undefined || live?.fitsPolicy?.(permissions) !== false;
    const startsAnew = isResumption(turn) && this.#program.resumesTurnAtStart === true;
    if (live?.hasEnded === false && !lacksTools && suits && !startsAnew) return live;
    await this.#drop(live);
    await this.#recordExit(turn);
    return this.#start(turn);
  }

  async #start(turn?: TurnContext): Promise<LiveProgram> {
    const closing = this.#closing.signal;
    const signal = turn === undefined ? closing : AbortSignal.any([closing, turn.signal]);
    signal.throwIfAborted();
    const starting = this.#starting.then(() => this.#launch(signal, turn));
    this.#starting = starting.catch(() => undefined);
    return raceAbort(starting, signal);
  }

  /** Starts the program. Ends it again if the start was cancelled in the meantime. */
  async #launch(signal: AbortSignal, turn: TurnContext | undefined): Promise<LiveProgram> {
    const permissions = turn?.permissions ?? this.#context.permissions;
    signal.throwIfAborted();
    const servers = await this.#servers.all();
    const live = await this.#program.start({
      context: this.#context,
      env: this.#env,
      native: this.#native,
      resumesTurn: turn !== undefined && isResumption(turn),
      permissions: permissions ?? "ask",
      servers,
      turn: () => this.#turn,
      signal,
    });
    if (signal.aborted) await Promise.allSettled([live[Symbol.asyncDispose]()]);
    signal.throwIfAborted();
    this.#live = live;
    this.#processes.replace(live.process);
    this.#startRecorded = false;
    this.#memory.restart();
    return live;
  }

  async #drop(live: LiveProgram | undefined): Promise<void> {
    if (this.#live === live) this.#live = undefined;
    if (live === undefined) return;
    await Promise.allSettled([live[Symbol.asyncDispose]()]); // a process that survives is found later by its marker
  }

  /** Builds the prompt. Includes the earlier conversation if the program lacks it, and the instructions once. */
  async #prompt(turn: TurnContext, live: LiveProgram): Promise<PromptPart[]> {
    const parts = await promptParts(turn, live.acceptsMedia?.bind(live));
    if (this.#memory.isComplete) return parts;
    const { how, before, knows } = await this.#memory.recall(turn, live.how);
    if (live.lost !== undefined && !this.#memory.hasReceived) recordLostSession(turn, live.lost);
    if (live.process !== undefined && !this.#startRecorded)
      this.#processes.recordStart(turn, live.process, live.command ?? []);
    this.#startRecorded = true;
    const { nativeId, version } = live;
    this.#how = how;
    const called = nativeId ?? (this.#native?.as === "resume" ? this.#native.id : undefined);
    turn.log.record({
      type: "agent.connected",
      how,
      ...(called !== undefined && { nativeId: called }),
      ...(version !== undefined && { version }),
    });
    if (called !== undefined) this.#native = { id: called, as: "resume" };
    const preamble = [...(knows ? [] : this.#context.agent.prompts), ...(before === undefined ? [] : [before])];
    return [...preamble.map(toTextPart), ...parts];
  }

  /** Records the program's session id. It may arrive late, or change during a session. */
  #recordConnection({ log }: TurnContext, nativeId: string, version: string | undefined): void {
    if (!isUsableNativeId(nativeId) || (this.#native?.as === "resume" && this.#native.id === nativeId)) return;
    this.#native = { id: nativeId, as: "resume" };
    log.record({ type: "agent.connected", nativeId, how: this.#how, ...(version !== undefined && { version }) });
  }

  async #replaceSession(turn: TurnContext, error: SessionLost): Promise<void> {
    recordLostSession(turn, error.message);
    this.#native = undefined;
    await this.#drop(this.#live);
  }

  async #recordExit(turn: TurnContext): Promise<void> {
    const isRunning = this.#live?.hasEnded === false && this.#live.process !== undefined; // excludes programs that run once per turn
    if (!isRunning) await this.#processes.recordExit(turn);
  }

  #findOfferedTool(call: ReportedCall): string | undefined {
    return this.#servers.areToolsOffered ? findOfferedTool(call, this.#equipment.tools.snapshot().catalog) : undefined;
  }
}

/** True if the program continues its last turn without a prompt. */
function isResumption({ input, continued }: TurnContext): boolean {
  return input.length === 0 && continued !== true; // after a usage limit it gets a prompt
}

const NOTHING_TO_RESUME: TurnOutcome = {
  status: "failed",
  code: "backend_unsupported",
  message: "the program has no session with a turn to continue: send a prompt",
};
const MISSED_TURNS: TurnOutcome = {
  status: "failed",
  code: "backend_unsupported",
  message: "the program does not know the last turn, which another agent had: send a prompt",
};

function toNativeSession({ nativeId, forkOf }: BackendContext): NativeSession | undefined {
  if (nativeId !== undefined) return { id: nativeId, as: "resume" };
  return forkOf === undefined ? undefined : { id: forkOf, as: "fork" };
}

function recordLostSession({ log }: TurnContext, reason: string): void {
  const message = `${reason}; a new session was started with the conversation so far`;
  log.record({ type: "notice", level: "warning", code: "native_session_lost", message });
}

function toProgramFailure(error: unknown): TurnOutcome {
  return { status: "failed", code: isRookeryError(error) ? error.code : "agent_failed", message: messageOf(error) };
}
