/** Builds the command line and environment of Gemini CLI. */
import { requireProgram } from "../locate.ts";
import type { ProgramStart } from "../program/index.ts";
import type { Approval } from "./drive-mode.ts";

export function buildGeminiCommand(
  { context, env }: ProgramStart,
  approval: Approval,
  args: readonly string[],
): readonly string[] {
  const { agent, cwd } = context;
  const program = requireProgram("gemini-cli", agent.name, { env, cwd, command: agent.command });
  const model = agent.model === undefined ? [] : ["-m", agent.model];
  return [...program, ...args, ...model, "--approval-mode", approval];
}

/** Rookery has asked for trust already. A relaunched program does not exit on SIGTERM (0.61). */
export function buildGeminiEnvironment({ env }: ProgramStart): Readonly<Record<string, string | undefined>> {
  return { ...env, GEMINI_CLI_NO_RELAUNCH: "true", GEMINI_CLI_TRUST_WORKSPACE: "true" };
}
