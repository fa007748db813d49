/** Starts Claude Code for one session and performs the `initialize` handshake. */
import { randomUUID } from "node:crypto";
import { ALL_CAPABILITIES, isRookeryError, RookeryError, type Capabilities } from "../../domain/index.ts";
import { startAgent, startPty, type AgentProcess } from "../../programs/index.ts";
import { deadline, DisposeStack } from "../../stdx/index.ts";
import { requireProgram } from "../locate.ts";
import type { AgentProgram, ProgramStart } from "../program/index.ts";
import { buildClaudeArguments } from "./arguments.ts";
import { isStrict } from "./control-requests.ts";
import { buildClaudeEnvironment } from "./environment.ts";
import { LiveClaude } from "./live-claude.ts";
import { writeServers } from "./mcp-config.ts";
import { explainClaudeExit } from "./exit-failure.ts";
import { createPipedInput } from "./piped-input.ts";

/** With this, Claude Code continues an interrupted turn as soon as it has started (2.1.325). */
const RESUME_VARIABLES = { CLAUDE_CODE_RESUME_INTERRUPTED_TURN: "1" };

/** Timeout of the handshake. It takes half a second, or a few seconds on a busy machine or with slow servers. */
const HANDSHAKE_MS = 30_000;

const CAPABILITIES: Capabilities = { ...ALL_CAPABILITIES, resumeTurn: true };

export interface ClaudeProgramOptions {
  readonly pty: boolean;
  readonly raw: boolean;
}

export function createClaudeProgram(options: ClaudeProgramOptions): AgentProgram {
  return {
    kind: "claude-code",
    capabilities: CAPABILITIES,
    resumesTurnAtStart: true,
    start: (start) => startClaude(start, options),
  };
}

async function startClaude(start: ProgramStart, { pty, raw }: ClaudeProgramOptions): Promise<LiveClaude> {
  const { context, native, servers } = start;
  const { agent, cwd, marker } = context;
  const { resumesTurn = false } = start;
  const env = { ...buildClaudeEnvironment(start.env), ...(resumesTurn && RESUME_VARIABLES) };
  const program = requireProgram("claude-code", agent.name, { env, cwd, command: agent.command });
  await using opening = new DisposeStack();
  const serverFile = opening.use(await writeServers(servers, cwd));
  const nativeId = native?.as === "resume" ? native.id : randomUUID();
  const command = [
    ...program,
    ...buildClaudeArguments({ program, agent, native, nativeId, writtenServers: serverFile }),
  ];
  const terminal = pty ? opening.use(await createPipedInput(command)) : undefined;
  const startProcess = terminal === undefined ? startAgent : startPty;
  const process = opening.use(await startProcess({ command: terminal?.command ?? command, cwd, env, marker }));
  const how = native === undefined ? "new" : native.as === "resume" ? "resumed" : "forked";
  const live = new LiveClaude({
    process,
    command,
    how,
    nativeId,
    isStrict: isStrict(start.permissions),
    resumesTurn,
    raw,
  });
  await performHandshake(live, process, start);
  await serverFile[Symbol.asyncDispose](); // the program has read the file, which holds secrets
  await terminal?.[Symbol.asyncDispose]();
  opening.move(); // the session owns the process from here on
  return live;
}

async function performHandshake(live: LiveClaude, process: AgentProcess, start: ProgramStart): Promise<void> {
  using late = deadline(HANDSHAKE_MS, start.signal);
  try {
    await live.initialize(late.signal);
  } catch (error) {
    start.signal.throwIfAborted();
    if (isRookeryError(error, "agent_failed")) {
      throw new RookeryError("agent_failed", `Claude Code rejected the handshake: ${error.message}`, { cause: error });
    }
    if (!late.isLate) throw explainClaudeExit({ start, output: live.lastOutput, exit: await process.exit(), error });
    throw new RookeryError(
      "agent_failed",
      `Claude Code did not answer within ${HANDSHAKE_MS / 1_000} s of its start: ${live.lastOutput || "it printed nothing"}`,
    );
  }
}
