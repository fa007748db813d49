/** Drives Codex over `codex app-server`: one process with one conversation, for any number of turns. */
import {
  isRookeryError,
  messageOf,
  RookeryError,
  type LimitReached,
  type PermissionPolicy,
  type TurnOutcome,
} from "../../domain/index.ts";
import { startAgent, type AgentProcess } from "../../programs/index.ts";
import { deadline, DisposeStack } from "../../stdx/index.ts";
import { z } from "zod";
import {
  SessionLost,
  type NativeSessionOrigin,
  type LiveProgram,
  type ProgramTurn,
  type PromptPart,
  type ProgramStart,
} from "../program/index.ts";
import { CodexRequests } from "./requests.ts";
import { resolveCodexMode } from "./mode.ts";
import { CODEX_LOGIN_FIX } from "./outcome.ts";
import { CodexErrorResponse, CodexRpc, type CodexPeer } from "./rpc.ts";
import { includesOfferedServer, toServerTables } from "./mcp-servers.ts";
import { CodexTurn, IGNORED_NOTIFICATIONS, type CodexConversation } from "./turn.ts";
import { TurnUsage } from "./usage.ts";
import { Account, Initialized, ResolvedRequest, ConfigResponse, Thread, CodexTurnEvent } from "./wire.ts";

/** Deadline of the start. Codex usually takes a third of a second. */
const START_MS = 30_000;
/** Notifications kept between two turns; further ones are dropped. */
const MAX_WAITING = 100;
/** Notifications between two checks whether the log has room. */
const READY_EVERY = 256;
const CLIENT = { name: "rookery", title: "Rookery", version: "1" };

/** This version of Codex has no `app-server`, or an incompatible one. */
export class NoAppServer extends Error {
  override readonly name = "NoAppServer";
}

/** Rejects with `NoAppServer`, `SessionLost`, `agent_failed`, `agent_exited` or `provider_auth`. */
export async function startAppServer(start: ProgramStart, command: readonly string[]): Promise<LiveProgram> {
  const { context, env } = start;
  const mode = resolveCodexMode(context.agent, start.permissions);
  await using opening = new DisposeStack();
  const whole = [...command, "app-server"];
  const process = opening.use(await startAgent({ command: whole, cwd: context.cwd, env, marker: context.marker }));
  const live = new AppServer(process, whole, start);
  using enough = deadline(START_MS, start.signal);
  try {
    await live.open(mode, enough.signal);
  } catch (error) {
    start.signal.throwIfAborted();
    if (!enough.isLate) throw error;
    throw new RookeryError("agent_failed", `codex did not answer within ${START_MS / 1_000} s of its start`, {
      cause: error,
    });
  }
  opening.move();
  return live;
}

class AppServer implements LiveProgram, CodexPeer {
  readonly process: AgentProcess;
  readonly command: readonly string[];
  readonly #start: ProgramStart;
  readonly #rpc: CodexRpc;
  readonly #waiting: ((turn: CodexTurn) => void)[] = [];
  #conversation: CodexConversation | undefined;
  #turn: CodexTurn | undefined;
  #starting: Promise<unknown> | undefined;
  #version: string | undefined;
  #notifications = 0;

  constructor(process: AgentProcess, command: readonly string[], start: ProgramStart) {
    this.process = process;
    this.command = command;
    this.#start = start;
    this.#rpc = new CodexRpc(process, this);
  }

  get how(): NativeSessionOrigin {
    const { native } = this.#start;
    if (native === undefined) return "new";
    return native.as === "fork" ? "forked" : "resumed";
  }

  get nativeId(): string | undefined {
    return this.#conversation?.threadId;
  }

  get version(): string | undefined {
    return this.#version;
  }

  get hasEnded(): boolean {
    return this.#rpc.hasEnded;
  }

  fitsPolicy(permissions: PermissionPolicy): boolean {
    const { context, permissions: own } = this.#start;
    return resolveCodexMode(context.agent, permissions).sandbox === resolveCodexMode(context.agent, own).sandbox;
  }

