/** One server for the life of a session: connects, reaches again for a server that went, and gives up visibly. */
import { setTimeout as sleep } from "node:timers/promises";
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
import { deferred } from "../stdx/index.ts";
import type { Authorizer } from "./authorizer.ts";
import { callTool } from "./calls/call.ts";
import { CallsInFlight } from "./calls/in-flight.ts";
import { Handlers } from "./handlers.ts";
import { Link } from "./link.ts";
import { NO_TOOLS, type ToolTable } from "./lists/tools.ts";
import { Offer } from "./offer.ts";
import type { Bounds, ServersOptions } from "./options.ts";
import type { Outlet } from "./outlet.ts";
import { backOff, isFinal } from "./retry.ts";
import { shortened } from "./shortened.ts";
import { loginNeeded } from "./transport/remote.ts";
import { Hopeless } from "./transport/transport.ts";

export interface ConnectionOptions extends Pick<ServersOptions, "cwd" | "env" | "marker" | "sample" | "version"> {
  readonly bounds: Bounds;
  readonly authorizer: Authorizer | undefined;
  readonly outlet: Outlet;
  /** Called after each change; `tools` where the tools are others. */
  changed(tools: boolean): void;
}

interface Ready {
  readonly link: Link;
  readonly offer: Offer;
}

/** How long who waits for a server also waits for its prompts and resources. */
const OTHERS_MS = 1_000;
/** Of why something failed. */
const MAX_REASON = 2_000;
/** Of what a server tells the model of itself. */
const MAX_INSTRUCTIONS = 50_000;

const NOTHING = { tools: NO_TOOLS.specs, prompts: [], resources: [], instructions: undefined } as const;

export class Connection implements AsyncDisposable {
  readonly spec: McpServerSpec;
  readonly #options: ConnectionOptions;
  readonly #calls = new CallsInFlight();
  readonly #handlers: Handlers;
  readonly #closing = new AbortController();
  readonly #settled = deferred();
  readonly #living: Promise<void>;
  #state: McpServerState;
  #table: ToolTable = NO_TOOLS;
  #ready: Ready | undefined;
  #wake = deferred<"wake">();
  #isWoken = false;
  #hasOfferedLogin = false;
  /** Those under way: each has a port open. */
  readonly #logins = new Set<Promise<unknown>>();

  constructor(spec: McpServerSpec, options: ConnectionOptions) {
    this.spec = spec;
    this.#options = options;
    const { cwd, sample, outlet } = options;
    this.#handlers = new Handlers({ server: spec.name, cwd, sample, outlet, calls: this.#calls });
    this.#state = { name: spec.name, status: "connecting", ...NOTHING };
    outlet.record({ type: "mcp.status", server: spec.name, status: "connecting" });
    this.#living = this.#live();
  }

  get state(): McpServerState {
    return this.#state;
  }

