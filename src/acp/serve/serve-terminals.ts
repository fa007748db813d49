/** Runs commands for the agent of one session, subject to the gate. No command outlives the session. */
import { randomBytes } from "node:crypto";
import type {
  CreateTerminalRequest,
  CreateTerminalResponse,
  KillTerminalRequest,
  KillTerminalResponse,
  ReleaseTerminalRequest,
  ReleaseTerminalResponse,
  TerminalOutputRequest,
  TerminalOutputResponse,
  WaitForTerminalExitRequest,
  WaitForTerminalExitResponse,
} from "@agentclientprotocol/sdk";
import { isRookeryError } from "../../domain/errors.ts";
import { PathRefusal, confined } from "../../stdx/index.ts";
import { raceCancellation } from "../cancellation.ts";
import { RPC, notFound, peerError, requestCancelled, type PeerError } from "../errors.ts";
import { quoteShellWord, formatShellCommand } from "../../programs/shell-command.ts";
import { toServeError } from "./serve-error.ts";
import { passGate, type Gate, type ServeContext } from "./gate.ts";
import { createTerminalParams, parseServeParams, terminalParams, type CreateTerminalParams } from "./serve-params.ts";
import { AgentTerminal } from "./agent-terminal.ts";

export interface ServeTerminalsOptions {
  /** The working directory and further roots, as absolute paths. Commands can start only in them. */
  readonly roots: readonly string[];
  /** The base environment of every command. Variables of the agent's request are added. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Identifies the owner in the environment of the commands. */
  readonly marker?: string | undefined;
  /** Default: every command is allowed. */
  readonly gate?: Gate | undefined;
  /** Maximum number of unreleased terminals. Default: 32. */
  readonly maxTerminals?: number | undefined;
}

export interface ServedTerminals extends AsyncDisposable {
  create(params: CreateTerminalRequest, context: ServeContext): Promise<CreateTerminalResponse>;
  output(params: TerminalOutputRequest): Promise<TerminalOutputResponse>;
  waitForExit(params: WaitForTerminalExitRequest, context: ServeContext): Promise<WaitForTerminalExitResponse>;
  kill(params: KillTerminalRequest): Promise<KillTerminalResponse>;
  release(params: ReleaseTerminalRequest): Promise<ReleaseTerminalResponse>;
}

const DEFAULT_MAX_TERMINALS = 32;
const DEFAULT_OUTPUT_BYTES = 1024 * 1024;
/** Upper limit, regardless of the agent's request. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

export function serveTerminals(options: ServeTerminalsOptions): ServedTerminals {
  return new SessionTerminals(options);
}

class SessionTerminals implements ServedTerminals {
  readonly #options: ServeTerminalsOptions;
  readonly #terminals = new Map<string, AgentTerminal>();
  /** Terminals that are starting or being released. They count towards the limit, and disposal waits for them. */
  readonly #pending = new Set<Promise<unknown>>();
  readonly #disposal = new AbortController();

  constructor(options: ServeTerminalsOptions) {
    this.#options = options;
  }

  async create(params: CreateTerminalRequest, { signal }: ServeContext): Promise<CreateTerminalResponse> {
    const request = parseServeParams(createTerminalParams, params);
    const most = this.#options.maxTerminals ?? DEFAULT_MAX_TERMINALS;
    if (this.#terminals.size + this.#pending.size >= most) {
      throw peerError(RPC.internalError, `${most} terminals are already open; release one first`);
    }
    try {
      return { terminalId: await this.#track(this.#start(request, params, signal)) };
    } catch (error) {
      throw toStartError(error, request);
    }
  }

  async output(params: TerminalOutputRequest): Promise<TerminalOutputResponse> {
    return this.#find(params).terminal.output();
  }

  async waitForExit(
    params: WaitForTerminalExitRequest,
    { signal }: ServeContext,
  ): Promise<WaitForTerminalExitResponse> {
    return raceCancellation(this.#find(params).terminal.exited, signal);
  }

  async kill(params: KillTerminalRequest): Promise<KillTerminalResponse> {
    await this.#find(params).terminal.end();
    return {};
  }

  async release(params: ReleaseTerminalRequest): Promise<ReleaseTerminalResponse> {
    const { id, terminal } = this.#find(params);
    this.#terminals.delete(id);
    await this.#track(terminal.end());
    return {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    await Promise.allSettled(this.#pending);
    await Promise.all(Array.from(this.#terminals.values(), (terminal) => terminal.end()));
    this.#terminals.clear();
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    try {
      return await work;
    } finally {
      this.#pending.delete(work);
    }
  }

  async #start(request: CreateTerminalParams, params: unknown, cancelled: AbortSignal): Promise<string> {
    const { roots, gate, marker } = this.#options;
    const { sessionId, outputByteLimit } = request;
    const signal = AbortSignal.any([cancelled, this.#disposal.signal]);
    const cwd = await confined(roots, request.cwd ?? ".");
    const command = [request.command, ...(request.args ?? [])];
    const added = request.env ?? [];
    const title = [
      ...added.map(({ name, value }) => `${name}=${quoteShellWord(value)}`),
      formatShellCommand(command),
    ].join(" ");
    await passGate(gate, { kind: "execute", title, path: cwd, command, sessionId, params, signal });
    if ((await confined(roots, cwd)) !== cwd)
      throw new PathRefusal(`${cwd} was moved while the permission was checked; try again`);
    const terminal = await AgentTerminal.start(request.command, request.args ?? [], {
      cwd,
      env: { ...this.#options.env, ...Object.fromEntries(added.map(({ name, value }) => [name, value])) },
      marker,
      outputByteLimit: Math.min(outputByteLimit ?? DEFAULT_OUTPUT_BYTES, MAX_OUTPUT_BYTES),
    });
    if (signal.aborted) {
      await terminal.end();
      throw requestCancelled();
    }
    const id = `terminal-${randomBytes(6).toString("hex")}`;
    this.#terminals.set(id, terminal);
    return id;
  }

  #find(params: unknown): { id: string; terminal: AgentTerminal } {
    const { terminalId: id } = parseServeParams(terminalParams, params);
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw notFound(`the terminal ${id}`);
    return { id, terminal };
  }
}

function toStartError(error: unknown, { command, args, cwd }: CreateTerminalParams): PeerError {
  const failure = toServeError(error, cwd ?? "the working directory");
  if (!isRookeryError(error, "agent_unavailable") || !/\s/.test(command) || (args ?? []).length > 0) return failure;
  const hint = "commands run without a shell: pass the program as command and the rest as args";
  return peerError(failure.code, `${failure.message}; ${hint}`);
}
