/** Drives versions without `app-server` over `codex exec --json`: one process per turn, without permission requests. */
import {
  RookeryError,
  type AgentSpec,
  type Capabilities,
  type LimitReached,
  type PermissionPolicy,
  type TurnOutcome,
} from "../../../domain/index.ts";
import { readRecords, startAgent, type AgentProcess, type ProgramExit } from "../../../programs/index.ts";
import { deferred } from "../../../stdx/index.ts";
import {
  promptText,
  SessionLost,
  type NativeSessionOrigin,
  type LiveProgram,
  type ProgramTurn,
  type ProgramStart,
} from "../../program/index.ts";
import { resolveCodexMode, type CodexSandbox } from "../mode.ts";
import { formatCodexExit } from "../rpc.ts";
import { includesOfferedServer, buildServerArguments } from "../mcp-servers.ts";
import { TurnUsage } from "../usage.ts";
import { requireCodexLogin } from "./login.ts";
import { ExecTurn, type ExecConversation } from "./turn.ts";

const EXEC_NOTICE =
  "this version of codex has no app-server, so Rookery uses `codex exec`: it cannot ask for permission, and is read-only unless the session's permissions are `all` or the agent has a mode; update it with `npm install -g @openai/codex`";
/** Its stdin is already closed. */
const IMMEDIATELY = { eofMs: 0 };
/** Records between two checks whether the log has room. */
const READY_EVERY = 256;

export class ExecProgram implements LiveProgram {
  readonly capabilities: Capabilities;
  readonly how: NativeSessionOrigin;
  readonly #start: ProgramStart;
  readonly #command: readonly string[];
  readonly #sandbox: CodexSandbox;
  readonly #conversation: ExecConversation;
  #process: AgentProcess | undefined;
  #noticeSent = false;
  #closed = false;

  /** `exec` cannot fork; a fork starts a new session with the conversation so far. Throws `provider_auth`. */
  constructor(start: ProgramStart, command: readonly string[], capabilities: Capabilities) {
    this.capabilities = capabilities;
    requireCodexLogin({ env: start.env, command });
    const { agent } = start.context;
    this.#sandbox = chooseExecSandbox(agent, start.permissions);
    this.#start = start;
    this.#command = command;
    const nativeId = start.native?.as === "resume" ? start.native.id : undefined;
    this.how = nativeId === undefined ? "new" : "resumed";
    const usage = new TurnUsage(nativeId === undefined);
    this.#conversation = { nativeId, usage, hasOurs: includesOfferedServer(start.servers) };
  }

  get nativeId(): string | undefined {
    return this.#conversation.nativeId;
  }

  /** Also true if the program exited before it had a session: the next one gets the conversation so far. */
  get hasEnded(): boolean {
    return this.#closed || (this.#noticeSent && this.nativeId === undefined);
  }

  fitsPolicy(permissions: PermissionPolicy): boolean {
    const { context, permissions: own } = this.#start;
    const isSame = chooseExecSandbox(context.agent, permissions) === chooseExecSandbox(context.agent, own);
    return isSame && allowsAll(permissions) === allowsAll(own);
  }

  async run(turn: ProgramTurn): Promise<TurnOutcome | LimitReached> {
    if (!this.#noticeSent) turn.recorder.notice("warning", "codex_exec", EXEC_NOTICE);
    this.#noticeSent = true;
    if (turn.signal.aborted || this.#closed) return { status: "cancelled" };
    const { args, env, left } = buildServerArguments(this.#start.servers, allowsAll(this.#start.permissions));
    for (const message of left) turn.recorder.notice("warning", "mcp_unusable", message);
    const { context } = this.#start;
    const command = [...this.#command, ...this.#arguments(args)];
    const all = { ...env, ...this.#start.env };
    const process = await startAgent({ command, cwd: context.cwd, env: all, marker: context.marker });
    this.#process = process;
    const stop = (): void => void process.close(IMMEDIATELY).catch(() => undefined); // a process that survives is found later by its marker
    turn.signal.addEventListener("abort", stop, { once: true });
    try {
      await turn.started(process, command);
      if (turn.signal.aborted || this.#closed) return { status: "cancelled" }; // while it started
      return await this.#readOutput(turn, process);
    } finally {
      turn.signal.removeEventListener("abort", stop);
      this.#process = undefined;
      await process.close(IMMEDIATELY);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#process?.close(IMMEDIATELY);
  }

  #arguments(servers: readonly string[]): string[] {
    const { model } = this.#start.context.agent;
    const options = [
      "--json",
      "--skip-git-repo-check",
      "-s",
      this.#sandbox,
      ...(model === undefined ? [] : ["-m", model]),
    ];
    const which = this.nativeId === undefined ? [] : ["resume", this.nativeId];
    return ["exec", ...options, ...servers, ...which, "-"]; // reads the prompt from stdin
  }

  async #readOutput(turn: ProgramTurn, process: AgentProcess): Promise<TurnOutcome | LimitReached> {
    const { transport } = process;
    const execTurn = new ExecTurn(turn, this.#conversation);
    const silent = deferred();
    let records = 0;
    const waitForLog = async (): Promise<void> => {
      transport.pause();
      await turn.ready().catch(() => undefined); // the turn reports a broken log itself
      transport.resume();
    };
    transport.start(
      readRecords({
        record: (record) => {
          execTurn.handleRecord(record);
          records += 1;
          if (records % READY_EVERY === 0) void waitForLog();
        },
        text: (text) => turn.recorder.addOutput(text),
        dropped: (what) => turn.recorder.notice("warning", "output_dropped", `codex printed ${what}`),
        ended: () => silent.resolve(),
      }),
    );
    transport.write(`${promptText(turn.prompt)}\n`);
    await transport.end();
    await silent.promise;
    const outcome = turn.signal.aborted ? ({ status: "cancelled" } as const) : execTurn.outcome;
    execTurn.end(outcome);
    return outcome ?? this.#exitError(await process.exit());
  }

  #exitError(exit: ProgramExit): never {
    if (this.nativeId !== undefined && /no rollout found|invalid session id/i.test(exit.stderr)) {
      throw new SessionLost(`codex no longer has session ${this.nativeId}`);
    }
    throw new RookeryError("agent_exited", formatCodexExit(exit));
  }
}

/** Without a mode or the policy `all`, the sandbox is read-only, because `exec` cannot ask. */
function chooseExecSandbox(agent: AgentSpec, permissions: PermissionPolicy): CodexSandbox {
  const { sandbox } = resolveCodexMode(agent, permissions);
  return agent.mode !== undefined || allowsAll(permissions) ? sandbox : "read-only";
}

function allowsAll(permissions: PermissionPolicy): boolean {
  return permissions === "all";
}
