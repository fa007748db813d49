/** The composition root: one object that opens the store, and through which callers run agents, sessions and tasks. */
import type { ConfigDescription } from "./config/describe.ts";
import type {
  BetweenTurnsContext,
  FeedEvent,
  InputPart,
  ListQuery,
  McpServerSpec,
  RemoteServerSpec,
  SessionEvent,
  SessionSummary,
  StartTask,
  Store,
  Tasks,
  TaskView,
  WorkerRequest,
  WorkerView,
} from "./domain/index.ts";
import type { Authorizer } from "./mcp/authorizer.ts";
import type { Bounds, McpServers } from "./mcp/index.ts";
import { requireFolder } from "./opening/index.ts";
import type { RunTasks } from "./pool/index.ts";
import { withPositions } from "./rookery/follow-session.ts";
import { LiveSessions } from "./rookery/live-sessions.ts";
import { McpAccess } from "./rookery/mcp-access.ts";
import type { AdoptableSession, AdoptSessionOptions, NativeSessionsQuery } from "./rookery/native-sessions.ts";
import type { OpenSessionOptions, RookeryOptions, ServersFound, ServersQuery } from "./rookery/options.ts";
import { openProcessContext, type ProcessContext } from "./rookery/process-context.ts";
import { StoredSessions } from "./rookery/stored-sessions.ts";
import { PoolRunner } from "./rookery/pool-runner.ts";
import { WorkerRunner, type RunWorkerOptions, type WorkerEnd } from "./rookery/worker-runner.ts";
import {
  checkAdoptOptions,
  checkConnectOptions,
  checkFollowQuery,
  checkNativeSessionsQuery,
  checkOpenOptions,
  checkRemoteServerSpec,
  checkRookeryOptions,
  checkRunTasksOptions,
  checkRunWorkerOptions,
  checkServersQuery,
  checkServerSpecs,
  checkText,
  checkWorkerRequest,
  type Answer,
  type Deliver,
  type RevokeOptions,
  type SearchQuery,
  type SearchResult,
  type Session,
} from "./session/index.ts";

import type { Telemetry } from "./telemetry/index.ts";

export type { ConfigDescription } from "./config/describe.ts";
export type { AgentOverrides, PluginSession } from "./opening/index.ts";
export type { AdoptableSession, AdoptSessionOptions, NativeSessionsQuery } from "./rookery/native-sessions.ts";
export type {
  OpenSessionOptions,
  RookeryOptions,
  ServersFound,
  ServersQuery,
  TelemetrySettings,
} from "./rookery/options.ts";
export type { Telemetry } from "./telemetry/index.ts";
export type { RunWorkerOptions, WorkerEnd } from "./rookery/worker-runner.ts";

export class Rookery implements AsyncDisposable {
  readonly home: string;
  readonly store: Store;
  /** Metrics of this process. Undefined unless they are kept: see `RookeryOptions.telemetry`. */
  readonly telemetry: Telemetry | undefined;
  readonly #context: ProcessContext;
  readonly #mcp: McpAccess;
  readonly #live: LiveSessions;
  readonly #stored: StoredSessions;
  readonly #runner: PoolRunner;
  readonly #workers: WorkerRunner;

  private constructor(context: ProcessContext) {
    this.home = context.home;
    this.store = context.store;
    this.telemetry = context.telemetry;
    this.#context = context;
    this.#mcp = new McpAccess(context);
    this.#live = new LiveSessions(context, (spec) => this.authorizer(spec));
    this.#stored = new StoredSessions(context, this.#live);
    this.#runner = new PoolRunner(context, this.#live);
    this.#workers = new WorkerRunner(context, this.#live, this.#runner);
  }

  /** Opens the store and ends the child processes of killed Rookery processes. Rejects with a `store_*` error. */
  static async open(options: RookeryOptions = {}): Promise<Rookery> {
    checkRookeryOptions(options);
    return new Rookery(await openProcessContext(options));
  }

  /**
   * Opens a session for driving: a new one, one in the log, whose interrupted turn then continues, or with `adopt` one
   * that a program keeps itself, like `adoptSession`.
   * Rejects with `session_not_found`, `session_in_use`, `session_closed`, `cwd_missing`, `not_trusted`, `agent_unknown`,
   * or with the error of the agent that cannot start.
   */
  async openSession(options: OpenSessionOptions = {}): Promise<Session> {
    checkOpenOptions(options);
    return this.#live.open(options);
  }

