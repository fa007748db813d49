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
  type How,
  type LiveProgram,
  type ProgramTurn,
  type Start,
} from "../../program/index.ts";
import { modeOf, type Sandbox } from "../mode.ts";
import { exitWords } from "../rpc.ts";
import { hasOurs, serverArguments } from "../servers.ts";
import { TurnUsage } from "../usage.ts";
import { mustBeLoggedIn } from "./login.ts";
import { ExecTurn, type ExecConversation } from "./turn.ts";

const LESS =
  "this version of codex has no app-server, so Rookery uses `codex exec`: it cannot ask for permission, and is read-only unless the session's permissions are `all` or the agent has a mode; update it with `npm install -g @openai/codex`";
/** Its stdin is already closed. */
const AT_ONCE = { eofMs: 0 };
/** Records between two checks whether the log has room. */
const READY_EVERY = 256;

export class ExecProgram implements LiveProgram {
  readonly capabilities: Capabilities;
  readonly how: How;
  readonly #start: Start;
  readonly #command: readonly string[];
  readonly #sandbox: Sandbox;
  readonly #conversation: ExecConversation;
  #process: AgentProcess | undefined;
  #told = false;
  #closed = false;

  /** `exec` cannot fork; a fork starts a new session with the conversation so far. Throws `provider_auth`. */
  constructor(start: Start, command: readonly string[], capabilities: Capabilities) {
    this.capabilities = capabilities;
    mustBeLoggedIn({ env: start.env, command });
    const { agent } = start.context;
    this.#sandbox = sandboxOf(agent, start.permissions);
    this.#start = start;
    this.#command = command;
    const nativeId = start.native?.as === "resume" ? start.native.id : undefined;
    this.how = nativeId === undefined ? "new" : "resumed";
    const usage = new TurnUsage(nativeId === undefined);
    this.#conversation = { nativeId, usage, hasOurs: hasOurs(start.servers) };
  }

  get nativeId(): string | undefined {
    return this.#conversation.nativeId;
  }

  /** True also if the program exited before it had a session: the next one gets the conversation so far. */
  get isOver(): boolean {
    return this.#closed || (this.#told && this.nativeId === undefined);
  }

  suits(permissions: PermissionPolicy): boolean {
    const { context, permissions: own } = this.#start;
    const isSame = sandboxOf(context.agent, permissions) === sandboxOf(context.agent, own);
    return isSame && allowsAll(permissions) === allowsAll(own);
  }

  async run(turn: ProgramTurn): Promise<TurnOutcome | LimitReached> {
    if (!this.#told) turn.tell.notice("warning", "codex_exec", LESS);
    this.#told = true;
    if (turn.signal.aborted || this.#closed) return { status: "cancelled" };
    const { args, env, left } = serverArguments(this.#start.servers, allowsAll(this.#start.permissions));
    for (const message of left) turn.tell.notice("warning", "mcp_unusable", message);
    const { context } = this.#start;
    const command = [...this.#command, ...this.#arguments(args)];
    const all = { ...env, ...this.#start.env };
    const process = await startAgent({ command, cwd: context.cwd, env: all, marker: context.marker });
    this.#process = process;
    const stop = (): void => void process.close(AT_ONCE).catch(() => undefined); // a process that survives is found later by its marker
    turn.signal.addEventListener("abort", stop, { once: true });
    try {
      await turn.started(process, command);
      if (turn.signal.aborted || this.#closed) return { status: "cancelled" }; // while it started
      return await this.#hear(turn, process);
    } finally {
      turn.signal.removeEventListener("abort", stop);
      this.#process = undefined;
      await process.close(AT_ONCE);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#process?.close(AT_ONCE);
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

  async #hear(turn: ProgramTurn, process: AgentProcess): Promise<TurnOutcome | LimitReached> {
    const { transport } = process;
    const hearing = new ExecTurn(turn, this.#conversation);
    const silent = deferred();
    let heard = 0;
    const breathe = async (): Promise<void> => {
      transport.pause();
      await turn.ready().catch(() => undefined); // the turn reports a broken log itself
      transport.resume();
    };
    transport.start(
      readRecords({
        record: (record) => {
          hearing.heard(record);
          heard += 1;
          if (heard % READY_EVERY === 0) void breathe();
        },
        text: (text) => turn.tell.print(text),
        dropped: (what) => turn.tell.notice("warning", "output_dropped", `codex printed ${what}`),
        ended: () => silent.resolve(),
      }),
    );
    transport.write(`${promptText(turn.prompt)}\n`);
    await transport.end();
    await silent.promise;
    const outcome = turn.signal.aborted ? ({ status: "cancelled" } as const) : hearing.outcome;
    hearing.end(outcome);
    return outcome ?? this.#ended(await process.exit());
  }

  #ended(exit: ProgramExit): never {
    if (this.nativeId !== undefined && /no rollout found|invalid session id/i.test(exit.stderr)) {
      throw new SessionLost(`codex no longer has session ${this.nativeId}`);
    }
    throw new RookeryError("agent_exited", exitWords(exit));
  }
}

/** Without a mode or the policy `all`, the sandbox is read-only, because `exec` cannot ask. */
function sandboxOf(agent: AgentSpec, permissions: PermissionPolicy): Sandbox {
  const { sandbox } = modeOf(agent, permissions);
  return agent.mode !== undefined || allowsAll(permissions) ? sandbox : "read-only";
}

function allowsAll(permissions: PermissionPolicy): boolean {
  return permissions === "all";
}
