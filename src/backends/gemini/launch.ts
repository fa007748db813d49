/** Builds the command line and environment of Gemini CLI. */
import { locate } from "../locate.ts";
import type { Start } from "../program/index.ts";
import type { Approval } from "./way.ts";

export function commandOf({ context, env }: Start, approval: Approval, args: readonly string[]): readonly string[] {
  const { agent, cwd } = context;
  const program = locate("gemini-cli", agent.name, { env, cwd, command: agent.command });
  const model = agent.model === undefined ? [] : ["-m", agent.model];
  return [...program, ...args, ...model, "--approval-mode", approval];
}

/** Rookery has asked for trust already. A relaunched program does not exit on SIGTERM (0.61). */
export function environmentOf({ env }: Start): Readonly<Record<string, string | undefined>> {
  return { ...env, GEMINI_CLI_NO_RELAUNCH: "true", GEMINI_CLI_TRUST_WORKSPACE: "true" };
}
