/** Runs the program once per turn. Passes its own session id, or the conversation so far if it keeps no session. */
import { randomUUID } from "node:crypto";
import { NO_CAPABILITIES, type TurnOutcome } from "../../domain/index.ts";
import {
  sanitizeTerminalText,
  startAgent,
  startPty,
  type AgentProcess,
  type ProgramExit,
} from "../../programs/index.ts";
import { promptText, SessionLost, type LiveProgram, type ProgramTurn, type ProgramStart } from "../program/index.ts";
import { fillPlaceholders, findPlaceholders } from "./placeholders.ts";
import type { CommandRecipe } from "./command-recipe.ts";
import { recordOutput, type PrintedOutput } from "./record-output.ts";

export function createCommandProgram({ context, env, native }: ProgramStart, recipe: CommandRecipe): LiveProgram {
  const { agent, cwd, marker } = context;
  const { command, resumeCommand, pty, task } = recipe;
  const known = native?.as === "resume" && resumeCommand !== undefined ? native.id : undefined;
  let session = known;
  let ran = false;
  let closed = false;
  let process: AgentProcess | undefined;

  const start = async (turn: ProgramTurn): Promise<AgentProcess> => {
    const words = session === undefined || resumeCommand === undefined ? command : resumeCommand;
    const names = findPlaceholders(words);
    if (session === undefined && names.has("session")) {
      session = randomUUID(); // the program accepts a session id
      turn.connected({ nativeId: session });
    }
    const prompt = promptText(turn.prompt);
    const whole = fillPlaceholders(words, { ...task, prompt, session, model: agent.model, cwd });
    const onStderr = (text: string): Promise<void> => {
      turn.recorder.record({ type: "output.text", text: sanitizeTerminalText(text), from: "stderr" });
      return turn.ready();
    };
    const started = await (pty ? startPty : startAgent)({
      command: whole,
      cwd,
      env,
      marker,
      emptyLines: true,
      onStderr,
    });
    process = started;
    try {
      await turn.started(started, whole);
    } catch (error) {
      await started.close({ eofMs: 0 });
      throw error;
    }
    if (!names.has("prompt")) started.transport.write(`${prompt}\n`);
    return started;
  };

  return {
    how: known === undefined ? "new" : "resumed",
    nativeId: known,
    capabilities: {
      ...NO_CAPABILITIES,
      resume: resumeCommand !== undefined,
      models: findPlaceholders(command).has("model"),
    },
    /** True if the program cannot resume: each turn then needs the conversation so far. */
    get hasEnded() {
      return closed || (ran && (session === undefined || resumeCommand === undefined));
    },
    async run(turn) {
      const resumed = resumeCommand === undefined ? undefined : session;
      const running = await start(turn);
      ran = true;
      const stop = (): void => void running.close({ eofMs: 0 });
      turn.signal.addEventListener("abort", stop, { once: true });
      try {
        if (turn.signal.aborted) stop();
        const reading = recordOutput(running.transport, turn, recipe, (nativeId) => {
          session = nativeId;
          turn.connected({ nativeId });
        });
        void running.transport.end(); // not awaited: the program may exit without reading it
        const output = await reading;
        const exit = await running.exit();
        if (turn.signal.aborted) return { status: "cancelled" };
        if (resumed !== undefined && exit.exitCode !== 0 && !output.hasOutput) {
          session = undefined;
          throw new SessionLost(`it could not resume session ${resumed}; it exited ${formatExit(output, exit)}`);
        }
        return toExitOutcome(output, exit, agent.name);
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

function toExitOutcome(output: PrintedOutput, exit: ProgramExit, agent: string): TurnOutcome {
  if (exit.exitCode === 0) return { status: "done", stopReason: "end_turn" };
  return { status: "failed", code: "agent_exited", message: `${agent} exited ${formatExit(output, exit)}` };
}

function formatExit({ lastLines }: PrintedOutput, { exitCode, signal, stderr }: ProgramExit): string {
  const how = signal === null ? `with code ${exitCode ?? "unknown"}` : `by ${signal}`;
  return `${how}: ${stderr.trim() || lastLines || "it printed nothing"}`;
}
