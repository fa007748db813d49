/** One server during the life of a session: connects, reconnects, and reports when it gives up. */
import {
  messageOf,
  RookeryError,
  type LoginOutcome,
  type McpServerSpec,
  type McpServerState,
  type McpStatus,
  type ToolContext,
  type ToolResult,
} from "../domain/index.ts";
import { deferred, raceTimeout } from "../stdx/index.ts";
import type { Authorizer } from "./authorizer.ts";
import { callServerTool } from "./calls/call.ts";
import { CallsInFlight } from "./calls/in-flight.ts";
import { ServerRequestHandlers } from "./handlers.ts";
import { Link } from "./link.ts";
import { NO_TOOLS, type ToolTable } from "./lists/tools.ts";
import { ServerLists } from "./server-lists.ts";
import { ServerLogins } from "./server-logins.ts";
import type { Bounds, ServersOptions } from "./options.ts";
import type { SessionBridge } from "./session-bridge.ts";
import { reconnectDelay, isPermanent } from "./retry.ts";
import { truncateWithCount } from "./truncate.ts";
import { findLoginNeeded } from "./transport/remote.ts";
import { PermanentFailure } from "./transport/transport.ts";

export interface McpConnectionOptions extends Pick<ServersOptions, "cwd" | "env" | "marker" | "sample" | "version"> {
  readonly bounds: Bounds;
  readonly authorizer: Authorizer | undefined;
  readonly bridge: SessionBridge;
  /** Called after each change. `tools` is true if the tools changed. */
  changed(tools: boolean): void;
}

interface ReadyServer {
  readonly link: Link;
  readonly lists: ServerLists;
}

/** How long `settled` waits for prompts and resources after the tools. */
const EXTRAS_WAIT_MS = 1_000;
/** Maximum length of a failure reason, in characters. */
const MAX_REASON = 2_000;
/** Maximum length of a server's instructions for the model, in characters. */
const MAX_INSTRUCTIONS = 50_000;

const EMPTY_LISTS = { tools: NO_TOOLS.specs, prompts: [], resources: [], instructions: undefined } as const;

export class McpConnection implements AsyncDisposable {
  readonly spec: McpServerSpec;
  readonly #options: McpConnectionOptions;
  readonly #calls = new CallsInFlight();
  readonly #handlers: ServerRequestHandlers;
  readonly #closing = new AbortController();
  readonly #settled = deferred();
  readonly #lifecycle: Promise<void>;
  #state: McpServerState;
  #table: ToolTable = NO_TOOLS;
  #ready: ReadyServer | undefined;
  #wake = deferred<"wake">();
  #reconnectRequested = false;
  readonly #logins: ServerLogins;

  constructor(spec: McpServerSpec, options: McpConnectionOptions) {
    this.spec = spec;
    this.#options = options;
    const { cwd, sample, bridge, authorizer } = options;
    const closing = this.#closing.signal;
    this.#logins = new ServerLogins({ authorizer, bridge, closing, onDone: () => this.reconnect() });
    this.#handlers = new ServerRequestHandlers({ server: spec.name, cwd, sample, bridge, calls: this.#calls });
    this.#state = { name: spec.name, status: "connecting", ...EMPTY_LISTS };
    bridge.record({ type: "mcp.status", server: spec.name, status: "connecting" });
    this.#lifecycle = this.#run();
  }

  get state(): McpServerState {
    return this.#state;
  }