  async open(mode: ReturnType<typeof resolveCodexMode>, signal: AbortSignal): Promise<void> {
    const capabilities = {
      experimentalApi: false,
      requestAttestation: false,
      optOutNotificationMethods: IGNORED_NOTIFICATIONS,
    };
    const { userAgent } = await this.#rpc
      .request("initialize", { clientInfo: CLIENT, capabilities }, Initialized, signal)
      .catch(async (error: unknown) => {
        throw lacksAppServer(error) ? new NoAppServer(messageOf(error)) : error;
      });
    this.#version = /^[^/]+\/(\S+)/.exec(userAgent)?.[1];
    this.#rpc.notify("initialized");
    const [account, thread] = await Promise.all([
      this.#rpc.request("account/read", {}, Account, signal).catch(fallbackIfRefused(undefined)),
      this.#thread(mode, signal),
    ]);
    const { model, modelProvider } = thread;
    const hasLogin = modelProvider === "openai" && account?.requiresOpenaiAuth !== false;
    if (hasLogin && account?.account === null && !(await this.#hasOwnEndpoint(signal))) {
      throw new RookeryError("provider_auth", `codex is not logged in: ${CODEX_LOGIN_FIX}`);
    }
    this.#conversation = {
      threadId: thread.thread.id,
      model: model ?? this.#start.context.agent.model,
      hasLogin,
      hasOurs: includesOfferedServer(this.#start.servers),
      usage: new TurnUsage(this.#start.native === undefined),
      recordedWarnings: new Set(),
      limits: undefined,
    };
  }

  async run(turn: ProgramTurn): Promise<TurnOutcome | LimitReached> {
    const conversation = this.#conversation;
    if (conversation === undefined) throw new Error("run() was called before open()");
    if (turn.signal.aborted) return { status: "cancelled" };
    const running = new CodexTurn(turn, conversation);
    this.#turn = running;
    for (const say of this.#waiting.splice(0)) say(running);
    const { threadId } = conversation;
    try {
      const started = this.#rpc.request(
        "turn/start",
        { threadId, input: turn.prompt.map(toUserInput) },
        CodexTurnEvent,
      );
      this.#starting = started.catch(() => undefined);
      const interrupt = (): void => void this.#interrupt(threadId, started);
      turn.signal.addEventListener("abort", interrupt, { once: true });
      try {
        running.setId((await started).turn.id);
        return await running.outcome;
      } finally {
        turn.signal.removeEventListener("abort", interrupt);
      }
    } catch (error) {
      if (error instanceof CodexErrorResponse && isSessionLost(error)) throw new SessionLost(`codex: ${error.message}`);
      throw error instanceof CodexErrorResponse ? new RookeryError("agent_failed", `codex: ${error.message}`) : error;
    } finally {
      this.#turn = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.close();
  }

  onNotification(method: string, params: unknown): void {
    if (method === "serverRequest/resolved") {
      const { requestId } = ResolvedRequest.safeParse(params).data ?? {};
      if (requestId !== undefined) this.#rpc.withdrawRequest(requestId);
      return;
    }
    this.#withTurn((turn) => turn.handleNotification(method, params));
    this.#notifications += 1;
    if (this.#notifications % READY_EVERY === 0) void this.#waitForLog();
  }

  async onRequest(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const turn = this.#turn;
    await this.#starting; // earlier notifications of the turn are handled by then
    return (turn?.requests ?? NO_TURN).answer(method, params, signal);
  }

  onText(text: string): void {
    this.#withTurn(({ turn }) => turn.recorder.addOutput(text));
  }

  onDropped(what: string): void {
    this.#withTurn(({ turn }) => turn.recorder.notice("warning", "output_dropped", `codex printed ${what}`));
  }

  onEnd(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    void this.#rpc.toExitError().then(({ code, message }) => {
      turn.end(turn.turn.signal.aborted ? { status: "cancelled" } : { status: "failed", code, message });
    });
  }

  #withTurn(say: (turn: CodexTurn) => void): void {
    if (this.#turn !== undefined) say(this.#turn);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(say);
  }

  /** Stops reading from the program until the log has room again. */
  async #waitForLog(): Promise<void> {
    const turn = this.#turn?.turn;
    if (turn === undefined) return;
    this.process.transport.pause();
    await turn.ready().catch(() => undefined); // the turn reports a broken log itself
    this.process.transport.resume();
  }

  async #thread(mode: ReturnType<typeof resolveCodexMode>, signal: AbortSignal): Promise<z.infer<typeof Thread>> {
    const { context, native, servers } = this.#start;
    const { tables, left } = toServerTables(servers);
    for (const message of left) this.#withTurn(({ turn }) => turn.recorder.notice("warning", "mcp_unusable", message));
    const options = {
      cwd: context.cwd,
      ...mode,
      ...(context.agent.model !== undefined && { model: context.agent.model }),
      ...(Object.keys(tables).length > 0 && { config: { mcp_servers: tables } }),
    };
    try {
      if (native === undefined) return await this.#rpc.request("thread/start", options, Thread, signal);
      const known = { ...options, threadId: native.id, excludeTurns: true };
      return await this.#rpc.request(`thread/${native.as}`, known, Thread, signal);
    } catch (error) {
      if (!(error instanceof CodexErrorResponse)) throw error;
      if (isUnknownMethod(error)) throw new NoAppServer(error.message);
      if (native !== undefined && isSessionLost(error)) {
        throw new SessionLost(`codex no longer has session ${native.id} (${error.message})`);
      }
      throw new RookeryError("agent_failed", `codex could not start a conversation: ${error.message}`, {
        cause: error,
      });
    }
  }