  /** Resolves when it was found out for the first time whether the server can be had. */
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
    if (this.#ready === undefined) return { outcome: "failed", text: `the MCP server ${server} ${this.#notReady()}` };
    if (tool === undefined || spec === undefined)
      return { outcome: "failed", text: `the MCP server ${server} has no tool ${name} now` };
    const silentMs = this.spec.timeoutMs ?? bounds.callMs;
    const totalMs = Math.max(silentMs, bounds.callTotalMs);
    const ask = this.#handlers.ask.bind(this.#handlers);
    const { textChars } = bounds;
    return callTool(
      { server, tool, spec, link: this.#ready.link, calls: this.#calls, silentMs, totalMs, textChars, ask },
      input,
      context,
    );
  }

  /** For what is not a tool. */
  async request(
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const server = this.spec.name;
    if (this.#ready === undefined)
      throw new RookeryError("mcp_unavailable", `the MCP server ${server} ${this.#notReady()}`);
    const late = AbortSignal.timeout(this.spec.timeoutMs ?? this.#options.bounds.callMs);
    try {
      return await this.#ready.link.request(method, params, { signal: AbortSignal.any([signal, late]) });
    } catch (error) {
      signal.throwIfAborted();
      const login = loginNeeded(error);
      const why = late.aborted ? "it did not answer in time" : shortened(messageOf(error), MAX_REASON);
      throw new RookeryError(
        login === undefined ? "mcp_failed" : "mcp_login",
        `the MCP server ${server} failed ${method}: ${why}`,
        { cause: error },
      );
    }
  }

  async login(signal: AbortSignal): Promise<LoginOutcome> {
    const { authorizer, outlet } = this.#options;
    if (authorizer === undefined) return { status: "failed", reason: "there is no login for this server here" };
    const either = AbortSignal.any([signal, this.#closing.signal]);
    const login = authorizer.login({ ask: (question, options) => outlet.ask(question, options), signal: either });
    const over: Promise<unknown> = login.catch(() => undefined).finally(() => this.#logins.delete(over));
    this.#logins.add(over);
    const outcome = await login;
    if (outcome.status === "done") this.reconnect();
    return outcome;
  }

  reconnect(): void {
    this.#isWoken = true;
    this.#wake.resolve("wake");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("the servers were closed"));
    this.#wake.resolve("wake");
    await Promise.all([this.#living, ...this.#logins]);
    this.#settled.resolve();
  }

  async #live(): Promise<void> {
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
        if (why === undefined) this.#become("connecting");
        else if (loginNeeded(why) === undefined) this.#become("gone", why.message);
        else this.#become("needs_login", why.message, this.#loginFix);
        await drop(ready);
      } catch (error) {
        why = error instanceof Error ? error : new Error(String(error));
      }
      if (isClosed()) return;
      const limit = wasReady ? bounds.retries : bounds.firstTries - 1;
      if (why !== undefined && (isFinal(why, wasReady) || tries >= limit)) {
        this.#fail(why, tries);
        await this.#wake.promise;
      } else if (why !== undefined) {
        const stop = new AbortController();
        const pause = sleep(backOff(tries, bounds), undefined, { signal: stop.signal }).catch(() => undefined);
        await Promise.race([pause, this.#wake.promise]);
        stop.abort();
        tries += 1;
      }
      if (isClosed()) return;
      if (this.#isWoken) {
        this.#isWoken = false;
        this.#wake = deferred();
        tries = 0;
        wasReady = false;
        this.#become("connecting");
      }
    }
  }

  /** Rejects with the best reason there is, and leaves nothing behind. */
  async #connect(): Promise<Ready> {
    const { spec } = this;
    const { outlet, bounds, cwd, env, marker, authorizer, version = "0" } = this.#options;
    const ms = spec.connectTimeoutMs ?? bounds.connectMs;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`it did not answer within ${ms / 1000} s`)), ms);
    const signal = AbortSignal.any([this.#closing.signal, late.signal]);
    let offer: Offer | undefined;
    try {
      const link = await Link.open(spec, {
        ...{ cwd, env, marker, authorizer, maxBytes: bounds.messageBytes, version, signal, record: outlet.record },
        capabilities: this.#handlers.capabilities,
        handlers: {
          request: (method, params, aborted) => this.#handlers.request(method, params, aborted),
          notified: (method, params) => {
            if (method === "notifications/elicitation/complete") this.#handlers.completed(params);
            else offer?.notified(method);
          },
        },
      });
      offer = new Offer(link, {
        ...{ server: spec.name, defer: spec.defer, max: bounds.listed, maxChars: bounds.listedChars },
        listMs: bounds.callMs,
        changed: ({ tools, ...others }) => this.#offered(tools, others),
        remark: (text) => outlet.notice(`the MCP server ${spec.name}: ${text}`),
      });
      try {
        const table = await offer.tools(signal);
        const ready = (this.#ready = { link, offer });
        this.#hasOfferedLogin = false;
        const instructions = link.instructions && shortened(link.instructions, MAX_INSTRUCTIONS);
        this.#offered(table, { status: "ready", reason: undefined, fix: undefined, instructions });
        void this.#settleWith(offer.listOthers());
        return ready;
      } catch (error) {
        offer.stop();
        await link[Symbol.asyncDispose]();
        throw late.signal.aborted ? late.signal.reason : link.explain(error);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Who waits for the server wants its prompts too; one that is slow with them is there all the same. */
  async #settleWith(others: Promise<void>): Promise<void> {
    const stop = new AbortController();
    const enough = sleep(OTHERS_MS, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    await Promise.race([others, enough]);
    stop.abort();
    this.#settled.resolve();
  }

  #fail(why: Error, tries: number): void {
    if (loginNeeded(why) !== undefined) {
      this.#become("needs_login", why.message, this.#loginFix);
      void this.#offerLogin(this.#loginFix);
      return;
    }
    const reason = tries === 0 ? why.message : `gave up after ${tries} tries: ${why.message}`;
    this.#become("failed", reason, why instanceof Hopeless ? why.fix : undefined);
  }

  get #loginFix(): string {
    return `\`rookery mcp auth ${this.spec.name}\``;
  }

  /** Once until the server was ready: a person who declined, or whose login was no good, is not asked again by itself. */
  async #offerLogin(fix: string): Promise<void> {
    if (this.#hasOfferedLogin || this.#options.authorizer === undefined) return;
    const desk = await this.#options.outlet.desk;
    if (!desk.attended || this.#state.status !== "needs_login" || this.#hasOfferedLogin) return;
    this.#hasOfferedLogin = true;
    try {
      const outcome = await this.login(this.#closing.signal);
      if (outcome.status === "done" || this.#state.status !== "needs_login") return;
      const reason =
        outcome.status === "failed" ? `the login failed: ${outcome.reason}` : `the login was ${outcome.status}`;
      this.#become("needs_login", reason, fix);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#become("needs_login", `the login failed: ${messageOf(error)}`, fix);
    }
  }

  #notReady(): string {
    const { status, reason, fix } = this.#state;
    return `is not ready (${[status, reason, fix].filter((word) => word !== undefined).join(": ")})`;
  }

  /** Anything but ready: there is nothing to be had. */
  #become(status: Exclude<McpStatus, "ready">, reason?: string, fix?: string): void {
    this.#offered(NO_TOOLS, { status, reason: reason && shortened(reason, MAX_REASON), fix, ...NOTHING });
  }

  #offered(tools: ToolTable | undefined, others: Partial<McpServerState>): void {
    if (this.#closing.signal.aborted) return;
    const before = this.#state;
    const isOther = tools !== undefined && JSON.stringify(tools.specs) !== JSON.stringify(this.#table.specs);
    if (isOther) this.#table = tools;
    this.#state = { ...before, ...others, tools: this.#table.specs };
    const { status, reason, fix } = this.#state;
    if (status !== before.status || reason !== before.reason) {
      const why = { ...(reason !== undefined && { reason }), ...(fix !== undefined && { fix }) };
      this.#options.outlet.record({ type: "mcp.status", server: this.spec.name, status, ...why });
    }
    if (status !== "connecting" && status !== "ready") this.#settled.resolve();
    this.#options.changed(isOther);
  }
}

async function drop({ link, offer }: Ready): Promise<void> {
  offer.stop();
  await link[Symbol.asyncDispose]();
}