  /**
   * Lists the sessions that programs keep themselves for a working directory, last written first. Those that Rookery has
   * already name their `session`.
   */
  async nativeSessions(query: NativeSessionsQuery = {}): Promise<readonly AdoptableSession[]> {
    checkNativeSessionsQuery(query);
    return this.#live.native.list(query);
  }

  /**
   * Adopts a session that a program keeps itself: imports its history into a new session, which resumes it with its next
   * prompt. The import exists completely or not at all. Resolves with the id of the new session, which no process drives
   * yet. Rejects with `native_session_not_found`, `native_session_in_use` if a session of Rookery has it already,
   * `native_session_unreadable`, or like `openSession`.
   */
  async adoptSession(options: AdoptSessionOptions): Promise<string> {
    checkAdoptOptions(options);
    return this.#live.native.adopt(options);
  }

  /**
   * Yields the events of a session after the cursor and then waits for new ones, until the signal aborts. For a task,
   * yields the events of the task and all its sessions. `position` of what it yields is the cursor to continue from.
   */
  follow(query: { session: string; after?: number; signal?: AbortSignal }): AsyncIterable<FeedEvent<SessionEvent>>;
  follow(query: { task: string; after?: number; signal?: AbortSignal }): AsyncIterable<FeedEvent>;
  follow(query: { session?: string; task?: string; after?: number; signal?: AbortSignal }): AsyncIterable<FeedEvent> {
    checkFollowQuery(query);
    const { session = "", task, after = 0, signal } = query;
    if (task !== undefined) return this.#runner.pool.follow({ task, after, signal });
    return withPositions(this.store.follow({ sessionId: session, after, signal }));
  }

  /** Task operations. Starting a task only queues it: `runTasks` runs it, in this process or another. */
  get tasks(): Tasks {
    return this.#runner.pool;
  }

  startTask(request: StartTask): Promise<TaskView> {
    return this.#runner.pool.start(request);
  }