  /** Whether Codex uses another API endpoint, which may need no login. */
  async #hasOwnEndpoint(signal: AbortSignal): Promise<boolean> {
    const settings = await this.#rpc
      .request("config/read", {}, ConfigResponse, signal)
      .catch(fallbackIfRefused(undefined));
    return (settings?.config.openai_base_url ?? undefined) !== undefined;
  }

  async #interrupt(threadId: string, started: Promise<z.infer<typeof CodexTurnEvent>>): Promise<void> {
    try {
      const { turn } = await started;
      await this.#rpc.request("turn/interrupt", { threadId, turnId: turn.id }, z.unknown());
    } catch {
      // The turn or the program ended first; the turn reports either.
    }
  }
}

const NO_TURN = new CodexRequests(undefined, new Map(), false);

function fallbackIfRefused<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof CodexErrorResponse || isRookeryError(error, "agent_failed")) return instead;
    throw error;
  };
}

/** Matches the errors of 0.166.0, and of versions that treat the subcommand as a prompt. */
function lacksAppServer(error: unknown): boolean {
  if (error instanceof CodexErrorResponse) return isUnknownMethod(error);
  const words = /unrecognized subcommand|unexpected argument|not a terminal|not a TTY|no terminal is available/i;
  return isRookeryError(error, "agent_exited") && words.test(error.message);
}

function isUnknownMethod({ message }: CodexErrorResponse): boolean {
  return /unknown variant|method not found|unknown method/i.test(message);
}

function isSessionLost({ message }: CodexErrorResponse): boolean {
  if (/no rollout found|invalid (session|thread|conversation) id/i.test(message)) return true;
  return message.split("\n").some((line) => {
    const at = line.search(/(session|thread|conversation)\b/i);
    return at !== -1 && /\bnot found/i.test(line.slice(at));
  });
}

function toUserInput(part: PromptPart): object {
  if (part.type === "text") return { type: "text", text: part.text, text_elements: [] };
  return { type: "image", url: `data:${part.mediaType};base64,${part.data}` };
}