  /** Resolves when the first attempt to connect has succeeded or failed. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  origin(toolName: string): string | undefined {
    return this.#table.origins.get(toolName);
  }

  async call(name: string, input: unknown, context: ToolContext): Promise<ToolResult> {
    const { bounds } = this.#options;
    const tool = this.#table.origins.get(name);
    const spec = this.#table.specs.find((candidate) => candidate.name === name);
    const server = this.spec.name;
    if (this.#ready === undefined)
      return { outcome: "failed", text: `the MCP server ${server} ${this.#describeNotReady()}` };
    if (tool === undefined || spec === undefined)
      return { outcome: "failed", text: `the MCP server ${server} has no tool ${name}` };
    const silentMs = this.spec.timeoutMs ?? bounds.callMs;
    const totalMs = Math.max(silentMs, bounds.callTotalMs);
    const ask = this.#handlers.ask.bind(this.#handlers);
    const { textChars } = bounds;
    return callServerTool(
      { server, tool, spec, link: this.#ready.link, calls: this.#calls, silentMs, totalMs, textChars, ask },
      input,
      context,
    );
  }

  /** Sends a request other than a tool call. Rejects with `mcp_unavailable`, `mcp_failed` or `mcp_login`. */
  async request(
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const server = this.spec.name;
    if (this.#ready === undefined)
      throw new RookeryError("mcp_unavailable", `the MCP server ${server} ${this.#describeNotReady()}`);
    const late = AbortSignal.timeout(this.spec.timeoutMs ?? this.#options.bounds.callMs);
    try {
      return await this.#ready.link.request(method, params, { signal: AbortSignal.any([signal, late]) });
    } catch (error) {
      signal.throwIfAborted();
      const login = findLoginNeeded(error);
      const why = late.aborted ? "it did not answer in time" : truncateWithCount(messageOf(error), MAX_REASON);
      throw new RookeryError(
        login === undefined ? "mcp_failed" : "mcp_login",
        `the request ${method} to the MCP server ${server} failed: ${why}`,
        { cause: error },
      );
    }
  }

  login(signal: AbortSignal): Promise<LoginOutcome> {
    return this.#logins.login(signal);
  }

  reconnect(): void {
    this.#reconnectRequested = true;
    this.#wake.resolve("wake");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("the servers were closed"));
    this.#wake.resolve("wake");
    await Promise.all([this.#lifecycle, this.#logins.settled()]);
    this.#settled.resolve();
  }

  async #run(): Promise<void> {
    const { bounds } = this.#options;
    const isClosed = (): boolean => this.#closing.signal.aborted;
    let tries = 0;
    let wasReady = false;
    while (!isClosed()) {
      let why: Error | undefined;
      try {
        const ready = await this.#connect();
        const since = performance.now();
        const ended = await Promise.race([ready.link.lost, this.#wake.promise]);
        wasReady = true;
        if (performance.now() - since >= bounds.steadyMs) tries = 0;
        why = ended === "wake" ? undefined : ended;
        this.#ready = undefined;
        if (why === undefined) this.#setStatus("connecting");
        else if (findLoginNeeded(why) === undefined) this.#setStatus("gone", why.message);
        else this.#setStatus("needs_login", why.message, this.#loginFix);
        await closeReadyServer(ready);
      } catch (error) {
        why = error instanceof Error ? error : new Error(String(error));
      }
      if (isClosed()) return;
      const limit = wasReady ? bounds.retries : bounds.firstTries - 1;
      if (why !== undefined && (isPermanent(why, wasReady) || tries >= limit)) {
        this.#reportFailure(why, tries);
        await this.#wake.promise;
      } else if (why !== undefined) {
        await raceTimeout(this.#wake.promise, reconnectDelay(tries, bounds));
        tries += 1;
      }
      if (isClosed()) return;
      if (this.#reconnectRequested) {
        this.#reconnectRequested = false;
        this.#wake = deferred();
        tries = 0;
        wasReady = false;
        this.#setStatus("connecting");
      }
    }
  }

  /** Rejects with the most specific reason, and cleans up after a failure. */
  async #connect(): Promise<ReadyServer> {
    const { spec } = this;
    const { bridge, bounds, cwd, env, marker, authorizer, version = "0" } = this.#options;
    const ms = spec.connectTimeoutMs ?? bounds.connectMs;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`it did not answer within ${ms / 1000} s`)), ms);
    const signal = AbortSignal.any([this.#closing.signal, late.signal]);
    let lists: ServerLists | undefined;
    try {
      const link = await Link.open(spec, {
        ...{ cwd, env, marker, authorizer, maxBytes: bounds.messageBytes, version, signal, record: bridge.record },
        capabilities: this.#handlers.capabilities,
        handlers: {
          request: (method, params, aborted) => this.#handlers.request(method, params, aborted),
          onNotification: (method, params) => {
            if (method === "notifications/elicitation/complete") this.#handlers.completed(params);
            else lists?.onNotification(method);
          },
        },
      });
      lists = new ServerLists(link, {
        ...{ server: spec.name, defer: spec.defer, max: bounds.listed, maxChars: bounds.listedChars },
        listMs: bounds.callMs,
        changed: ({ tools, ...others }) => this.#updateState(tools, others),
        remark: (text) => bridge.notice(`the MCP server ${spec.name}: ${text}`),
      });
      try {
        const table = await lists.tools(signal);
        const ready = (this.#ready = { link, lists });
        this.#logins.allowOffer();
        const instructions = link.instructions && truncateWithCount(link.instructions, MAX_INSTRUCTIONS);
        this.#updateState(table, { status: "ready", reason: undefined, fix: undefined, instructions });
        void this.#settleWith(lists.listOthers());
        return ready;
      } catch (error) {
        lists.stop();
        await link[Symbol.asyncDispose]();
        throw late.signal.aborted ? late.signal.reason : link.explain(error);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for prompts and resources for a limited time, so that a slow server still counts as settled. */
  async #settleWith(others: Promise<void>): Promise<void> {
    await raceTimeout(others, EXTRAS_WAIT_MS, { ref: false });
    this.#settled.resolve();
  }

  #reportFailure(why: Error, tries: number): void {
    if (findLoginNeeded(why) !== undefined) {
      this.#setStatus("needs_login", why.message, this.#loginFix);
      void this.#offerLogin();
      return;
    }
    const reason = tries === 0 ? why.message : `gave up after ${tries} tries: ${why.message}`;
    this.#setStatus("failed", reason, why instanceof PermanentFailure ? why.fix : undefined);
  }

  get #loginFix(): string {
    return `\`rookery mcp auth ${this.spec.name}\``;
  }

  async #offerLogin(): Promise<void> {
    const reason = await this.#logins.offer(() => this.#state.status === "needs_login");
    if (reason !== undefined) this.#setStatus("needs_login", reason, this.#loginFix);
  }

  #describeNotReady(): string {
    const { status, reason, fix } = this.#state;
    return `is not ready (${[status, reason, fix].filter((word) => word !== undefined).join(": ")})`;
  }

  /** Any status but "ready" clears the lists. */
  #setStatus(status: Exclude<McpStatus, "ready">, reason?: string, fix?: string): void {
    this.#updateState(NO_TOOLS, {
      status,
      reason: reason && truncateWithCount(reason, MAX_REASON),
      fix,
      ...EMPTY_LISTS,
    });
  }

  #updateState(tools: ToolTable | undefined, others: Partial<McpServerState>): void {
    if (this.#closing.signal.aborted) return;
    const before = this.#state;
    const toolsChanged = tools !== undefined && JSON.stringify(tools.specs) !== JSON.stringify(this.#table.specs);
    if (toolsChanged) this.#table = tools;
    this.#state = { ...before, ...others, tools: this.#table.specs };
    const { status, reason, fix } = this.#state;
    if (status !== before.status || reason !== before.reason) {
      const why = { ...(reason !== undefined && { reason }), ...(fix !== undefined && { fix }) };
      this.#options.bridge.record({ type: "mcp.status", server: this.spec.name, status, ...why });
    }
    if (status !== "connecting" && status !== "ready") this.#settled.resolve();
    this.#options.changed(toolsChanged);
  }
}

async function closeReadyServer({ link, lists }: ReadyServer): Promise<void> {
  lists.stop();
  await link[Symbol.asyncDispose]();
}
