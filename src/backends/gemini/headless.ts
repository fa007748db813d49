/** Drives Gemini CLI headless: one process per turn, which resumes the previous one's session. */
import { RookeryError, type Capabilities, type LimitReached, type TurnOutcome } from "../../domain/index.ts";
import { startAgent, type AgentProcess, type ProgramExit } from "../../programs/index.ts";
import { formatAcpLoginError, toAgentErrorOutcome } from "../acp/outcome.ts";
import { promptText, SessionLost, type LiveProgram, type ProgramStart } from "../program/index.ts";
import { buildGeminiCommand, buildGeminiEnvironment } from "./launch.ts";
import { recordHeadlessTurn, type HeadlessResult } from "./record-turn.ts";
import { chooseDriveMode, type DriveMode } from "./drive-mode.ts";

/** Exit codes of 0.61. */
const NO_LOGIN = 41;
const BAD_INPUT = 42;
const UNKNOWN_SESSION = /error resuming session|invalid session identifier|no previous sessions/i;
/** Lines that the program always prints on stderr. */
const ROUTINE_STDERR = /^(?:Warning:|YOLO mode|Ripgrep is not|\[STARTUP\]|Loaded cached).*$/gm;

/** Time the program has to exit after its result. */
const EXIT_MS = 3_000;

export function createHeadlessProgram(start: ProgramStart, way: DriveMode, capabilities: Capabilities): LiveProgram {
  const { context, native } = start;
  buildGeminiCommand(start, way.approval, []); // reports a missing program now
  let nativeId = native?.as === "resume" ? native.id : undefined;
  let process: AgentProcess | undefined;
  let closed = false;
  let ran = false;
  return {
    how: nativeId === undefined ? "new" : "resumed",
    nativeId,
    capabilities,
    fitsPolicy: (permissions) => isSameDriveMode(chooseDriveMode(start, permissions), way),
    /** Also true if the program exited before it had a session: the next one gets the conversation so far. */
    get hasEnded() {
      return closed || (ran && nativeId === undefined);
    },
    async run(turn) {
      ran = true;
      const before = nativeId;
      const resumed = before === undefined ? [] : ["--resume", before];
      const command = buildGeminiCommand(start, way.approval, [...resumed, "-o", "stream-json"]);
      const { cwd, marker } = context;
      const running = await startAgent({ command, cwd, marker, env: buildGeminiEnvironment(start) });
      process = running;
      const stop = (): void => void running.close({ eofMs: 0 });
      turn.signal.addEventListener("abort", stop, { once: true });
      try {
        await turn.started(running, command);
        if (turn.signal.aborted || closed) return { status: "cancelled" }; // while it started
        const connected = (id: string): void => {
          nativeId = id; // the next turn resumes it
          turn.connected({ nativeId: id });
        };
        const finished = (): void => void running.close({ eofMs: EXIT_MS });
        const reading = recordHeadlessTurn(running.transport, turn, { cwd, connected, finished });
        running.transport.write(`${promptText(turn.prompt)}\n`); // an argument is limited to 128 KiB
        await running.transport.end();
        const output = await reading;
        const exit = await running.close({ eofMs: EXIT_MS });
        if (turn.signal.aborted) return { status: "cancelled" };
        if (before !== undefined && isSessionLost(output, exit))
          throw new SessionLost(`it no longer has session ${before}`);
        return toHeadlessOutcome(output, exit, context.agent.name);
      } finally {
        turn.signal.removeEventListener("abort", stop);
        await running.close({ eofMs: 0 });
      }
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      await process?.close({ eofMs: 0 });
    },
  };
}

export function isSameDriveMode(one: DriveMode, other: DriveMode): boolean {
  return one.approval === other.approval && one.headless === other.headless;
}

function isSessionLost({ result }: HeadlessResult, { exitCode, stderr }: ProgramExit): boolean {
  return result === undefined && exitCode === BAD_INPUT && UNKNOWN_SESSION.test(stderr);
}

function toHeadlessOutcome({ result }: HeadlessResult, exit: ProgramExit, agent: string): TurnOutcome | LimitReached {
  if (result?.status === "success") return { status: "done", stopReason: "end_turn" };
  const stderr = exit.stderr.replaceAll(ROUTINE_STDERR, "").trim();
  if (result !== undefined) return toAgentErrorOutcome(result.error?.message ?? stderr, agent);
  if (exit.exitCode === NO_LOGIN) {
    return { status: "failed", code: "provider_auth", message: formatAcpLoginError(agent, stderr) };
  }
  const how = exit.signal === null ? `with code ${exit.exitCode ?? "unknown"}` : `by ${exit.signal}`;
  const error = new RookeryError(
    "agent_exited",
    `${agent} exited ${how} during the turn: ${stderr || "it printed nothing"}`,
  );
  return { status: "failed", code: error.code, message: error.message };
}