  /**
   * Queues the demo task: a scripted model fixes a failing test in a repository below `home`. Needs no key. Rejects with
   * `git_missing` or `git_failed`.
   */
  async startDemoTask(): Promise<TaskView> {
    const { startDemoTask } = await import("./demo/index.ts");
    const { env, claim } = this.#context;
    return startDemoTask({ home: this.home, env, marker: claim(), tasks: this.#runner.pool });
  }

  /**
   * Runs queued tasks of this home within the limits that all processes share, and resumes tasks of killed processes.
   * Resolves when the signal aborts or, with `only`, when that task has ended. Tasks that still run are queued again
   * for the next process that runs tasks.
   */
  async runTasks(options: Partial<RunTasks> = {}): Promise<void> {
    checkRunTasksOptions(options);
    return this.#runner.run(options);
  }

  /** The ID of this host, if other hosts can open the store. */
  get sharedHost(): string | undefined {
    return this.#context.sharedHost;
  }

  /**
   * Registers this process as a worker, and runs tasks like `runTasks`, but only those that this host can run. Operators
   * can drain and stop it from any host. Resolves with the reason for its end: the signal, or a request of an operator.
   * Rejects with `host_in_use` if another machine uses the same host ID.
   */
  async runWorker(options: RunWorkerOptions): Promise<WorkerEnd> {
    checkRunWorkerOptions(options);
    return this.#workers.run(options);
  }

  /** Lists the workers of all hosts, including lost ones. */
  async workers(): Promise<readonly WorkerView[]> {
    return this.#workers.list();
  }

  /**
   * Asks a worker, or all workers of a host, to drain (take no new work and finish what runs) or to stop (hand over
   * what runs). They notice it within seconds. Resolves with these workers. Rejects with `worker_not_found`.
   */
  async askWorkers(idOrHost: string, request: WorkerRequest): Promise<readonly WorkerView[]> {
    checkWorkerRequest(idOrHost, request);
    return this.#workers.ask(idOrHost, request);
  }

  sessions(query?: ListQuery): Promise<readonly SessionSummary[]> {
    return this.store.list(query);
  }

  /** Answers a permission request or a question, even if another process drives the session. */
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void> {
    return this.#stored.answer(sessionId, requestId, answer);
  }

  /**
   * Queues an input for a session; the process that drives it delivers the input. Resolves with the id of the input.
   */
  async tell(
    sessionId: string,
    input: string | readonly InputPart[],
    options: { deliver?: Deliver } = {},
  ): Promise<string> {
    return this.#stored.tell(sessionId, input, options);
  }

  /**
   * Withdraws an input that waits in the queue of a session, even if another process drives it. Resolves with the
   * input, even if it was withdrawn before. Rejects with `input_not_queued` if the agent already has it,
   * `session_not_found`, or `session_closed`.
   */
  async withdraw(sessionId: string, inputId: string): Promise<readonly InputPart[]> {
    return this.#stored.withdraw(sessionId, inputId);
  }

  /**
   * Cancels the running turn of a session. If another process drives it, that process ends the turn within a second; if
   * its process is dead, the turn ends here. Resolves with the id of the turn when the request is durable, or with
   * undefined if no turn runs. With `turnId`, cancels only this turn. Rejects with `session_not_found`, or with
   * `session_in_use` if the session belongs to a task: stop the task instead.
   */
  async cancelTurn(sessionId: string, options: { turnId?: string } = {}): Promise<string | undefined> {
    return this.#stored.cancelTurn(sessionId, options);
  }

  /**
   * Revokes a permission that a person gave for the rest of the session: the agent asks again before this tool runs, or
   * with `prefix` before commands run that start with these words. Changes nothing if there is none. If another process
   * drives the session, that process follows within a second. Rejects with `session_not_found` or `session_closed`.
   */
  async revoke(sessionId: string, tool: string, options: RevokeOptions = {}): Promise<void> {
    return this.#stored.revoke(sessionId, tool, options);
  }

  /** Ends a session for good, like `Session.end`. If another process drives it, that process stops. */
  async endSession(sessionId: string, reason?: string): Promise<void> {
    return this.#stored.end(sessionId, reason);
  }

  /**
   * Creates a session with all ended turns of another one, which stays unchanged and may be running or closed.
   * With `through`, a `seq`, only turns that ended at or before it are copied. The copy has the current settings of the
   * source. Resolves with the id of the new session. Rejects with `session_not_found` or `cwd_missing`.
   */
  async forkSession(
    sessionId: string,
    options: { cwd?: string; title?: string; through?: number } = {},
  ): Promise<string> {
    return this.#stored.fork(sessionId, options);
  }

  /**
   * Searches prompts, messages, tool calls and their output in the logs of all sessions, newest first. Searches for at
   * most half a second; pass `next` as `cursor` to continue.
   */
  async search(text: string, options: Omit<SearchQuery, "text"> = {}): Promise<SearchResult> {
    return this.#stored.search(text, options);
  }

  /**
   * Deletes a session and its log. Releases it first if it is open in this process. Rejects with `session_not_found`,
   * or with `session_in_use` if another process drives it.
   */
  async deleteSession(sessionId: string): Promise<void> {
    return this.#stored.delete(sessionId);
  }

  /** Returns the MCP servers declared for a folder without starting them. */
  async declaredServers(query: ServersQuery = {}): Promise<ServersFound> {
    checkServersQuery(query);
    return this.#mcp.findDeclared(query);
  }

  /**
   * Returns what the configuration files of a folder set, with secrets masked. Default: the working directory of this
   * `Rookery`. Rejects with `config_invalid` or `cwd_missing`.
   */
  async describeConfig(cwd = "."): Promise<ConfigDescription> {
    checkText(cwd, "the folder");
    const folder = this.#context.resolveFolder(cwd);
    await requireFolder(folder);
    const { describeConfig } = await import("./config/describe.ts");
    return describeConfig(folder, this.#context.env);
  }

  /** Connects to MCP servers without a session, to list and call their tools. The caller closes them. */
  async connectServers(
    specs: readonly McpServerSpec[],
    options: { cwd?: string; betweenTurns?: BetweenTurnsContext; bounds?: Partial<Bounds> } = {},
  ): Promise<McpServers> {
    checkServerSpecs(specs);
    checkConnectOptions(options);
    return this.#mcp.connect(specs, options);
  }

  /** Returns the login of a server. All sessions share it, so a person logs in once. */
  authorizer(spec: RemoteServerSpec): Authorizer {
    checkRemoteServerSpec(spec);
    return this.#mcp.authorizer(spec);
  }

  /** Releases every session, ends every process that it started, and closes the store. */
  async close(): Promise<void> {
    const { owned } = this.#context;
    this.#live.refuseNew();
    await this.#runner.stop(); // each task is queued again before its sessions are released
    await this.#workers.closed();
    owned.defer(() => this.#live.close());
    await owned[Symbol.asyncDispose](); // sessions close first; the rest closes even if one of them fails
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
