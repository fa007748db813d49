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
  type How,
  type LiveProgram,
  type ProgramTurn,
  type PromptPart,
  type Start,
} from "../program/index.ts";
import { Asking } from "./asking.ts";
import { modeOf } from "./mode.ts";
import { LOGIN } from "./outcome.ts";
import { Refused, Rpc, type Peer } from "./rpc.ts";
import { hasOurs, serverTables } from "./servers.ts";
import { CodexTurn, UNINTERESTING, type Conversation } from "./turn.ts";
import { TurnUsage } from "./usage.ts";
import { Account, Initialized, Resolved, Settings, Thread, TurnEvent } from "./wire.ts";

/** Deadline of the start. Codex usually takes a third of a second. */
const START_MS = 30_000;
/** Notifications kept between two turns; further ones are dropped. */
const MOST_WAITING = 100;
/** Notifications between two checks whether the log has room. */
const READY_EVERY = 256;
const CLIENT = { name: "rookery", title: "Rookery", version: "1" };

/** This version of Codex has no `app-server`, or an incompatible one. */
export class NoAppServer extends Error {
  override readonly name = "NoAppServer";
}

/** Rejects with `NoAppServer`, `SessionLost`, `agent_failed`, `agent_exited` or `provider_auth`. */
export async function startAppServer(start: Start, command: readonly string[]): Promise<LiveProgram> {
  const { context, env } = start;
  const mode = modeOf(context.agent, start.permissions);
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

class AppServer implements LiveProgram, Peer {
  readonly process: AgentProcess;
  readonly command: readonly string[];
  readonly #start: Start;
  readonly #rpc: Rpc;
  readonly #waiting: ((turn: CodexTurn) => void)[] = [];
  #conversation: Conversation | undefined;
  #turn: CodexTurn | undefined;
  #starting: Promise<unknown> | undefined;
  #version: string | undefined;
  #heard = 0;

  constructor(process: AgentProcess, command: readonly string[], start: Start) {
    this.process = process;
    this.command = command;
    this.#start = start;
    this.#rpc = new Rpc(process, this);
  }

  get how(): How {
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

  get isOver(): boolean {
    return this.#rpc.isOver;
  }

  suits(permissions: PermissionPolicy): boolean {
    const { context, permissions: own } = this.#start;
    return modeOf(context.agent, permissions).sandbox === modeOf(context.agent, own).sandbox;
  }

  async open(mode: ReturnType<typeof modeOf>, signal: AbortSignal): Promise<void> {
    const capabilities = {
      experimentalApi: false,
      requestAttestation: false,
      optOutNotificationMethods: UNINTERESTING,
    };
    const { userAgent } = await this.#rpc
      .request("initialize", { clientInfo: CLIENT, capabilities }, Initialized, signal)
      .catch(async (error: unknown) => {
        throw isMissing(error) ? new NoAppServer(messageOf(error)) : error;
      });
    this.#version = /^[^/]+\/(\S+)/.exec(userAgent)?.[1];
    this.#rpc.notify("initialized");
    const [account, thread] = await Promise.all([
      this.#rpc.request("account/read", {}, Account, signal).catch(whereRefused(undefined)),
      this.#thread(mode, signal),
    ]);
    const { model, modelProvider } = thread;
    const hasLogin = modelProvider === "openai" && account?.requiresOpenaiAuth !== false;
    if (hasLogin && account?.account === null && !(await this.#hasOwnEndpoint(signal))) {
      throw new RookeryError("provider_auth", `codex is not logged in: ${LOGIN}`);
    }
    this.#conversation = {
      threadId: thread.thread.id,
      model: model ?? this.#start.context.agent.model,
      hasLogin,
      hasOurs: hasOurs(this.#start.servers),
      usage: new TurnUsage(this.#start.native === undefined),
      told: new Set(),
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
      const started = this.#rpc.request("turn/start", { threadId, input: turn.prompt.map(inputOf) }, TurnEvent);
      this.#starting = started.catch(() => undefined);
      const interrupt = (): void => void this.#interrupt(threadId, started);
      turn.signal.addEventListener("abort", interrupt, { once: true });
      try {
        running.named((await started).turn.id);
        return await running.ended;
      } finally {
        turn.signal.removeEventListener("abort", interrupt);
      }
    } catch (error) {
      if (error instanceof Refused && isLost(error)) throw new SessionLost(`codex: ${error.message}`);
      throw error instanceof Refused ? new RookeryError("agent_failed", `codex: ${error.message}`) : error;
    } finally {
      this.#turn = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.close();
  }

  notified(method: string, params: unknown): void {
    if (method === "serverRequest/resolved") {
      const { requestId } = Resolved.safeParse(params).data ?? {};
      if (requestId !== undefined) this.#rpc.resolved(requestId);
      return;
    }
    this.#tell((turn) => turn.notified(method, params));
    this.#heard += 1;
    if (this.#heard % READY_EVERY === 0) void this.#breathe();
  }

  async requested(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const turn = this.#turn;
    await this.#starting; // earlier notifications of the turn are handled by then
    return (turn?.asking ?? NOBODY).answer(method, params, signal);
  }

  printed(text: string): void {
    this.#tell(({ turn }) => turn.tell.print(text));
  }

  dropped(what: string): void {
    this.#tell(({ turn }) => turn.tell.notice("warning", "output_dropped", `codex printed ${what}`));
  }

  ended(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    void this.#rpc.exited().then(({ code, message }) => {
      turn.end(turn.turn.signal.aborted ? { status: "cancelled" } : { status: "failed", code, message });
    });
  }

  #tell(say: (turn: CodexTurn) => void): void {
    if (this.#turn !== undefined) say(this.#turn);
    else if (this.#waiting.length < MOST_WAITING) this.#waiting.push(say);
  }

  /** Stops reading from the program until the log has room again. */
  async #breathe(): Promise<void> {
    const turn = this.#turn?.turn;
    if (turn === undefined) return;
    this.process.transport.pause();
    await turn.ready().catch(() => undefined); // the turn reports a broken log itself
    this.process.transport.resume();
  }

  async #thread(mode: ReturnType<typeof modeOf>, signal: AbortSignal): Promise<z.infer<typeof Thread>> {
    const { context, native, servers } = this.#start;
    const { tables, left } = serverTables(servers);
    for (const message of left) this.#tell(({ turn }) => turn.tell.notice("warning", "mcp_unusable", message));
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
      if (!(error instanceof Refused)) throw error;
      if (isUnknownMethod(error)) throw new NoAppServer(error.message);
      if (native !== undefined && isLost(error)) {
        throw new SessionLost(`codex no longer has session ${native.id} (${error.message})`);
      }
      throw new RookeryError("agent_failed", `codex could not start a conversation: ${error.message}`, {
        cause: error,
      });
    }
  }

  /** Whether Codex uses another API endpoint, which may need no login. */
  async #hasOwnEndpoint(signal: AbortSignal): Promise<boolean> {
    const settings = await this.#rpc.request("config/read", {}, Settings, signal).catch(whereRefused(undefined));
    return (settings?.config.openai_base_url ?? undefined) !== undefined;
  }

  async #interrupt(threadId: string, started: Promise<z.infer<typeof TurnEvent>>): Promise<void> {
    try {
      const { turn } = await started;
      await this.#rpc.request("turn/interrupt", { threadId, turnId: turn.id }, z.unknown());
    } catch {
      // The turn or the program ended first; the turn reports either.
    }
  }
}

const NOBODY = new Asking(undefined, new Map(), false);

function whereRefused<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Refused || isRookeryError(error, "agent_failed")) return instead;
    throw error;
  };
}

/** Matches the errors of 0.166.0, and of versions that take the subcommand for a prompt. */
function isMissing(error: unknown): boolean {
  if (error instanceof Refused) return isUnknownMethod(error);
  const words = /unrecognized subcommand|unexpected argument|not a terminal|not a TTY|no terminal is available/i;
  return isRookeryError(error, "agent_exited") && words.test(error.message);
}

function isUnknownMethod({ message }: Refused): boolean {
  return /unknown variant|method not found|unknown method/i.test(message);
}

function isLost({ message }: Refused): boolean {
  if (/no rollout found|invalid (session|thread|conversation) id/i.test(message)) return true;
  return message.split("\n").some((line) => {
    const at = line.search(/(session|thread|conversation)\b/i);
    return at !== -1 && /\bnot found/i.test(line.slice(at));
  });
}

function inputOf(part: PromptPart): object {
  if (part.type === "text") return { type: "text", text: part.text, text_elements: [] };
  return { type: "image", url: `data:${part.mediaType};base64,${part.data}` };
}
